// Which state the agent is in, and how it got there.

import { clock, el } from "./dom.js";
import { GrowingList } from "./list.js";

const MAX_STEPS = 500;
const MAX_CHIPS = 120;

export class Trace {
  #last = null;
  #chips = new Map();

  constructor(panel) {
    this.panel = panel;
    this.states = el("div", { class: "chips", testid: "states", "aria-label": "States of the agent" });
    this.steps = el("ol", { class: "timeline", testid: "timeline" });
    this.empty = el("p", { class: "empty" }, "The states that the agent passes will be listed here.");
    const box = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "States that the agent passed" }, this.empty, this.steps);
    panel.append(this.states, box);
    this.list = new GrowingList(box, this.steps, MAX_STEPS);
  }

  /** A new agent with these state names. */
  reset(names, initial) {
    this.list.clear();
    this.#last = null;
    this.empty.hidden = false;
    this.#chips = new Map(names.slice(0, MAX_CHIPS).map((name) => [name, el("span", {
      class: name === initial ? "chip initial" : "chip", "data-state": name, title: name === initial ? "Initial state" : null,
    }, name)]));
    this.states.replaceChildren(...this.#chips.values());
    if (names.length > MAX_CHIPS)
      this.states.append(el("span", { class: "hint" }, `and ${names.length - MAX_CHIPS} more`));
  }

  enter(state) {
    this.empty.hidden = true;
    const again = this.#last === state;
    this.#chips.get(this.#last)?.classList.remove("current");
    this.#chips.get(state)?.classList.add("current");
    this.#last = state;
    this.list.add(() => {
      this.steps.lastElementChild?.classList.remove("current");
      return el("li", { class: "current", testid: "trace-step" },
        el("span", { class: "mono" }, state), el("span", { class: "time" }, `${again ? "again · " : ""}${clock()}`));
    });
  }

  end() {
    this.#chips.get(this.#last)?.classList.remove("current");
    this.list.flush();
    this.steps.lastElementChild?.classList.remove("current");
  }
}
