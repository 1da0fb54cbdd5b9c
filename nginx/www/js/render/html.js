// HTML from an agent: shown in a frame that may run nothing, reach nothing and touch nothing of this page. The
// frame's origin is opaque (no allow-same-origin), scripts are off (no allow-scripts), and it inherits the page's
// content policy, so nothing loads from outside either.

import { el } from "../dom.js";

const MAX_LENGTH = 512 * 1024;

export function html(message) {
  if (typeof message !== "string")
    throw new TypeError("HTML is a text");
  if (message.length > MAX_LENGTH)
    throw new RangeError(`${message.length} characters of HTML are too many`);
  const frame = el("iframe", {
    class: "html", sandbox: "", referrerpolicy: "no-referrer", title: "HTML from the agent", testid: "html-frame",
    loading: "lazy",
  });
  frame.srcdoc = `<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">`
    + `<link rel="stylesheet" href="/frame.css"><body>${message}`;
  frame.style.height = `${height(message)}px`;
  const source = el("pre", { hidden: true }, message);
  const toggle = el("button", {
    type: "button", class: "small", onclick: () => {
      source.hidden = !source.hidden;
      frame.hidden = !source.hidden;
      toggle.textContent = source.hidden ? "Show source" : "Show page";
    },
  }, "Show source");
  return el("div", { class: "html-reply" }, frame, source, toggle);
}

/* The frame cannot be measured from here; its height is guessed and can be dragged. */
function height(message) {
  const words = message.replace(/<[^>]{0,2000}>/g, "");
  const blocks = message.match(/<(p|div|li|tr|h[1-6]|br|hr|pre|table|section|button|input|img)\b/gi)?.length ?? 0;
  return Math.min(420, Math.max(48, 30 + 24 * Math.max(blocks, Math.ceil(words.length / 70))));
}
