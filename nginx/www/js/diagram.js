// From a file somebody has to the request that the service takes.

import { isObject } from "./json.js";

const MAX_BYTES = 50 * 1024 * 1024;
const REQUEST_KEYS = ["title", "model", "config", "configYaml"];

/**
 * All agent diagrams in a JSON text, as session requests. Understood are a request itself, an editor's export
 * ({title, model: {...}}), a whole project that holds such exports, and a bare model.
 * Throws an Error with a sentence when there is none.
 */
export function diagramsOf(text, fallbackTitle) {
  if (text.length > MAX_BYTES)
    throw new Error("The file is larger than 50 MiB.");
  let document;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Error(`This is no JSON: ${error.message}`);
  }
  if (!isObject(document))
    throw new Error("A diagram is a JSON object; this is something else.");
  const found = [];
  collect(document, fallbackTitle, 0, found);
  if (!found.length && isObject(document.model))
    found.push(requestFrom(document, fallbackTitle));
  if (!found.length)
    throw new Error('There is no agent diagram in it: no object whose "type" is "AgentDiagram".');
  return found;
}

function collect(value, title, depth, found) {
  if (depth > 6 || found.length >= 100)
    return;
  if (Array.isArray(value)) {
    value.forEach((item) => collect(item, title, depth + 1, found));
  } else if (isObject(value)) {
    if (isModel(value.model))
      found.push(requestFrom(value, title));
    else if (isModel(value))
      found.push({ title, model: value });
    else
      for (const child of Object.values(value))
        collect(child, title, depth + 1, found);
  }
}

function isModel(value) {
  if (!isObject(value) || !isObject(value.elements))
    return false;
  return value.type === "AgentDiagram" || (value.type === undefined && isObject(value.relationships));
}

function requestFrom(value, fallbackTitle) {
  const request = {};
  for (const key of REQUEST_KEYS)
    if (value[key] !== undefined)
      request[key] = value[key];
  if (request.title === undefined)
    request.title = typeof value.name === "string" ? value.name : fallbackTitle;
  return request;
}

/** A file name as a title that the name rule accepts. */
export function titleFromFile(name) {
  return name.replace(/\.json$/i, "").replace(/[^\p{L}\p{N}_]+/gu, "_") || "Agent";
}

/** What a person wants to see of a diagram: {states, initial, counts: [[label, n]]}. */
export function summarize(request) {
  const elements = Object.values(request.model?.elements ?? {}).filter(isObject);
  const components = Object.values(request.model?.components ?? {}).filter(isObject);
  const relations = Object.values(request.model?.relationships ?? {}).filter(isObject);
  const isState = (item) => item.type === "AgentState" || item.type === "AgentReasoningState";
  const states = elements.filter(isState);
  const first = relations.find((item) => item.type === "AgentStateTransitionInit");
  const initial = states.find((state) => state.id === first?.target?.element)?.name ?? null;
  const all = [...elements, ...components];
  const count = (type) => new Set(all.filter((item) => item.type === type).map((item) => item.name)).size;
  const counts = [
    ["states", states.length],
    ["transitions", relations.filter((item) => item.type === "AgentStateTransition").length],
    ["intents", count("AgentIntent")],
    ["language models", count("AgentLLM")],
    ["tools", count("AgentTool")],
    ["skills", count("AgentSkill")],
    ["GUIs", all.filter((item) => item.type === "AgentGUI").length],
  ];
  return { states: states.map((state) => String(state.name ?? "")), initial, counts: counts.filter(([, n]) => n > 0) };
}
