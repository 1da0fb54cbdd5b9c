// Markdown as DOM nodes. The text is an agent's, so nothing of it becomes HTML: tags stay visible text, links go to
// http, https and mailto only, pictures load only from data in the text itself.
//
// Blocks: headings, paragraphs, fenced code, quotes, lists, tables, rules. Inline: code, strong, emphasis, strike,
// links, addresses, line breaks. Every scan moves forward and gives up after a fixed distance, so hostile text costs
// time in proportion to its length.

import { el } from "./dom.js";

const MAX_LENGTH = 200000;
const MAX_DEPTH = 12;
/* How far a link may reach, how many closing marks are looked at, how long a table's second line may be. */
const MAX_LINK = 2000;
const MAX_CLOSERS = 50;
const MAX_TABLE_RULE = 1000;
const SAFE_LINK = /^(https?:\/\/|mailto:)/i;
const SAFE_IMAGE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*))?$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|)$/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** A <div class="markdown"> for the text. */
export function markdown(text) {
  const source = String(text);
  const box = el("div", { class: "markdown" });
  if (source.length > MAX_LENGTH)
    box.append(el("pre", {}, source));
  else
    for (const node of blocks(source.replace(/\r\n?/g, "\n").replace(/\t/g, "    ").split("\n"), 0))
      box.append(node);
  return box;
}

/** An <a> for a safe address, else the label as text. */
export function safeLink(address, ...label) {
  if (!SAFE_LINK.test(address))
    return el("span", { class: "unsafe-link", title: "This link leads to no web or mail address" }, ...label);
  return el("a", { href: address, target: "_blank", rel: "noopener noreferrer", title: address }, ...label);
}

// --- blocks -----------------------------------------------------------------------------------------------------

function blocks(lines, depth) {
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) {
      at++;
      continue;
    }
    const reader = depth < MAX_DEPTH ? readers.find((candidate) => candidate.starts(line, lines, at)) : null;
    const [node, next] = (reader ?? paragraph).read(lines, at, depth);
    nodes.push(node);
    at = next;
  }
  return nodes;
}

