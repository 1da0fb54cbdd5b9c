// The session of this tab, for the page that comes after a reload: which it is and how it is shown. The diagram is
// not kept, it may hold keys.

const PLACE = "agentsim.session";

/** `shown`: {title, states, initial}. Storage may be full or switched off: then a reload starts empty. */
export function keepSession(id, shown) {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify({ id, shown }));
  } catch {
    forgetSession();
  }
}

export function forgetSession() {
  try {
    sessionStorage.removeItem(PLACE);
  } catch {
    // Then nothing is kept either.
  }
}

/** {id, shown}, or null. */
export function keptSession() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(PLACE));
    return typeof kept?.id === "string" && Array.isArray(kept.shown?.states) ? kept : null;
  } catch {
    return null;
  }
}
