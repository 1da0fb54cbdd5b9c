import { el } from "../dom.js";
import { isObject, valueOf } from "../json.js";

const MAX_OPTIONS = 200;

/** Buttons; the one that is pressed is sent as a message with its text. */
export function options(message, { send }) {
  const value = valueOf(message);
  if (!isObject(value) && !Array.isArray(value))
    throw new TypeError("options are an object");
  const labels = Object.values(value).slice(0, MAX_OPTIONS).map(String);
  const box = el("div", { class: "options", role: "group", "aria-label": "Options", testid: "options" });
  for (const label of labels) {
    box.append(el("button", {
      type: "button", class: "option", onclick: (event) => {
        if (!send(label))
          return;
        box.querySelectorAll("[aria-pressed]").forEach((other) => other.removeAttribute("aria-pressed"));
        event.currentTarget.setAttribute("aria-pressed", "true");
      },
    }, label));
  }
  return box;
}
