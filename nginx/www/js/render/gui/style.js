// The looks that a design may choose. Each value is one that cannot load anything, cover the page or leave its box.

import { isObject } from "../../json.js";

const COLOR = /^(#[0-9a-f]{3,8}|[a-z]{3,30}|(rgb|hsl)a?\([\d.,%\s/]{1,60}\))$/i;
const LENGTH = /^-?\d{1,5}(\.\d{1,4})?(px|%|em|rem|vw|vh)?$/;
const LENGTHS = /^(-?\d{1,5}(\.\d{1,4})?(px|%|em|rem|vw|vh)?\s*){1,4}$/;
const WORD = /^[a-z-]{1,20}$/;
const FONT = /^[a-z0-9 ,'"-]{1,120}$/i;

const ROWS = [
  ["size", "width", "width", LENGTH], ["size", "height", "min-height", LENGTH], ["size", "padding", "padding", LENGTHS],
  ["size", "margin", "margin", LENGTHS], ["size", "font_size", "font-size", LENGTH],
  ["size", "min_width", "min-width", LENGTH], ["size", "max_width", "max-width", LENGTH],
  ["size", "line_height", "line-height", LENGTH], ["size", "font_weight", "font-weight", /^(\d{3}|bold|normal|bolder|lighter)$/],
  ["color", "background_color", "background-color", COLOR], ["color", "text_color", "color", COLOR],
  ["color", "border_color", "border-color", COLOR], ["color", "opacity", "opacity", /^(0(\.\d+)?|1(\.0+)?)$/],
  ["color", "border_radius", "border-radius", LENGTHS], ["size", "border_radius", "border-radius", LENGTHS],
  ["color", "text_align", "text-align", WORD], ["size", "text_align", "text-align", WORD],
  ["size", "font_style", "font-style", WORD], ["size", "font_family", "font-family", FONT],
  ["layout", "gap", "gap", LENGTHS], ["layout", "justify_content", "justify-content", WORD],
  ["layout", "align_items", "align-items", WORD], ["layout", "flex_direction", "flex-direction", WORD],
  ["layout", "flex_wrap", "flex-wrap", WORD],
];

const DISPLAY = { Flex: "flex", FLEX: "flex", Row: "flex", ROW: "flex", Column: "flex", COLUMN: "flex", Grid: "grid", GRID: "grid" };

/** Sets what the styling says and the list allows; everything else is passed over. */
export function applyStyle(node, styling) {
  if (!isObject(styling))
    return;
  for (const [part, field, property, allowed] of ROWS) {
    const value = isObject(styling[part]) ? styling[part][field] : undefined;
    if ((typeof value === "string" || typeof value === "number") && allowed.test(String(value).trim()))
      node.style.setProperty(property, bare(property, String(value).trim()));
  }
}

/** How a container lays out its children. */
export function applyLayout(node, layout) {
  if (!isObject(layout))
    return;
  const kind = layout.layout_type ?? layout.type;
  if (Object.hasOwn(DISPLAY, kind))
    node.style.display = DISPLAY[kind];
  if (String(kind).toUpperCase() === "COLUMN")
    node.style.flexDirection = "column";
  applyStyle(node, { layout });
}

export function safeWidth(width) {
  const text = String(width ?? "").trim();
  return LENGTH.test(text) ? bare("width", text) : "";
}

/* A number alone is pixels, but where it is a factor. */
const bare = (property, value) => (/^-?\d+(\.\d+)?$/.test(value) && !["opacity", "font-weight", "line-height"].includes(property) ? `${value}px` : value);
