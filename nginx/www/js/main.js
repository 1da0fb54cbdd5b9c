// The console: puts the panes together and runs a session from start to end.

import { Api } from "./api.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { summarize } from "./diagram.js";
import { byId, copyText, show, spoken } from "./dom.js";
import { Failures } from "./failures.js";
import { Files } from "./files.js";
import { Frames } from "./frames.js";
import { isObject } from "./json.js";
import { forgetSession, keepSession, keptSession } from "./kept.js";
import { Lifetime } from "./lifetime.js";
import { Output } from "./output.js";
import { Conversation } from "./session.js";
import { SignIn } from "./signin.js";
import { Source } from "./source.js";
import { makeTabs } from "./tabs.js";
import { Trace } from "./trace.js";

/* A free service answers sooner. */
const PATIENCE_MS = 3000;

const BADGES = {
  idle: "No session", starting: "Starting", connecting: "Connecting", live: "Live", reconnecting: "Reconnecting",
  lost: "Disconnected", ended: "Ended",
};

class Console {
  #conversation = null;
  #busy = false;
  #running = null;
  #kept = null;

  constructor() {
    this.api = new Api();
    this.source = new Source(this.api);
    this.signIn = new SignIn(this.api, {
      changed: () => {
        this.source.forget();
        this.#conversation?.close("You signed out; the session was stopped");
      },
      failed: (sentence) => this.source.problems([sentence]),
    });
    this.chat = new Chat(byId("log"), byId("typing"), (text) => this.composer.sendText(text),
      (event) => this.#send({ action: "user_gui_event", message: event }));
    this.composer = new Composer({
      send: (frame) => this.#send(frame),
      log: (text, kind) => this.chat.user(text, kind),
      note: (text) => this.chat.note(text, "problem"),
    });
    this.failures = new Failures((sentence) => this.chat.note(sentence, "problem"));
    this.trace = new Trace(byId("trace"));
    this.output = new Output(byId("output"));
    this.frames = new Frames(byId("frames"));
    this.files = new Files(byId("files"), this.api, () => this.#conversation?.id ?? null);
    this.lifetime = new Lifetime(byId("lifetime"), this.api);
    const shown = {
      trace: () => this.trace.list.shown(), output: () => this.output.list.shown(),
      frames: () => this.frames.list.shown(), files: () => this.files.refresh(),
    };
    makeTabs(document.querySelector(".tabs"), (id) => shown[id]());
    this.source.addEventListener("chosen", () => this.#buttons());
    byId("validate").addEventListener("click", () => this.#validate());
    byId("start").addEventListener("click", () => this.#start(this.source.request));
    byId("restart").addEventListener("click", () => this.#start(this.#running));
    byId("stop").addEventListener("click", () => this.#stop());
    byId("reconnect").addEventListener("click", () => this.#conversation?.retry());
    byId("session-id").addEventListener("click", (event) => copyText(this.#conversation?.id ?? "", event.currentTarget));
    this.#begins();
  }

  async #begins() {
    await this.signIn.begin();
    await this.source.restore();
    await this.#goOn();
  }

  /** After a reload: the session that this tab had, if it is still there. Its frames are told again from the first. */
  async #goOn() {
    const kept = keptSession();
    if (!kept)
      return;
    await this.#whileBusy(async () => {
      if (!(await this.#exists(kept.id))) {
        forgetSession();
        return;
      }
      this.#kept = kept.diagram ?? null;
      this.#running = await this.source.requestOf(this.#kept);
      this.#clearPanes(kept.shown);
      this.#begin(kept.id, true);
    });
  }

  async #validate() {
    await this.#whileBusy(async () => {
      const request = this.source.request;
      const [answer, judged] = await Promise.all([
        this.api.validate(this.source.withKeys(request)), this.api.judge(request).catch(() => ({})),
      ]);
      this.source.verdict(answer, judged.warnings);
    });
  }

  #send(frame) {
    this.failures.reset();
    return this.#conversation?.send(frame) ?? false;
  }

  /** Starts this diagram; a session that still runs is stopped first. */
  async #start(request) {
    await this.#whileBusy(async () => {
      await this.#endCurrent("Restarting");
      this.source.clearVerdict();
      const { states, initial } = summarize(request);
      const shown = { title: spoken(request.title), states, initial };
      this.#clearPanes(shown);
      this.#status("starting", "Asking for a session");
      const patience = setTimeout(() => this.chat.note("Perhaps all places are taken; waiting for one."), PATIENCE_MS);
      const { sessionId } = await this.api.start(this.source.withKeys(request)).finally(() => clearTimeout(patience));
      this.#kept = request === this.source.request ? this.source.kept : this.#kept;
      this.#running = request;
      keepSession(sessionId, shown, this.#kept);
      this.#begin(sessionId);
    });
  }

  async #stop() {
    await this.#whileBusy(() => this.#endCurrent("Stopped"));
  }

