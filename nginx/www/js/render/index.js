// What an agent says, as DOM nodes: one row per action. A renderer gets the message and a context
// {send(text), act(event), did(text), keep(url), frame} and throws when the message is not what its action promises; then the frame is shown raw.

import { el } from "../dom.js";
import { pretty } from "../json.js";
import { markdown } from "../markdown.js";
import { audio } from "./audio.js";
import { dataframe, plotly } from "./data.js";
import { file, image } from "./file.js";
import { gui } from "./gui.js";
import { html } from "./html.js";
import { location } from "./location.js";
import { options } from "./options.js";
import { rag } from "./rag.js";
import { reasoningStep, taskList } from "./reasoning.js";

const renderers = {
  agent_reply_str: text,
  agent_reply_markdown: (message) => markdown(asText(message)),
  agent_reply_html: html,
  agent_reply_file: file,
  agent_reply_image: image,
  agent_reply_dataframe: dataframe,
  agent_reply_plotly: plotly,
  agent_reply_options: options,
  agent_reply_location: location,
  agent_reply_rag: rag,
  agent_reply_reasoning_step: reasoningStep,
  agent_reply_task_list_update: taskList,
  agent_reply_audio: audio,
  agent_reply_gui: gui,
  agent_reply_gui_update: gui,
  user_message: text,
};

/* These stand on their own, without the bubble of a message. */
const UNFRAMED = new Set(["agent_reply_reasoning_step", "agent_reply_task_list_update"]);

/** {node, unframed} for a frame with an action. Never throws. */
export function render(frame, context) {
  const renderer = Object.hasOwn(renderers, frame.action) ? renderers[frame.action] : null;
  if (!renderer)
    return { node: raw(`Unknown kind of message: ${String(frame.action)}`, frame), unframed: false };
  try {
    return { node: renderer(frame.message, { ...context, frame }), unframed: UNFRAMED.has(frame.action) };
  } catch (error) {
    return { node: raw(`This message could not be shown (${error.message})`, frame), unframed: false };
  }
}

/** A frame as it came. */
export function raw(label, value) {
  return el("div", { class: "raw" }, el("p", { class: "hint" }, label), el("pre", {}, typeof value === "string" ? value.slice(0, 20000) : pretty(value, 20000)));
}

function text(message) {
  return el("div", { class: "text" }, asText(message));
}

function asText(message) {
  return typeof message === "string" ? message : pretty(message);
}
