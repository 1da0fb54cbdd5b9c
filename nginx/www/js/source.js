// The left pane: which diagram, which keys, and what the service says about it.

import { byId, copyText, counted, el, show, spoken } from "./dom.js";
import { diagramsOf, summarize, titleFromFile } from "./diagram.js";
import { keepable, keepDiagram, keptDiagram } from "./kept.js";
import { pythonCode } from "./python.js";
import { save } from "./render/file.js";

/**
 * Events: "chosen" {request}: another diagram lies on the table (null: none).
 */
export class Source extends EventTarget {
  #listed;

  constructor(api) {
    super();
    this.api = api;
    this.request = null;
    this.kept = null;
    this.#bindFiles();
    this.#listed = this.#loadExamples();
  }

  /** After a reload: the diagram that lay here before. */
  async restore() {
    const kept = keptDiagram();
    const request = await this.requestOf(kept);
    if (!request || this.request)
      return;
    await this.#listed;
    this.#markExample([...byId("examples").children].find((button) => button.dataset.file === kept.example) ?? null);
    this.#choose(request, String(kept.origin ?? ""), [], kept.example);
  }

  /** Of a diagram as keepable() gave it; null when it cannot be had any more. */
  async requestOf(kept) {
    try {
      const text = kept?.example ? await exampleText(kept.example) : JSON.stringify(kept.request);
      return diagramsOf(text, titleFromFile(kept.example ?? ""))[0];
    } catch {
      return null;
    }
  }

  /** Nothing of the diagram outlives the page. */
  forget() {
    this.kept = null;
    keepDiagram(null);
  }

  /** A session request with the keys that are filled in. */
  withKeys(request) {
    const credentials = {};
    for (const input of document.querySelectorAll("[data-key]"))
      if (input.value)
        credentials[input.dataset.key] = input.value;
    return Object.keys(credentials).length ? { ...request, credentials } : request;
  }

  /** Takes a JSON text; `origin` says where it came from, `example` which file of ours it is. */
  take(text, origin, fallbackTitle, example = undefined) {
    this.clearVerdict();
    try {
      const found = diagramsOf(text, fallbackTitle);
      this.#choose(found[0], origin, found, example);
    } catch (error) {
      this.#choose(null);
      this.problems([`${origin}: ${error.message}`]);
    }
  }

  clearVerdict() {
    byId("problems").replaceChildren();
    byId("verdict").replaceChildren();
  }

  /** A heading, if there is one, and lines. */
  problems(lines, heading = "") {
    byId("problems").replaceChildren(el("div", { class: "problems" },
      heading ? el("p", { class: "strong" }, heading) : null,
      el("ul", {}, lines.map((line) => el("li", { testid: "problem" }, line)))));
  }

  /** What validate answered, and what is worth knowing besides. */
  verdict(answer, judged) {
    this.clearVerdict();
    const warnings = Array.isArray(judged) ? judged.map(String) : [];
    const errors = Array.isArray(answer.errors) ? answer.errors.map(String) : [];
    if (!answer.valid)
      this.problems(errors.length ? errors : ["The diagram is not valid."], "This diagram does not work yet");
    const events = Array.isArray(answer.eventList) ? answer.eventList : [];
    const code = typeof answer.agentCode === "string" ? answer.agentCode : "";
    byId("verdict").append(
      answer.valid ? el("p", { class: "good", testid: "valid" },
        warnings.length ? `✓ The diagram is valid, with ${counted(warnings.length, "warning")}.` : "✓ The diagram is valid.") : "",
      warnings.length ? el("div", { class: "warnings" },
        el("ul", {}, warnings.map((line) => el("li", { testid: "warning" }, line)))) : "",
      events.length ? el("p", { class: "chips", testid: "events" },
        el("span", { class: "hint" }, "Events "), events.map((name) => el("span", { class: "chip" }, String(name)))) : "",
      code ? el("button", { type: "button", testid: "show-code", onclick: () => showCode(code) },
        `Generated program (${counted(code.trimEnd().split("\n").length, "line")})`) : "");
  }

