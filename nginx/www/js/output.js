// What the agent's program writes.

import { counted, el } from "./dom.js";
import { GrowingList } from "./list.js";

const MAX_LINES = 3000;
const MAX_LINE = 4000;
/* A line of the runtime's logger: date, time, name, level, text. */
const LOGGED = /^\d{4}-\d\d-\d\d (\d\d:\d\d:\d\d),\d+ - [^-\n]{1,60} - (DEBUG|INFO|WARNING|ERROR|CRITICAL) - /;

export class Output {
  #count = 0;

  constructor(panel) {
    this.lines = el("div", { class: "lines mono wrap", testid: "output-lines" });
    this.count = el("span", { class: "hint", testid: "output-count" }, "0 lines");
    const follow = el("input", {
      type: "checkbox", checked: true, testid: "follow", onchange: () => {
        this.list.follow = follow.checked;
        if (follow.checked)
          this.list.toEnd();
      },
    });
    const wrap = el("input", {
      type: "checkbox", checked: true, onchange: () => this.lines.classList.toggle("wrap", wrap.checked),
    });
    const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Output of the agent" }, this.lines);
    panel.append(
      el("div", { class: "tools" }, el("label", {}, follow, " Follow"), el("label", {}, wrap, " Wrap"), this.count,
        el("button", { type: "button", class: "small", testid: "output-clear", onclick: () => this.clear() }, "Clear")),
      box);
    this.list = new GrowingList(box, this.lines, MAX_LINES);
  }

  clear() {
    this.#count = 0;
    this.list.clear();
    this.#showCount();
  }

  line(text) {
    this.#count++;
    this.list.add(() => {
      this.#showCount();
      return lineOf(text);
    });
  }

  #showCount() {
    const kept = this.#count > MAX_LINES ? `, the last ${MAX_LINES} are kept` : "";
    this.count.textContent = `${counted(this.#count, "line")}${kept}`;
  }
}

/** The runtime's log lines in short form, everything else as it is. */
function lineOf(text) {
  const shown = text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}… (${text.length} characters)` : text || " ";
  const logged = LOGGED.exec(shown);
  if (!logged)
    return el("div", { class: "out", "data-level": /^(Traceback|\w*Error\b)/.test(text) ? "ERROR" : null }, shown);
  return el("div", { class: "out", "data-level": logged[2], title: shown.slice(0, 400) },
    el("span", { class: "when" }, logged[1]), " ", shown.slice(logged[0].length));
}
