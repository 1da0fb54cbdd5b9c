// Making elements. Nothing in the console ever parses text as HTML: what comes from an agent becomes text nodes.

/**
 * el("a", {class: "x", href: "...", testid: "y", onclick: f}, "text", node, [nodes], ...)
 * Properties that are null, undefined or false are left out; children likewise.
 */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false)
      continue;
    if (name === "testid")
      node.dataset.testid = value;
    else if (name.startsWith("on") && typeof value === "function")
      node.addEventListener(name.slice(2), value);
    else
      node.setAttribute(name, value === true ? "" : String(value));
  }
  /* One by one: a list of nodes may be longer than the arguments that a call can take. */
  for (const child of children.flat())
    if (child !== null && child !== undefined && child !== false)
      node.append(child);
  return node;
}

export const byId = (id) => document.getElementById(id);

export function show(node, visible) {
  node.hidden = !visible;
}

/** A closed block that fills itself when it is opened for the first time. */
export function unfold(label, fill, properties = {}) {
  const box = el("details", properties, el("summary", {}, label));
  box.addEventListener("toggle", () => {
    if (box.open && box.childElementCount === 1)
      box.append(fill());
  });
  return box;
}

export async function copyText(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copying is not allowed here";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

export function formatBytes(count) {
  if (count < 1024)
    return `${count} B`;
  const units = ["KiB", "MiB", "GiB"];
  let value = count / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

/** The time of day, now. */
export const clock = () => CLOCK.format(new Date());

/** "1 frame", "2 frames" */
export const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** A diagram's title as words: the name rule of agents forbids spaces. */
export const spoken = (title) => String(title).replaceAll("_", " ");
