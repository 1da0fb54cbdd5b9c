// Every frame of the socket as it was, both directions.

import { clock, counted, el, unfold } from "./dom.js";
import { parseLenient, pretty } from "./json.js";
import { GrowingList } from "./list.js";

const MAX_FRAMES = 400;
const MAX_KEPT = 65536;
const SUMMARY = 160;

export class Frames {
  #count = 0;

  constructor(panel) {
    this.rows = el("div", { class: "frames", testid: "frame-list" });
    this.count = el("span", { class: "hint", testid: "frame-count" }, "0 frames");
    this.hideOutput = el("input", {
      type: "checkbox", checked: true, onchange: () => this.rows.classList.toggle("no-output", this.hideOutput.checked),
    });
    this.rows.classList.add("no-output");
    const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Frames" }, this.rows);
    panel.append(
      el("div", { class: "tools" }, el("label", {}, this.hideOutput, " Hide output"), this.count,
        el("button", { type: "button", class: "small", onclick: () => this.clear() }, "Clear")),
      box);
    this.list = new GrowingList(box, this.rows, MAX_FRAMES);
  }

  clear() {
    this.#count = 0;
    this.list.clear();
    this.#showCount();
  }

  add(text, outgoing) {
    this.#count++;
    const when = clock();
    const kept = text.length > MAX_KEPT ? text.slice(0, MAX_KEPT) : text;
    const length = text.length;
    this.list.add(() => {
      this.#showCount();
      return row(kept, length, outgoing, when);
    });
  }

  #showCount() {
    this.count.textContent = counted(this.#count, "frame");
  }
}

function row(text, length, outgoing, when) {
  const label = el("span", { class: "frame-label" },
    el("span", { class: outgoing ? "arrow out" : "arrow in", title: outgoing ? "sent" : "received" }, outgoing ? "↑" : "↓"),
    el("span", { class: "mono" }, text.slice(0, SUMMARY)),
    el("span", { class: "time" }, when));
  const service = /^\{"type": ?"(stdout|state_change)"/.exec(text)?.[1] ?? null;
  return unfold(label, () => el("pre", {}, readable(text, length)), { class: "frame", testid: "frame", "data-type": service });
}

function readable(text, length) {
  if (length > text.length)
    return `${text}\n... ${length - text.length} more characters`;
  try {
    return pretty(parseLenient(text), MAX_KEPT);
  } catch {
    return text;
  }
}