  async #endCurrent(text) {
    const conversation = this.#conversation;
    if (!conversation || conversation.state === "ended")
      return;
    try {
      await this.api.stop(conversation.id);
    } catch (error) {
      if (error.status !== 404)
        throw error;
    } finally {
      conversation.close(text);
    }
  }

  /** Runs an action with the buttons off; what it throws goes to the left pane. */
  async #whileBusy(action) {
    if (this.#busy)
      return;
    this.#busy = true;
    this.#buttons();
    try {
      await action();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#busy = false;
      this.#buttons();
    }
  }

  #failed(error) {
    if (error.status === 401)
      this.signIn.needed();
    const lines = error.problems?.length ? error.problems : error.message.split("\n").filter((line) => line.trim());
    const heading = error.problems?.length ? error.message : "";
    if (error.requestId && error.status >= 500)
      lines.push(`Request ${error.requestId}`);
    this.source.problems(lines, heading);
    if (byId("badge").dataset.state === "starting") {
      this.#status("idle", "");
      this.chat.clear("There is no session. What stopped it is said on the left.");
    }
  }

  #clearPanes({ title, states, initial }) {
    this.failures.reset();
    this.chat.clear("The agent is about to speak.");
    this.output.clear();
    this.frames.clear();
    this.trace.reset(states, initial);
    show(byId("agent-state"), false);
    byId("agent-title").textContent = title;
    document.title = `${title} · agentsim`;
  }

  #begin(id, again = false) {
    const conversation = new Conversation(id, this.api.githubSession, () => this.#exists(id), again);
    this.#conversation = conversation;
    const mine = (handler) => (event) => { if (this.#conversation === conversation) handler(event.detail); };
    conversation.addEventListener("status", mine(({ state, text }) => this.#changed(state, text)));
    conversation.addEventListener("frame", mine(({ frame, text }) => this.#take(frame, text)));
    conversation.addEventListener("sent", mine(({ text }) => this.frames.add(text, true)));
    conversation.addEventListener("raw", mine(({ text, out }) => this.frames.add(text, out === true)));
    byId("session-id").textContent = id.slice(0, 8);
    show(byId("session-id"), true);
    this.files.reset();
    this.lifetime.start(id);
    conversation.open();
  }

  /** Whether the service still knows the session; when it cannot be asked, the socket finds out. */
  async #exists(id) {
    try {
      return (await this.api.session(id)).state !== "gone";
    } catch (error) {
      return error.status === 0 || error.status >= 500;
    }
  }

  #changed(state, text) {
    this.#status(state, text);
    if (state === "ended" && this.#conversation.signInRefused)
      this.signIn.needed();
    if (state === "ended") {
      forgetSession();
      this.lifetime.stop();
      this.trace.end();
      show(byId("agent-state"), false);
    }
    if (state === "ended" || state === "lost")
      this.chat.note(text, state === "lost" ? "problem" : "end");
    else if (state === "live" && text !== "Connected")
      this.chat.note(text, "info");
    this.#buttons();
    if (state === "live" && document.activeElement?.closest("#composer, dialog, input, textarea") == null)
      byId("message").focus();
  }

  #take(frame, text) {
    this.frames.add(text, false);
    const service = isObject(frame) && frame.action === undefined ? frame.type : undefined;
    if (service === "stdout" && typeof frame.line === "string") {
      this.output.line(frame.line);
      this.failures.line(frame.line);
    } else if (service === "state_change" && typeof frame.state === "string")
      this.#entered(frame.state);
    else if (service === "replay_gap")
      this.chat.note(`${frame.lost} frames were lost while the connection was down.`, "problem");
    else if (service === "error")
      this.chat.note(String(frame.message ?? "The service reported an error."), "problem");
    else if (service !== "exit")
      this.chat.frame(isObject(frame) ? frame : null, text);
  }

  #entered(state) {
    this.trace.enter(state);
    byId("agent-state").textContent = state;
    show(byId("agent-state"), true);
  }

  #status(state, text) {
    const badge = byId("badge");
    badge.dataset.state = state;
    badge.textContent = BADGES[state];
    badge.title = text;
    const notice = byId("notice");
    const waiting = state === "starting" || state === "connecting" || state === "reconnecting";
    notice.textContent = waiting ? text : "";
    show(notice, waiting);
  }

  #buttons() {
    const state = this.#conversation?.state ?? "idle";
    const running = this.#conversation !== null && state !== "ended";
    const ready = this.source.request !== null && !this.#busy;
    byId("start").disabled = !ready;
    byId("start").textContent = running ? "Start anew" : "Start";
    byId("validate").disabled = !ready;
    byId("restart").disabled = this.#running === null || this.#busy;
    byId("stop").disabled = !running || this.#busy;
    show(byId("reconnect"), state === "lost");
    this.composer.enable(state === "live");
  }
}

new Console();
