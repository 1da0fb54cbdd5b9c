// One conversation: a socket that is opened again when it breaks, and goes on where it stopped.
//
// The service numbers the frames of a session; `received` is the number of the last one seen. After a break the
// first frame of the new socket says that number, and the service sends what came after it.

import { isObject, parseLenient } from "./json.js";

const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 8000;
/* A detached session is kept for a minute; with the waits above eleven tries span about that. */
const MAX_TRIES = 11;
const AUTH_TIMEOUT_MS = 90000;
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/* Close codes after which the next try would end the same way. */
const FINAL = {
  1003: "The service does not take this kind of data.",
  1007: "The service got text that is no UTF-8.",
  1008: "The service refused the connection.",
  1009: "A message was too large for the service.",
  1011: "The agent cannot be reached.",
  4400: "The session id is no valid id.",
  4401: "Signing in is needed, or the sign-in was refused or has expired.",
  4404: "This session does not exist any more, or it is not yours.",
  4409: "The conversation goes on in another window.",
  4429: "Too many attempts; wait a minute before the next one.",
};

/* The session itself is still there after these. */
const MAY_TRY_AGAIN = new Set([1009, 1011, 4409, 4429]);

const EXITS = {
  exited: "The agent's program ended",
  signaled: "The agent's program was ended by a signal",
  expired: "The session reached the end of its lifetime",
  memory: "The agent used more memory than it may",
  cpu: "The agent used more processor time than it may",
  stopped: "The session was stopped",
  output: "The agent wrote more than it may",
  "start-failed": "The agent could not be started",
};

export function exitSentence(frame) {
  const known = EXITS[frame.reason] ?? `The session ended (${frame.reason})`;
  const code = Number.isInteger(frame.code) && ["exited", "signaled"].includes(frame.reason) ? `, code ${frame.code}` : "";
  return `${known}${code}.`;
}

/**
 * Events: "frame" {frame, text} for every frame after the sign-in, "sent" {text}, "raw" {text} for the frames of the
 * sign-in itself, "status" {state, text}.
 * States: connecting, live, reconnecting, lost (a person may try again), ended (nothing more will come).
 */
export class Conversation extends EventTarget {
  #socket = null;
  #timer = null;
  #tries = 0;
  #opened = false;
  #again = false;
  #exit = null;
  #failed = false;

  /** `again`: a page before this one had the session; everything it got is asked for once more. */
  constructor(id, githubSession, sessionExists, again = false) {
    super();
    this.#again = again;
    this.#opened = again;
    this.id = id;
    this.githubSession = githubSession;
    this.sessionExists = sessionExists;
    this.received = 0;
    this.state = "connecting";
    this.signInRefused = false;
  }

  open() {
    this.#setState(this.#opened ? "reconnecting" : "connecting",
      this.#opened ? "Connection lost, trying to get it back" : "Connecting to the agent");
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/besser_api/simulation/${encodeURIComponent(this.id)}/ws`);
    this.#socket = socket;
    socket.onopen = () => this.#signIn();
    socket.onmessage = (event) => { if (socket === this.#socket) this.#take(event.data); };
    socket.onclose = (event) => { if (socket === this.#socket) this.#lost(event.code, event.reason); };
    this.#arm(() => socket.close(), AUTH_TIMEOUT_MS);
  }

  /** A person asks for another try. */
  retry() {
    this.#tries = 0;
    this.#failed = false;
    this.open();
  }

  /** False when the frame cannot be sent now or is too large. */
  send(frame) {
    const text = JSON.stringify(frame);
    if (this.state !== "live" || new Blob([text]).size > MAX_FRAME_BYTES)
      return false;
    this.#socket.send(text);
    this.#emit("sent", { text });
    return true;
  }

  /** No more tries and no more events but the last status. */
  close(text) {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close(1000);
    if (this.state !== "ended")
      this.#setState("ended", text);
  }

  #signIn() {
    const frame = { type: "auth", githubSession: this.githubSession, features: ["exit"] };
    if (this.#opened)
      frame.received = this.received;
    /* The sign-in's id stays out of the frame view. */
    this.#emit("raw", { text: JSON.stringify({ ...frame, githubSession: frame.githubSession && "..." }), out: true });
    this.#socket.send(JSON.stringify(frame));
  }

  #take(data) {
    if (typeof data !== "string") {
      this.received++;
      this.#emit("frame", { frame: null, text: `(binary data, ${data.size ?? data.byteLength} bytes)` });
      return;
    }
    let frame = null;
    try {
      frame = parseLenient(data);
    } catch {
      // Shown as it is.
    }
    const type = isObject(frame) && frame.action === undefined ? frame.type : undefined;
    if (type === "auth_ok") {
      this.#signedIn(frame);
      this.#emit("raw", { text: data });
      return;
    }
    // The service numbers what this client got: what was lost does not count.
    if (this.#opened && type !== "replay_gap")
      this.received++;
    if (type === "exit")
      this.#exit = exitSentence(frame);
    if (type === "error")
      this.#failed = true;
    this.#emit("frame", { frame, text: data });
  }

  #signedIn(frame) {
    clearTimeout(this.#timer);
    if (frame.resumed === true && Number.isInteger(frame.from))
      this.received = frame.from - 1;
    const text = !this.#opened ? "Connected" : this.#again
      ? "The page was loaded again. What you said before is not shown." : frame.resumed === true
        ? "Connected again, nothing was lost" : "Connected again; what was said in between may be missing";
    this.#again = false;
    this.#opened = true;
    this.#tries = 0;
    this.#setState("live", text);
  }

  async #lost(code, reason) {
    clearTimeout(this.#timer);
    this.#socket = null;
    if (this.#exit !== null) {
      this.#setState("ended", this.#exit);
      return;
    }
    this.signInRefused = code === 4401;
    if (FINAL[code]) {
      const sentence = reason ? `${FINAL[code]} (${reason})` : FINAL[code];
      this.#setState(MAY_TRY_AGAIN.has(code) ? "lost" : "ended", sentence);
      return;
    }
    if (this.#failed) {
      this.#setState("ended", "The session ended with an error.");
      return;
    }
    this.#setState("reconnecting", "Connection lost, trying to get it back");
    if (code === 1000 && !(await this.sessionExists())) {
      if (this.state === "reconnecting")
        this.#setState("ended", "The session has ended.");
      return;
    }
    if (this.state !== "reconnecting")
      return;
    if (++this.#tries > MAX_TRIES) {
      this.#setState("lost", `The connection was lost (${code}) and ${MAX_TRIES} tries did not bring it back.`);
      return;
    }
    this.#arm(() => this.open(), Math.min(FIRST_WAIT_MS * 2 ** (this.#tries - 1), LONGEST_WAIT_MS));
  }

  #arm(action, delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, delay);
  }

  #setState(state, text) {
    this.state = state;
    this.#emit("status", { state, text });
  }

  #emit(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }
}
