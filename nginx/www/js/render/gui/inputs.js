// Inputs of a GUI: one row per kind of field. Values go to the agent as people gave them: text, numbers, true or false,
// lists where several can be chosen.

import { el } from "../../dom.js";
import { isObject } from "../../json.js";

const MAX_OPTIONS = 500;

/* field type -> type of the HTML input; what is missing here is made by a function below, or a text */
const PLAIN = {
  Text: "text", Password: "password", Search: "search", Email: "email", URL: "url", Tel: "tel", Number: "number",
  Spinner: "number", Slider: "range", Range: "range", Rating: "number", Date: "date", Time: "time",
  DateTime: "datetime-local", Color: "color", Hidden: "hidden", OTP: "text", Tags: "text", DateRange: "text",
  Checkbox: "checkbox", Toggle: "checkbox",
};
const AREAS = new Set(["TextArea", "RichText"]);
const CHOICES = new Set(["Dropdown", "MultiSelect"]);
const GROUPS = { RadioGroup: "radio", CheckboxGroup: "checkbox" };
const FILES = new Set(["File", "ImageUpload"]);

let nextId = 0;

/** A label with its input. onchange(name, value, control) follows every change a person made. */
export function inputField(item, onchange) {
  const id = `gui-input-${nextId++}`;
  const name = String(item.name ?? id);
  const kind = String(item.field_type ?? "Text");
  const control = make(item, kind, id);
  control.dataset.field = name;
  control.addEventListener("change", () => onchange(name, valueOf(control), control));
  if (control.type === "hidden")
    return el("span", { hidden: true }, control);
  const label = String(item.label ?? item.name ?? "");
  const group = control.localName === "fieldset";
  return el("div", { class: "gui-field" },
    group ? null : el("label", { for: id }, label, item.required === true ? " *" : ""),
    group ? withLegend(control, label) : control,
    item.help_text ? el("span", { class: "hint" }, String(item.help_text)) : null);
}

/** {field: value} of all inputs below a node. */
export function valuesOf(node) {
  const values = {};
  for (const control of node.querySelectorAll("[data-field]"))
    values[control.dataset.field] = valueOf(control);
  return values;
}

function make(item, kind, id) {
  const options = (Array.isArray(item.options) ? item.options.filter(isObject).slice(0, MAX_OPTIONS) : [])
    .map((option) => ({ value: String(option.value ?? option.label ?? ""), label: String(option.label ?? option.value ?? "") }));
  if (AREAS.has(kind))
    return filled(el("textarea", { ...common(item, id), rows: 3 }), item);
  if (CHOICES.has(kind))
    return choice(item, kind, id, options);
  if (Object.hasOwn(GROUPS, kind))
    return group(item, GROUPS[kind], id, options);
  if (FILES.has(kind))
    return el("input", { ...common(item, id), type: "text", placeholder: "Send files with the paper clip below", disabled: true });
  return plain(item, Object.hasOwn(PLAIN, kind) ? PLAIN[kind] : "text", id);
}

const common = (item, id) => ({
  id, placeholder: item.placeholder ?? null, required: item.required === true, disabled: item.disabled === true,
  readonly: item.readonly === true,
});

function plain(item, type, id) {
  const input = el("input", {
    ...common(item, id), type, min: number(item.min_value), max: number(item.max_value), step: number(item.step) ?? (type === "number" ? "any" : null),
  });
  if (type === "checkbox")
    input.checked = item.default_value === true || String(item.default_value).toLowerCase() === "true";
  return filled(input, item);
}

function filled(control, item) {
  if (control.type !== "checkbox" && item.default_value !== undefined && item.default_value !== null)
    control.value = String(item.default_value);
  return control;
}

function choice(item, kind, id, options) {
  const multiple = kind === "MultiSelect" || item.multiple === true;
  const select = el("select", { id, required: item.required === true, disabled: item.disabled === true, multiple },
    multiple ? null : el("option", { value: "" }, String(item.placeholder ?? "")),
    options.map(({ value, label }) => el("option", { value }, label)));
  return filled(select, item);
}

function group(item, type, id, options) {
  const chosen = String(item.default_value ?? "").split(",").map((one) => one.trim());
  return el("fieldset", { id, disabled: item.disabled === true },
    options.map(({ value, label }) => {
      const input = el("input", { type, name: id, value, required: type === "radio" && item.required === true });
      input.checked = chosen.includes(value);
      return el("label", {}, input, " ", label);
    }));
}

function withLegend(fieldset, label) {
  fieldset.prepend(el("legend", {}, label));
  return fieldset;
}

function valueOf(control) {
  if (control.localName === "fieldset") {
    const checked = [...control.querySelectorAll("input:checked")].map((input) => input.value);
    return control.querySelector("input[type=radio]") ? checked[0] ?? "" : checked;
  }
  if (control.multiple && control.localName === "select")
    return [...control.selectedOptions].map((option) => option.value);
  if (control.type === "checkbox")
    return control.checked;
  if ((control.type === "number" || control.type === "range") && control.value !== "")
    return Number(control.value);
  return control.value;
}

const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);
