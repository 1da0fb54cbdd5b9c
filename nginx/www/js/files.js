// What the agent wrote into its work directory.

import { counted, el, formatBytes, unfold } from "./dom.js";
import { save } from "./render/file.js";

export class Files {
  /** `api`: an Api; `session()`: id of the session, or null. */
  constructor(panel, api, session) {
    this.api = api;
    this.session = session;
    this.refreshButton = el("button", {
      type: "button", class: "small", testid: "files-refresh", onclick: () => this.refresh(),
    }, "Refresh");
    this.archive = el("button", {
      type: "button", class: "small", testid: "files-archive", onclick: () => this.#download(null),
    }, "Download all");
    this.note = el("span", { class: "hint", role: "status" });
    this.list = el("ul", { class: "files", testid: "file-list" });
    panel.append(el("div", { class: "tools" }, this.refreshButton, this.archive, this.note),
      el("div", { class: "scroll" }, this.list));
    this.reset();
  }

  reset() {
    this.list.replaceChildren();
    this.archive.hidden = true;
    this.note.textContent = this.session() ? "" : "No session";
  }

  async refresh() {
    const id = this.session();
    if (!id)
      return this.reset();
    this.refreshButton.disabled = true;
    try {
      const { files = [], directories = [] } = await this.api.files(id);
      this.list.replaceChildren(
        ...directories.map(directoryName).sort().map((name) => el("li", { class: "directory" }, `${name}/`)),
        ...files.toSorted((a, b) => a.path.localeCompare(b.path)).map((file) => this.#row(file)));
      this.note.textContent = counted(files.length, "file");
      this.archive.hidden = files.length === 0;
    } catch (error) {
      this.note.textContent = error.message;
    } finally {
      this.refreshButton.disabled = false;
    }
  }

  #row(file) {
    const content = String(file.content ?? "");
    return el("li", { testid: "file-row" },
      unfold(el("span", {}, el("span", { class: "mono" }, file.path),
        el("span", { class: "hint" }, ` ${formatBytes(new Blob([content]).size)}`)),
      () => el("pre", {}, content || "(empty)")),
      el("button", {
        type: "button", class: "small", "aria-label": `Download ${file.path}`, onclick: () => this.#download(file),
      }, "Download"));
  }

  /** The service's own download; where there is none, a file is saved from the listing. */
  async #download(file) {
    try {
      const { blob, name } = await this.api.download(this.session(), file?.path ?? null);
      save(blob, name);
    } catch (error) {
      if (file && (error.status === 404 || error.status === 405))
        save(new Blob([file.content ?? ""]), file.path.split("/").pop());
      else if (!file && (error.status === 404 || error.status === 405)) {
        this.archive.hidden = true;
        this.note.textContent = "This service offers no archive.";
      } else
        this.note.textContent = error.message;
    }
  }
}

const directoryName = (entry) => (typeof entry === "string" ? entry : String(entry?.path ?? ""));
