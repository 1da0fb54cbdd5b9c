// JSON as agents write it.

/**
 * Like JSON.parse, but takes the NaN and Infinity that Python's json writes (as null).
 * Throws the error of JSON.parse for everything else.
 */
export function parseLenient(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const repaired = withoutNaN(text);
    if (repaired === null)
      throw error;
    return JSON.parse(repaired);
  }
}

/** The text with bare NaN, Infinity and -Infinity replaced, or null when there are none outside strings. */
function withoutNaN(text) {
  const pieces = [];
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
      continue;
    }
    const word = char === "N" ? "NaN" : char === "I" ? "Infinity" : char === "-" ? "-Infinity" : null;
    if (word && text.startsWith(word, at)) {
      pieces.push(text.slice(from, at), "null");
      at += word.length;
      from = at;
      continue;
    }
    at++;
  }
  return pieces.length ? pieces.join("") + text.slice(from) : null;
}

function endOfString(text, start) {
  let at = start + 1;
  while (at < text.length && text[at] !== '"')
    at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** A message member that is JSON text, or already a value. */
export function valueOf(message) {
  return typeof message === "string" ? parseLenient(message) : message;
}

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Indented JSON for people, cut at `limit` characters. */
export function pretty(value, limit = 65536) {
  const text = JSON.stringify(value, null, 2) ?? String(value);
  return text.length > limit ? `${text.slice(0, limit)}\n... ${text.length - limit} more characters` : text;
}

/** base64 -> Uint8Array; throws when it is no base64. */
export function bytesOf(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  return bytes;
}
