// Failures of the agent's own program. The runtime goes on after an exception in a state and tells the conversation
// nothing: what went wrong is in the output alone. This reads it there and says it in words.

const LOGGED = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ - [^-\n]{1,60} - ([A-Z]+) - (.*)/;
const STATE = /\bstate ?'([^']{1,200})'/;
const EXCEPTION = /^(?:[A-Za-z_]\w*\.)*([A-Z]\w*)(?:: (.*))?$/;
/* The lines of a traceback come together; the last exception of a chain is the one that counts. */
const SETTLE_MS = 250;
const MAX_SENTENCE = 600;

/* What people can do about it, by the exception's name and text. */
const CURES = [
  [/egress policy/i, "Whoever runs this service allows it with AGENT_SIMULATOR_EGRESS."],
  [/^AuthenticationError|api[_ ]key|\b401\b/i,
    "The language model wants another key: give it under “Keys for language models” (or in the diagram), and press Restart."],
  [/^(APIConnectionError|APITimeoutError|ConnectError|ConnectTimeout|ConnectionError|ProxyError|MaxRetryError)|Connection refused/,
    "A server that the agent needs, its language model for one, cannot be reached from here: look at the address in the diagram and at AGENT_SIMULATOR_EGRESS."],
];

export class Failures {
  #state = null;
  #last = "";
  #timer = null;

  /** `tell(sentence)` is called once for each failure. */
  constructor(tell) {
    this.tell = tell;
  }

  /** A new agent; or the user spoke, and what fails again is worth telling again. */
  reset() {
    this.#settle();
    this.#last = "";
  }

  /** A line that the agent's program wrote. */
  line(text) {
    const logged = LOGGED.exec(text);
    if (logged) {
      this.#settle();
      if (logged[1] === "ERROR" && logged[2].startsWith("An error occurred while"))
        this.#state = { name: STATE.exec(logged[2])?.[1] ?? "", exception: "", text: "" };
      return;
    }
    const exception = this.#state === null || text.length > 4000 ? null : EXCEPTION.exec(text);
    if (exception) {
      this.#state.exception = exception[1];
      this.#state.text = exception[2] ?? "";
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#settle(), SETTLE_MS);
    }
  }

  #settle() {
    clearTimeout(this.#timer);
    const failure = this.#state;
    this.#state = null;
    if (!failure?.exception)
      return;
    const what = `${failure.exception}${failure.text ? `: ${failure.text}` : ""}`.slice(0, MAX_SENTENCE);
    if (what === this.#last)
      return;
    this.#last = what;
    const cure = CURES.find(([pattern]) => pattern.test(what))?.[1];
    this.tell(`The agent failed${failure.name ? ` in state ${failure.name}` : ""}: ${what}${/[.!?]$/.test(what) ? "" : "."} `
      + `${cure ? `${cure} ` : ""}Output has all of it.`);
  }
}
