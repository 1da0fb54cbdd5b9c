// A graphical interface of an agent: its screens as DOM nodes of ours, its events as user_gui_event frames.
// Nothing of the design runs or loads: texts become text nodes, styles pass a list, links open elsewhere.

import { el, unfold } from "../dom.js";
import { isObject, pretty, valueOf } from "../json.js";
import { element } from "./gui/elements.js";
import { valuesOf } from "./gui/inputs.js";
import { applyStyle, safeWidth } from "./gui/style.js";

const MAX_ELEMENTS = 2000;
const MAX_DEPTH = 30;

/** `context.act(event)` sends an event of the GUI that came with `context.frame.message_id`, and tells whether it went out. */
export function gui(message, context) {
  const model = valueOf(message);
  if (!isObject(model))
    throw new TypeError("a GUI is an object");
  const screens = (Array.isArray(model.modules) ? model.modules : [])
    .flatMap((module) => (Array.isArray(module?.screens) ? module.screens.filter(isObject) : []));
  const box = el("div", { class: "gui", testid: "gui" });
  const width = safeWidth(model.width);
  if (width)
    box.style.maxWidth = width;
  const view = new View(screens, box, context);
  box.append(
    view.tabs ?? "", view.stage,
    unfold("GUI as JSON", () => el("pre", {}, pretty(model)), { class: "small" }));
  return box;
}

/** One GUI on the page: which screen shows, and what its elements may do. */
class View {
  #budget = MAX_ELEMENTS;

  constructor(screens, box, context) {
    this.context = context;
    this.screens = screens.map((screen) => ({ screen, node: null }));
    this.stage = el("div", { class: "gui-stage" });
    this.tabs = screens.length > 1 ? el("div", { class: "gui-screens", role: "group", "aria-label": "Screens" }) : null;
    screens.forEach((screen, index) => this.tabs?.append(el("button", {
      type: "button", class: "small", onclick: () => this.go(index),
    }, String(screen.description || screen.name || `Screen ${index + 1}`))));
    if (screens.length)
      this.go(Math.max(0, screens.findIndex((screen) => screen.is_main_page === true)));
    else
      this.stage.append(el("p", { class: "hint" }, "This GUI has no screens."));
  }

  /** Screens are made when they are first shown, and keep what was typed into them. */
  go(index) {
    const entry = this.screens[index];
    if (!entry)
      return;
    entry.node ??= this.#screen(entry.screen);
    this.stage.replaceChildren(entry.node);
    this.tabs?.querySelectorAll("button").forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === index)));
  }

  goTo(name) {
    const index = this.screens.findIndex(({ screen }) => screen.name === name);
    this.go(index);
    return index >= 0;
  }

  #screen(screen) {
    const node = el("section", { class: "gui-screen", "aria-label": String(screen.description || screen.name || "Screen") },
      this.children(screen.view_elements, 0));
    applyStyle(node, screen.styling);
    return node;
  }

  children(list, depth) {
    if (!Array.isArray(list) || depth > MAX_DEPTH)
      return [];
    return list.filter(isObject).map((item) => this.one(item, depth));
  }

  one(item, depth) {
    if (--this.#budget < 0)
      return null;
    const node = element(item, this, depth);
    if (typeof item.component_id === "string")
      node.dataset.element = item.component_id;
    applyStyle(node, item.styling);
    return node;
  }

  /** An element's event; `more` is name and value where it has them. */
  emit(item, action, more = {}) {
    return this.context.act({
      elementId: String(item.component_id ?? item.name ?? ""), action,
      messageId: this.context.frame?.message_id ?? null, ...more,
    });
  }

  /** Inputs that will be submitted wait for that: an agent may act on every event it gets. */
  changed(item, name, value, control) {
    if (!this.#scope(control).querySelector("[data-submits]"))
      this.emit(item, "onChange", { name, value });
  }

  #scope(node) {
    return node.closest("form") ?? node.closest(".gui-screen") ?? this.stage;
  }

  /** Sends what stands in the inputs around `node`: of its form, else of its screen. */
  submit(item, node) {
    const scope = this.#scope(node);
    const missing = [...scope.querySelectorAll("input, textarea, select")].find((input) => !input.reportValidity());
    if (missing)
      return;
    const value = valuesOf(scope);
    if (this.emit(item, "onSubmit", { value }))
      this.context.did?.(Object.entries(value).map(([name, v]) => `${name}: ${Array.isArray(v) ? v.join(", ") : v}`).join("\n") || "submitted");
  }
}
