// Tables and figures.

import { counted, el, unfold } from "../dom.js";
import { isObject, pretty, valueOf } from "../json.js";

const MAX_ROWS = 200;
const MAX_COLUMNS = 40;
const MAX_CELL = 500;

/** {"column": {"0": value, "1": value}} as a table. */
export function dataframe(message) {
  const value = valueOf(message);
  if (!isObject(value))
    throw new TypeError("a data frame is an object of columns");
  const names = Object.keys(value);
  const rows = [...new Set(names.flatMap((name) => Object.keys(value[name] ?? {})))];
  return table(["", ...names.slice(0, MAX_COLUMNS)],
    rows.slice(0, MAX_ROWS).map((row) => [row, ...names.slice(0, MAX_COLUMNS).map((name) => value[name]?.[row])]),
    rows.length, names.length);
}

function table(head, rows, allRows, allColumns) {
  /* The corner above the rows' names heads nothing. */
  const line = (tag, values) => el("tr", {}, values.map((item) => el(item === "" ? "td" : tag, {
    class: typeof item === "number" ? "right" : null,
  }, cell(item))));
  const note = `${counted(allRows, "row")}, ${counted(allColumns, "column")}`
    + (allRows > rows.length || allColumns > head.length - 1 ? "; only the first are shown" : "");
  return el("div", { class: "dataframe", testid: "dataframe" },
    el("div", { class: "table" }, el("table", {}, el("thead", {}, line("th", head)),
      el("tbody", {}, rows.map((row) => line("td", row))))),
    el("p", { class: "hint" }, note));
}

function cell(value) {
  if (value === null || value === undefined)
    return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
}

/** A figure in words: its title, its traces, and their points as tables. */
export function plotly(message) {
  const figure = valueOf(message);
  if (!isObject(figure) || !Array.isArray(figure.data))
    throw new TypeError("a figure has a list of traces");
  const title = figure.layout?.title?.text ?? figure.layout?.title;
  return el("div", { class: "plotly", testid: "plotly" },
    el("p", { class: "strong" }, typeof title === "string" && title ? title : "Figure"),
    figure.data.slice(0, MAX_COLUMNS).filter(isObject).map(trace),
    unfold("Figure as JSON", () => el("pre", {}, pretty({ data: figure.data, layout: { ...figure.layout, template: undefined } }))));
}

function trace(item, index) {
  const columns = ["labels", "values", "x", "y", "z", "r", "theta"].filter((key) => Array.isArray(item[key]));
  const length = Math.max(0, ...columns.map((key) => item[key].length));
  const label = `${item.type ?? "scatter"}: ${item.name || `trace ${index + 1}`} (${counted(length, "point")})`;
  if (!columns.length)
    return el("p", {}, label);
  return unfold(label, () => table(["", ...columns],
    Array.from({ length: Math.min(length, MAX_ROWS) }, (_, row) => [row, ...columns.map((key) => item[key][row])]),
    length, columns.length));
}
