import { el } from "../dom.js";
import { isObject, valueOf } from "../json.js";
import { safeLink } from "../markdown.js";

/** Coordinates and a link; no map is loaded. */
export function location(message) {
  const value = valueOf(message);
  const { latitude, longitude } = isObject(value) ? value : {};
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude))
    throw new TypeError("a location has two numbers");
  const side = (number, positive, negative) => `${Math.abs(number)}° ${number < 0 ? negative : positive}`;
  const address = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=15/${latitude}/${longitude}`;
  return el("div", { class: "location", testid: "location" },
    el("span", { class: "pin", "aria-hidden": "true" }),
    el("span", { class: "mono" }, `${side(latitude, "N", "S")}, ${side(longitude, "E", "W")}`),
    safeLink(address, "Open in OpenStreetMap"));
}
