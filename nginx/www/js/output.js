// What the agent's program writes.

import { el } from "./dom.js";
import { GrowingList } from "./list.js";

const MAX_LINES = 3000;
const MAX_LINE = 4000;
const LEVEL = / - (DEBUG|INFO|WARNING|ERROR|CRITICAL) - /;

export class Output {
  #count = 0;

  constructor(panel) {
    this.lines = el("div", { class: "lines mono", testid: "output-lines" });
    this.count = el("span", { class: "hint", testid: "output-count" }, "0 lines");
    const follow = el("input", {
      type: "checkbox", checked: true, testid: "follow", onchange: () => {
        this.list.follow = follow.checked;
        if (follow.checked)
          this.list.toEnd();
      },
    });
    const wrap = el("input", { type: "checkbox", onchange: () => this.lines.classList.toggle("wrap", wrap.checked) });
    const box = el("div", { class: "scroll" }, this.lines);
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
    this.list.addSoon(() => {
      this.#showCount();
      const level = LEVEL.exec(text.slice(0, 200))?.[1] ?? (/^(Traceback|\w*Error\b)/.test(text) ? "ERROR" : null);
      return el("div", { class: "out", "data-level": level },
        text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}… (${text.length} characters)` : text || " ");
    });
  }

  #showCount() {
    const kept = this.#count > MAX_LINES ? `, the last ${MAX_LINES} are kept` : "";
    this.count.textContent = `${this.#count} ${this.#count === 1 ? "line" : "lines"}${kept}`;
  }
}
