// How long the session may still run.

import { show } from "./dom.js";

export class Lifetime {
  #timer = null;
  #end = null;

  constructor(node, api) {
    this.node = node;
    this.api = api;
  }

  /** Counts down for this session: by its own end time, or else by what sessions may last. */
  async start(id) {
    this.stop();
    const begun = Date.now();
    const timer = setInterval(() => this.#show(), 1000);
    this.#timer = timer;
    const end = await this.#endOf(id, begun);
    if (this.#timer !== timer)
      return;
    this.#end = end;
    this.#show();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.#end = null;
    show(this.node, false);
  }

  async #endOf(id, begun) {
    const session = await this.api.session(id).catch(() => null);
    const end = momentOf(session?.expiresAt);
    if (end !== null)
      return end;
    const limits = await this.api.limits().catch(() => null);
    const seconds = limits?.sessionLifetimeSeconds;
    return typeof seconds === "number" ? begun + seconds * 1000 : null;
  }

  #show() {
    show(this.node, this.#end !== null);
    if (this.#end === null)
      return;
    const left = Math.max(0, Math.round((this.#end - Date.now()) / 1000));
    this.node.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")} left`;
    this.node.classList.toggle("soon", left < 60);
  }
}

/** Milliseconds since 1970 of an ISO text or of seconds; null for anything else. */
function momentOf(value) {
  if (typeof value === "number")
    return value * 1000;
  const moment = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(moment) ? null : moment;
}
