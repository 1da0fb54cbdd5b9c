// The conversation as people read it.

import { clock, el, show } from "./dom.js";
import { GrowingList } from "./list.js";
import { raw, render } from "./render/index.js";

const MAX_MESSAGES = 1000;
/* There is no frame that says an agent is done; the sign goes away by itself. */
const TYPING_MS = 12000;

export class Chat {
  #urls = [];
  #tasks = null;
  #typingTimer = null;
  #gui = null;

  /** `send(text)` sends a user's message, `act(event)` an event of a GUI; both tell whether it went out. */
  constructor(log, typing, send, act) {
    this.log = log;
    this.typing = typing;
    this.context = { send, act, did: (text) => this.user(text, "gui"), keep: (url) => { this.#urls.push(url); return url; } };
    this.list = new GrowingList(log, log, MAX_MESSAGES);
    this.clear("Choose an example or drop a diagram, then press Start.");
  }

  clear(text) {
    this.list.clear();
    this.#urls.forEach((url) => URL.revokeObjectURL(url));
    this.#urls = [];
    this.#tasks = null;
    this.#gui = null;
    this.#setTyping(false);
    this.log.append(el("p", { class: "empty" }, text));
  }

  /** What the user said, or did ("sent a file"). */
  user(text, kind = "") {
    this.#add(() => {
      this.#tasks = null;
      return el("article", { class: "message user", "data-kind": kind || null, testid: "user-message" },
        el("div", { class: "bubble" }, el("div", { class: "text" }, text)), time());
    });
    this.list.flush();
    this.list.toEnd();
    this.#setTyping(true);
  }

  /** A line of the console itself: connection, end, refusals. */
  note(text, kind = "info") {
    this.#setTyping(false);
    this.#add(() => el("p", { class: "event", "data-kind": kind, testid: "event" }, text));
  }

  /** A frame of the agent, or a frame of the service that no other pane shows. */
  frame(frame, text) {
    this.#add(() => this.#entry(frame, text));
    if (frame?.action !== "agent_reply_reasoning_step" && frame?.action !== "agent_reply_task_list_update")
      this.#setTyping(false);
  }

  #entry(frame, text) {
    if (frame === null)
      return this.#message(raw("A frame that is no JSON object", text), "invalid");
    if (frame.action === undefined)
      return this.#message(raw(`A frame of the service: ${frame.type ?? "no type"}`, frame), "unknown");
    if (frame.action === "agent_reply_gui_update" && this.#gui?.message.isConnected)
      return this.#updateGui(frame);
    const { node, unframed } = render(frame, this.context);
    if (frame.action === "agent_reply_task_list_update")
      return this.#taskList(node);
    if (unframed)
      return el("article", { class: "message aside" }, node);
    const message = this.#message(node, frame.action, frame);
    if (frame.action === "agent_reply_gui")
      this.#gui = { message, id: frame.message_id, node };
    return message;
  }

  /** An update does not say of which GUI: it is the newest one's, and takes its place and its id. */
  #updateGui(frame) {
    const { node } = render({ ...frame, message_id: this.#gui.id }, this.context);
    this.#gui.node.replaceWith(node);
    this.#gui.node = node;
    return null;
  }

  #message(node, kind, frame = null) {
    const transcript = kind === "user_message";
    return el("article", {
      class: transcript ? "message user" : "message agent", "data-kind": kind,
      testid: transcript ? "user-message" : "agent-message",
    }, el("div", { class: "bubble" }, transcript ? el("p", { class: "hint" }, "heard") : null, node),
    time(frame?.history ? " · from before" : ""));
  }

  /** The newest list takes the place of the one before, as long as the user has said nothing in between. */
  #taskList(node) {
    if (this.#tasks?.isConnected) {
      this.#tasks.replaceChildren(node);
      return null;
    }
    this.#tasks = el("article", { class: "message aside" }, node);
    return this.#tasks;
  }

  #add(make) {
    this.log.querySelector(":scope > .empty")?.remove();
    this.list.add(make);
  }

  #setTyping(on) {
    clearTimeout(this.#typingTimer);
    show(this.typing, on);
    if (on)
      this.#typingTimer = setTimeout(() => show(this.typing, false), TYPING_MS);
  }
}

const time = (suffix = "") => el("span", { class: "time", title: clock() }, clock().slice(0, 5) + suffix);
