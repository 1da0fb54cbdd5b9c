// A graphical interface as an outline: what is in it, not yet how it looks.

import { el, unfold } from "../dom.js";
import { isObject, pretty, valueOf } from "../json.js";

const MAX_DEPTH = 20;
const LABELS = ["content", "label", "title", "description", "source", "field_type"];

export function gui(message) {
  const model = valueOf(message);
  if (!isObject(model))
    throw new TypeError("a GUI is an object");
  const screens = (Array.isArray(model.modules) ? model.modules : [])
    .flatMap((module) => (Array.isArray(module?.screens) ? module.screens : []));
  return el("div", { class: "gui", testid: "gui" },
    el("p", { class: "strong" }, `GUI: ${String(model.name ?? "")}`),
    screens.length ? el("ul", { class: "tree" }, screens.map((screen) => outline(screen, 0))) : el("p", {}, "No screens."),
    unfold("GUI as JSON", () => el("pre", {}, pretty(model))));
}

function outline(item, depth) {
  if (!isObject(item) || depth > MAX_DEPTH)
    return null;
  const children = [item.view_elements, item.inputFields].filter(Array.isArray).flat();
  const label = LABELS.map((key) => item[key]).find((value) => typeof value === "string" && value);
  return el("li", {},
    el("span", { class: "tag" }, String(item.type ?? "?")), " ",
    el("span", { class: "mono" }, String(item.name ?? "")),
    label ? el("span", { class: "hint" }, ` ${label}`) : null,
    children.length ? el("ul", {}, children.map((child) => outline(child, depth + 1))) : null);
}
