// Python source with its strings, comments and keywords marked.

import { el } from "./dom.js";

const MAX_LENGTH = 150000;
const KEYWORDS = new Set(("False None True and as assert async await break class continue def del elif else except "
  + "finally for from global if import in is lambda nonlocal not or pass raise return try while with yield").split(" "));
const TOKEN = /(#[^\n]*)|([rbfuRBFU]{0,2}(?:"""|'''|"|'))|([A-Za-z_]\w*)|(\d[\w.]*)/g;

/** A <pre> with the code; plain when it is very long. */
export function pythonCode(source) {
  const code = el("code");
  const box = el("pre", { class: "code", testid: "agent-code", tabindex: 0 }, code);
  if (source.length > MAX_LENGTH) {
    code.append(source);
    return box;
  }
  let plain = 0;
  let match;
  TOKEN.lastIndex = 0;
  const mark = (kind, from, to) => {
    code.append(source.slice(plain, from), el("span", { class: kind }, source.slice(from, to)));
    plain = to;
    TOKEN.lastIndex = to;
  };
  while ((match = TOKEN.exec(source)) !== null) {
    const from = match.index;
    if (match[1])
      mark("comment", from, TOKEN.lastIndex);
    else if (match[2])
      mark("string", from, endOfString(source, TOKEN.lastIndex, match[2].replace(/^[a-zA-Z]+/, "")));
    else if (match[4])
      mark("number", from, TOKEN.lastIndex);
    else if (KEYWORDS.has(match[3]))
      mark("keyword", from, TOKEN.lastIndex);
  }
  code.append(source.slice(plain));
  return box;
}

function endOfString(source, at, quote) {
  for (; at < source.length; at++) {
    if (source[at] === "\\")
      at++;
    else if (source.startsWith(quote, at))
      return at + quote.length;
    else if (quote.length === 1 && source[at] === "\n")
      return at;
  }
  return source.length;
}