  #choose(request, origin = "", all = [], example = undefined) {
    this.request = request;
    this.kept = request && keepable(request, origin, request === all[0] || !all.length ? example : undefined);
    keepDiagram(this.kept);
    const card = byId("chosen");
    show(card, request !== null);
    if (request) {
      const summary = summarize(request);
      const select = all.length > 1 ? el("select", {
        "aria-label": "Diagram in this file", testid: "which-diagram",
        onchange: () => this.#choose(all[select.selectedIndex], origin, all),
      }, all.map((item) => el("option", { selected: item === request }, spoken(item.title)))) : null;
      card.replaceChildren(
        el("p", { class: "card-title", testid: "diagram-title" }, spoken(request.title)),
        el("p", { class: "hint" }, origin), select ?? "",
        el("p", { class: "counts" }, summary.counts.map(([label, n]) => el("span", {}, el("b", {}, n), ` ${n === 1 ? label.replace(/s$/, "") : label}`))),
        el("p", { class: "hint" }, "Save as ",
          el("button", { type: "button", class: "link", testid: "save-buml", onclick: () => this.#save("buml") }, "B-UML"), " or ",
          el("button", { type: "button", class: "link", testid: "save-program", onclick: () => this.#save("program") }, "program")));
    }
    this.dispatchEvent(new CustomEvent("chosen", { detail: { request } }));
  }

  async #save(kind) {
    this.clearVerdict();
    try {
      const { blob, name } = await this.api.exported(this.request, kind);
      save(blob, name);
    } catch (error) {
      this.problems(error.problems?.length ? error.problems : [error.message]);
    }
  }

  /** A Python file is a diagram in B-UML text; the service reads it without running it. */
  async #import(file) {
    this.clearVerdict();
    try {
      const answer = await this.api.imported(file);
      const warnings = Array.isArray(answer.warnings) ? answer.warnings : [];
      this.take(JSON.stringify(answer), file.name, titleFromFile(file.name));
      if (warnings.length)
        byId("verdict").replaceChildren(el("div", { class: "warnings" },
          el("ul", {}, warnings.map((line) => el("li", { testid: "warning" }, typeof line === "string" ? line : String(line?.message ?? ""))))));
    } catch (error) {
      this.#choose(null);
      this.problems([`${file.name}: ${error.message}`]);
    }
  }

  #bindFiles() {
    const drop = byId("drop");
    const file = byId("file");
    const pasteBox = byId("paste-box");
    const read = async (chosen) => {
      if (!chosen)
        return;
      this.#markExample(null);
      if (chosen.name.toLowerCase().endsWith(".py"))
        await this.#import(chosen);
      else
        this.take(await chosen.text(), chosen.name, titleFromFile(chosen.name));
    };
    byId("open").addEventListener("click", () => file.click());
    file.addEventListener("change", async () => {
      await read(file.files[0]);
      file.value = "";
    });
    byId("paste").addEventListener("click", (event) => {
      show(pasteBox, pasteBox.hidden);
      event.currentTarget.setAttribute("aria-expanded", String(!pasteBox.hidden));
      if (!pasteBox.hidden)
        byId("paste-text").focus();
    });
    byId("paste-use").addEventListener("click", () => {
      this.#markExample(null);
      this.take(byId("paste-text").value, "Pasted text", "Pasted_Agent");
    });
    /* Anywhere on the page, so that a file that misses the box does not replace the console. */
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget)
        drop.classList.remove("over");
    });
    document.addEventListener("drop", async (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      const text = event.dataTransfer.getData("text/plain");
      if (event.dataTransfer.files.length)
        await read(event.dataTransfer.files[0]);
      else if (text)
        this.take(text, "Dropped text", "Dropped_Agent");
    });
  }

  async #loadExamples() {
    const box = byId("examples");
    let rows = [];
    try {
      const answer = await fetch("/examples/index.json", { cache: "no-cache" });
      rows = answer.ok ? await answer.json() : [];
    } catch {
      // An installation without examples is complete too.
    }
    box.append(...rows.map((row) => el("button", {
      type: "button", class: "example", testid: "example", "data-file": row.file, "aria-pressed": "false",
      onclick: (event) => this.#takeExample(row, event.currentTarget),
    }, el("span", { class: "strong" }, spoken(row.title)), row.description ? el("span", { class: "hint" }, row.description) : null)));
    show(box, rows.length > 0);
  }

  async #takeExample(row, button) {
    try {
      const text = await exampleText(row.file);
      this.#markExample(button);
      this.take(text, row.file, titleFromFile(row.file), row.file);
    } catch (error) {
      this.problems([`${row.file}: ${error.message}`]);
    }
  }

  #markExample(button) {
    for (const other of byId("examples").children)
      other.setAttribute("aria-pressed", String(other === button));
  }
}

async function exampleText(file) {
  const answer = await fetch(`/examples/${encodeURIComponent(file)}`, { cache: "no-cache" });
  if (!answer.ok)
    throw new Error(`the server answered ${answer.status}`);
  return answer.text();
}

function showCode(code) {
  const box = byId("code");
  const copy = el("button", {
    type: "button", testid: "copy-code", onclick: (event) => copyText(code, event.currentTarget),
  }, "Copy");
  const close = el("button", { type: "button", testid: "close-code", onclick: () => box.close() }, "Close");
  box.replaceChildren(
    el("div", { class: "dialog-bar" }, el("h2", { id: "code-title" }, "Generated program"), copy, close), pythonCode(code));
  box.showModal();
}