const fence = {
  starts: (line) => FENCE.test(line),
  read(lines, at) {
    const [, mark, language] = FENCE.exec(lines[at]);
    let end = at + 1;
    while (end < lines.length && !(lines[end].trim().startsWith(mark) && /^[`~]+$/.test(lines[end].trim())))
      end++;
    const code = el("code", { "data-language": language || null }, lines.slice(at + 1, end).join("\n"));
    return [el("pre", {}, code), end + 1];
  },
};

const heading = {
  starts: (line) => HEADING.test(line),
  read(lines, at) {
    const [, marks, title] = HEADING.exec(lines[at]);
    /* The page has an h1 and h2 of its own. */
    return [el(`h${Math.min(marks.length + 2, 6)}`, { class: `h${marks.length}` }, inline((title ?? "").trim(), 0)),
      at + 1];
  },
};

const rule = {
  starts: (line) => RULE.test(line),
  read: (lines, at) => [el("hr"), at + 1],
};

const quote = {
  starts: (line) => QUOTE.test(line),
  read(lines, at, depth) {
    const inner = [];
    while (at < lines.length && QUOTE.test(lines[at]))
      inner.push(QUOTE.exec(lines[at++])[1]);
    return [el("blockquote", {}, blocks(inner, depth + 1)), at];
  },
};

const list = {
  starts: (line) => ITEM.test(line),
  read(lines, at, depth) {
    const [, indent, mark] = ITEM.exec(lines[at]);
    const ordered = /\d/.test(mark);
    const start = ordered ? Number.parseInt(mark, 10) : null;
    const node = el(ordered ? "ol" : "ul", { start: start !== null && start !== 1 ? start : null });
    while (at < lines.length) {
      const item = ITEM.exec(lines[at]);
      if (!item || item[1].length > indent.length + 3 || /\d/.test(item[2]) !== ordered)
        break;
      const width = item[1].length + item[2].length + 1;
      const inner = [item[3] ?? ""];
      at++;
      while (at < lines.length && belongsToItem(lines, at, width, indent.length)) {
        inner.push(lines[at].slice(Math.min(width, lines[at].search(/\S|$/))));
        at++;
      }
      node.append(listItem(inner, depth + 1));
    }
    return [node, at];
  },
};

function belongsToItem(lines, at, width, indent) {
  const line = lines[at];
  if (!line.trim()) {
    const next = lines[at + 1];
    return next !== undefined && next.trim() !== "" && next.search(/\S/) >= width;
  }
  const column = line.search(/\S/);
  if (column >= width || column > indent + 1)
    return true;
  return !readers.some((reader) => reader.starts(line, lines, at)) && lines[at - 1].trim() !== "";
}

function listItem(lines, depth) {
  const task = /^\[([ xX])\] /.exec(lines[0]);
  if (task)
    lines[0] = lines[0].slice(4);
  let content = blocks(lines, depth);
  /* An item of one paragraph is written without one. */
  if (content[0]?.tagName === "P")
    content = [...content[0].childNodes, ...content.slice(1)];
  const box = task && el("input", { type: "checkbox", disabled: true, checked: task[1] !== " " });
  return el("li", { class: task ? "task" : null }, box, content);
}

const table = {
  starts: (line, lines, at) => line.includes("|") && at + 1 < lines.length && lines[at + 1].length < MAX_TABLE_RULE
    && TABLE_RULE.test(lines[at + 1]) && cells(line).length === cells(lines[at + 1]).length,
  read(lines, at) {
    const align = cells(lines[at + 1]).map((cell) =>
      cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : null);
    const row = (line, tag) => el("tr", {}, ...cells(line).slice(0, align.length).map((cell, i) =>
      el(tag, { class: align[i] }, inline(cell, 0))));
    const head = row(lines[at], "th");
    const body = el("tbody");
    at += 2;
    while (at < lines.length && lines[at].includes("|") && lines[at].trim())
      body.append(row(lines[at++], "td"));
    return [el("div", { class: "table" }, el("table", {}, el("thead", {}, head), body)), at];
  },
};

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

const paragraph = {
  read(lines, at) {
    const text = [lines[at++].trim()];
    while (at < lines.length && lines[at].trim() && !readers.some((reader) => reader.starts(lines[at], lines, at)))
      text.push(lines[at++].trim());
    return [el("p", {}, inline(text.join("\n"), 0)), at];
  },
};

const readers = [fence, heading, rule, quote, list, table];

// --- inline -----------------------------------------------------------------------------------------------------

const PAIRS = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const SPECIAL = /[\\`*_~[!<\nhm]/g;

function inline(text, depth) {
  const nodes = [];
  /* What is known of the text ahead, so that nothing is searched for twice: closers that do not come any more, and
   * where the next "](" is. */
  const ahead = { missing: new Set(), bracket: 0 };
  let plain = 0;
  let at = 0;
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    const hit = SPECIAL.exec(text);
    if (!hit)
      break;
    at = hit.index;
    const found = inlineAt(text, at, depth, ahead);
    if (!found) {
      at++;
      continue;
    }
    if (plain < at)
      nodes.push(text.slice(plain, at));
    nodes.push(found[0]);
    at = plain = found[1];
  }
  if (plain < text.length)
    nodes.push(text.slice(plain));
  return nodes;
}

/** [node, end] of the construct that begins here, or null. */
function inlineAt(text, at, depth, ahead) {
  const char = text[at];
  if (char === "\n")
    return [el("br"), at + 1];
  if (char === "\\")
    return /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? [text[at + 1], at + 2] : null;
  if (char === "`")
    return codeAt(text, at, ahead);
  if (char === "[")
    return bracketIsNear(text, at, ahead) && depth < MAX_DEPTH ? linkAt(text, at) : null;
  if (char === "!")
    return text[at + 1] === "[" && bracketIsNear(text, at, ahead) ? imageAt(text, at, ahead) : null;
  if (char === "<" || char === "h" || char === "m")
    return addressAt(text, at);
  return pairAt(text, at, depth, ahead);
}

function find(text, mark, from, ahead) {
  if (ahead.missing.has(mark))
    return -1;
  const at = text.indexOf(mark, from);
  if (at < 0)
    ahead.missing.add(mark);
  return at;
}

function bracketIsNear(text, at, ahead) {
  if (ahead.bracket < at)
    ahead.bracket = find(text, "](", at, ahead);
  return ahead.bracket >= at && ahead.bracket - at < MAX_LINK;
}

function codeAt(text, at, ahead) {
  const mark = /^`+/.exec(text.slice(at, at + 20))[0];
  const end = find(text, mark, at + mark.length, ahead);
  if (end < 0)
    return [mark, at + mark.length];
  return [el("code", {}, text.slice(at + mark.length, end).trim() || " "), end + mark.length];
}

function pairAt(text, at, depth, ahead) {
  const pair = PAIRS.find(([mark]) => text.startsWith(mark, at));
  if (!pair || depth >= MAX_DEPTH)
    return null;
  const [mark, tag] = pair;
  const from = at + mark.length;
  /* 2 * 3 and snake_case are no emphasis. */
  if (!/\S/.test(text[from] ?? " ") || (mark[0] === "_" && /\w/.test(text[at - 1] ?? " ")))
    return null;
  const end = closerOf(text, mark, from, ahead);
  return end < 0 ? null : [el(tag, {}, inline(text.slice(from, end), depth + 1)), end + mark.length];
}

function closerOf(text, mark, from, ahead) {
  let end = from;
  for (let tries = 0; tries < MAX_CLOSERS; tries++) {
    end = find(text, mark, end + 1, ahead);
    if (end < 0)
      return -1;
    if (mark.length === 1 && text[end + 1] === mark)
      end++;
    else if (!/[\s\\]/.test(text[end - 1]) && !(mark[0] === "_" && /\w/.test(text[end + mark.length] ?? " ")))
      return mark.length === 2 && text[end + 2] === mark[0] ? end + 1 : end;
  }
  return -1;
}

function linkAt(text, at) {
  const parts = bracketsAt(text, at);
  return parts && [safeLink(parts.address, inline(parts.label, MAX_DEPTH)), parts.end];
}

function imageAt(text, at, ahead) {
  const close = ahead.bracket;
  const end = find(text, ")", close, ahead);
  if (end < 0)
    return null;
  const label = text.slice(at + 2, close);
  const address = text.slice(close + 2, end).trim();
  if (SAFE_IMAGE.test(address))
    return [el("img", { src: address, alt: label }), end + 1];
  return [safeLink(address, `picture: ${label || address}`), end + 1];
}

/** [label](address "title") -> {label, address, end}, or null. */
function bracketsAt(text, at) {
  const window = text.slice(at, at + MAX_LINK);
  let level = 0;
  let close = -1;
  for (let i = 0; i < window.length && close < 0 && level <= MAX_DEPTH; i++) {
    if (window[i] === "\\")
      i++;
    else if (window[i] === "[")
      level++;
    else if (window[i] === "]" && --level === 0)
      close = i;
  }
  if (close < 0 || window[close + 1] !== "(")
    return null;
  const target = /^\(\s*<?([^\s<>]*?)>?(?:\s+"[^"\n]*")?\s*\)$/.exec(balanced(window.slice(close + 1)));
  return target && { label: window.slice(1, close), address: target[1], end: at + close + 1 + target[0].length };
}

/** The text up to the parenthesis that closes the first one. */
function balanced(text) {
  let level = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "(")
      level++;
    else if (text[i] === ")" && --level === 0)
      return text.slice(0, i + 1);
  }
  return "";
}

function addressAt(text, at) {
  const window = text.slice(at, at + MAX_LINK);
  const bracketed = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/i.exec(window);
  if (bracketed)
    return [safeLink(bracketed[1], bracketed[1]), at + bracketed[0].length];
  if (/\w/.test(text[at - 1] ?? " "))
    return null;
  const bare = /^(?:https?:\/\/|mailto:)[^\s<>"`]+/i.exec(window);
  if (!bare)
    return null;
  const address = bare[0].replace(/[.,;:!?'")\]*_~]+$/, "");
  return [safeLink(address, address), at + address.length];
}
