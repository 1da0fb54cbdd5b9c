// The elements of a GUI: one row per type. A builder gets the element, the view it lives in and its depth.

import { el } from "../../dom.js";
import { isObject } from "../../json.js";
import { inputField } from "./inputs.js";
import { applyLayout } from "./style.js";

const TEXT_TAGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6", "p", "span", "strong", "em", "small", "code", "mark", "label"]);
const MAX_ROWS = 200;

const builders = {
  Text: (item) => el(TEXT_TAGS.has(item.tag_name) ? item.tag_name : "p", { class: "gui-text" }, String(item.content ?? "")),
  Button: button,
  Link: link,
  Image: image,
  InputField: (item, view) => inputField(item, (name, value, control) => view.changed(item, name, value, control)),
  Form: form,
  Menu: (item, view) => el("nav", {}, el("ul", {}, rows(item.menuItems).map((entry) => el("li", {}, link(entry, view))))),
  DataList: (item) => el("ul", {}, rows(item.list_sources).map((source) => el("li", {}, String(source.name ?? "")))),
  Alert: alert,
  EmbeddedContent: (item, view) => link({ label: item.description || item.name || "Embedded content", url: item.source }, view),
  ViewContainer: container,
  Table: table,
  MetricCard: (item) => card(item.title ?? item.metric_title ?? item.name, "–"),
  Map: (item) => card(item.title ?? item.name, `${item.center_latitude ?? 0}, ${item.center_longitude ?? 0}`),
  AgentComponent: (item) => card(item.agent_title ?? item.name, String(item.agent_name ?? "")),
};
for (const kind of ["LineChart", "BarChart", "PieChart", "RadarChart", "RadialBarChart"])
  builders[kind] = chart;

/** The node of an element; a kind without a row shows its name and its children. */
export function element(item, view, depth) {
  return (Object.hasOwn(builders, item.type) ? builders[item.type] : container)(item, view, depth);
}

const rows = (list) => (Array.isArray(list) ? list.filter(isObject).slice(0, MAX_ROWS) : []);

function container(item, view, depth) {
  const node = el("div", { class: "gui-container" }, view.children(item.view_elements, depth + 1));
  if (!node.childElementCount && item.type !== "ViewContainer")
    node.append(el("span", { class: "hint" }, String(item.description || item.name || "")));
  applyLayout(node, item.layout);
  return node;
}

/* Submitting is an event of the form around the button, or of the screen; all else is a press. */
function button(item, view) {
  const submits = item.actionType === "Submit Form" || item.actionType === "SubmitForm" || item.custom_attributes?.type === "submit";
  const label = String(item.label ?? item.name ?? "");
  const node = el("button", { type: "button", class: "gui-button", testid: "gui-button", "data-submits": submits }, label);
  node.addEventListener("click", () => {
    if (item.confirmation_required === true && !confirmed(node, label, String(item.confirmation_message || "Are you sure?")))
      return;
    if (typeof item.targetScreen === "string" && view.goTo(item.targetScreen))
      return;
    if (submits)
      view.submit(formOf(node) ?? item, node);
    else if (view.emit(item, "onClick"))
      view.context.did?.(label);
  });
  return node;
}

/* The first press asks on the button itself, the second one answers; looking away takes it back. */
function confirmed(node, label, question) {
  const asking = node.textContent !== label;
  node.textContent = asking || question === label ? label : question;
  node.addEventListener("blur", () => { node.textContent = label; }, { once: true });
  return asking || question === label;
}

const FORM = Symbol("element");
const formOf = (node) => node.closest("form")?.[FORM];

function form(item, view, depth) {
  const node = el("form", { class: "gui-form" },
    item.title ? el("p", { class: "strong" }, String(item.title)) : null,
    view.children(item.inputFields, depth + 1), view.children(item.view_elements, depth + 1));
  const submit = el("button", { type: "submit", class: "gui-button", testid: "gui-submit", "data-submits": true }, String(item.submit_label || "Submit"));
  node[FORM] = item;
  node.append(el("div", { class: "gui-actions" }, submit,
    item.show_cancel === true ? el("button", { type: "reset", class: "small" }, String(item.cancel_label || "Cancel")) : null));
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    view.submit(item, node);
  });
  return node;
}

/* Only addresses that open a page or a mail, in a tab of their own that knows nothing of this one. */
function link(item, view) {
  const label = String(item.label || item.name || item.url || "");
  const url = String(item.url ?? "");
  if (/^(https?:\/\/|mailto:)/i.test(url))
    return el("a", { href: url, target: "_blank", rel: "noopener noreferrer", onclick: () => view.emit(item, "onClick") }, label);
  return el("button", {
    type: "button", class: "link", onclick: () => view.goTo(url.replace(/^[#/]/, "")) || view.emit(item, "onClick"),
  }, label);
}

/* What a page could learn by loading something, it shall not learn: only pictures that came with the design show. */
function image(item) {
  const source = String(item.source ?? "");
  if (/^data:image\/(png|jpeg|gif|webp);base64,/i.test(source) && source.length < 2_000_000)
    return el("img", { src: source, alt: String(item.description ?? ""), class: "gui-image" });
  return el("span", { class: "gui-picture" }, `Image: ${String(item.description || source || item.name || "")}`);
}

function alert(item) {
  const severity = String(item.severity ?? "Info").toLowerCase();
  const node = el("div", { class: "gui-alert", role: severity === "error" ? "alert" : "status", "data-severity": severity },
    item.title ? el("p", { class: "strong" }, String(item.title)) : null, el("p", {}, String(item.content ?? "")));
  if (item.dismissible === true)
    node.append(el("button", { type: "button", class: "small", "aria-label": "Dismiss", onclick: () => node.remove() }, "×"));
  return node;
}

function card(title, value) {
  return el("div", { class: "gui-card" }, el("p", { class: "hint" }, String(title ?? "")), el("p", { class: "strong" }, value));
}

function table(item) {
  const columns = rows(item.columns);
  return el("table", { class: "data" }, el("caption", {}, String(item.title ?? item.name ?? "")),
    el("thead", {}, el("tr", {}, columns.map((column) => el("th", {}, String(column.label ?? column.name ?? ""))))));
}

/* Agents' GUIs have no data behind their charts: their title and series are what there is to show. */
function chart(item) {
  return el("figure", { class: "gui-card" }, el("figcaption", { class: "strong" }, String(item.title ?? item.name ?? "")),
    el("ul", {}, rows(item.series).map((series) => el("li", {}, String(series.label ?? series.name ?? "")))));
}
