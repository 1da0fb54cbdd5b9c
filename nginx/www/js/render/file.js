import { el, formatBytes } from "../dom.js";
import { bytesOf, isObject, valueOf } from "../json.js";

/** A link that saves the file. Nothing of it is opened here. */
export function file(message, { keep }) {
  const value = valueOf(message);
  if (!isObject(value) || typeof value.base64 !== "string")
    throw new TypeError("a file has a name and base64 data");
  const bytes = bytesOf(value.base64);
  const url = keep(URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" })));
  const name = typeof value.name === "string" && value.name ? value.name : "file";
  return el("a", { class: "file", href: url, download: saveName(name), testid: "file-link" },
    el("span", { class: "strong" }, name),
    el("span", { class: "hint" }, `${String(value.type ?? "")} ${formatBytes(bytes.length)}`));
}

export const saveName = (name) => name.split(/[/\\]/).pop().replace(/[\u0000-\u001f<>:"|?*]/g, "_") || "file";

/** A JPEG in base64. */
export function image(message) {
  if (typeof message !== "string" || !/^[A-Za-z0-9+/=\s]+$/.test(message))
    throw new TypeError("an image is base64");
  return el("img", { class: "picture", src: `data:image/jpeg;base64,${message}`, alt: "Picture from the agent" });
}

/** Gives a person a file. */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: saveName(name) }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
