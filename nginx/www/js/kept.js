// What the page that comes after a reload of this tab finds: the session, how it is shown, and the diagram.

import { holdsSecret } from "./secrets.js";

const SESSION = "agentsim.session";
const DIAGRAM = "agentsim.diagram";
const MAX_KEPT = 1024 * 1024;

/** `shown`: {title, states, initial}; `diagram`: what keepable() gave for the diagram it was started from. */
export function keepSession(id, shown, diagram = null) {
  keep(SESSION, { id, shown, diagram });
}

export function forgetSession() {
  keep(SESSION, null);
}

/** {id, shown, diagram}, or null. */
export function keptSession() {
  const kept = find(SESSION);
  return typeof kept?.id === "string" && Array.isArray(kept.shown?.states) ? kept : null;
}

/** The diagram as it may be kept: an example by its file, another one as it is, {example, request, origin}; or null. */
export function keepable(request, origin, example) {
  if (example)
    return { example, origin };
  const text = JSON.stringify(request);
  return text.length <= MAX_KEPT && !holdsSecret(request) ? { request, origin } : null;
}

export function keepDiagram(diagram) {
  keep(DIAGRAM, diagram);
}

/** As keepable() gave it, or null. */
export function keptDiagram() {
  return find(DIAGRAM);
}

/* Storage may be full or switched off: then a reload starts empty. */
function keep(place, value) {
  try {
    sessionStorage.removeItem(place);
    if (value !== null)
      sessionStorage.setItem(place, JSON.stringify(value));
  } catch {
    // Then nothing is kept.
  }
}

function find(place) {
  try {
    const kept = JSON.parse(sessionStorage.getItem(place));
    return typeof kept === "object" ? kept : null;
  } catch {
    return null;
  }
}
