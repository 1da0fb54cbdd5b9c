// Where the user writes: messages, files, variables.

import { byId, formatBytes, show } from "./dom.js";
import { MAX_FRAME_BYTES } from "./session.js";

/* base64 makes four characters of three bytes; the rest is the frame around it. */
const MAX_FILE = Math.floor((MAX_FRAME_BYTES - 65536) * 3 / 4);

export class Composer {
  /** `send(frame)` tells whether the frame went out; `note(text)` says something to the user; `log(text, kind)` shows what was done. */
  constructor({ send, log, note }) {
    this.send = send;
    this.log = log;
    this.note = note;
    this.message = byId("message");
    this.controls = ["message", "send", "attach", "variable", "variable-set"].map(byId);
    this.#bind();
  }

  enable(on) {
    for (const control of this.controls)
      control.disabled = !on;
    this.message.placeholder = on ? "Write to the agent" : "Start an agent, then write to it";
  }

  sendText(text) {
    if (!this.send({ action: "user_message", message: text })) {
      this.note("The message could not be sent: there is no connection, or it is larger than 16 MiB.");
      return false;
    }
    this.log(text, "");
    return true;
  }

  #bind() {
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.message.value.trim() && this.sendText(this.message.value)) {
        this.message.value = "";
        this.#grow();
      }
    });
    this.message.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        byId("composer").requestSubmit();
      }
    });
    this.message.addEventListener("input", () => this.#grow());
    byId("attach").addEventListener("click", () => byId("upload").click());
    byId("upload").addEventListener("change", async (event) => {
      const [file] = event.target.files;
      if (file)
        await this.#sendFile(file);
      event.target.value = "";
    });
    byId("variable").addEventListener("click", (event) => {
      const box = byId("variable-box");
      show(box, box.hidden);
      event.currentTarget.setAttribute("aria-expanded", String(!box.hidden));
      if (!box.hidden)
        byId("variable-name").focus();
    });
    byId("variable-set").addEventListener("click", () => this.#setVariable());
    for (const id of ["variable-name", "variable-value"])
      byId(id).addEventListener("keydown", (event) => {
        if (event.key === "Enter") {
          event.preventDefault();
          this.#setVariable();
        }
      });
  }

  #grow() {
    this.message.style.height = "auto";
    this.message.style.height = `${Math.min(this.message.scrollHeight, 180)}px`;
  }

  #setVariable() {
    const name = byId("variable-name").value.trim();
    if (!name) {
      this.note("A variable needs a name.");
      return;
    }
    const value = variableValue(byId("variable-value").value);
    if (!this.send({ action: "user_set_variable", message: { [name]: value } })) {
      this.note("The variable could not be sent.");
      return;
    }
    this.log(`${name} = ${JSON.stringify(value)}`, "variable");
    byId("variable-value").value = "";
  }

  async #sendFile(file) {
    if (file.size === 0 || file.size > MAX_FILE) {
      this.note(file.size ? `${file.name} is larger than ${formatBytes(MAX_FILE)}.` : `${file.name} is empty; agents do not take empty files.`);
      return;
    }
    const url = await new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(file);
    }).catch(() => null);
    if (url === null) {
      this.note(`${file.name} could not be read.`);
      return;
    }
    const content = {
      name: file.name, type: file.type || "application/octet-stream", base64: url.slice(url.indexOf(",") + 1),
    };
    if (this.send({ action: "user_file", message: JSON.stringify(content) }))
      this.log(`${file.name} (${content.type}, ${formatBytes(file.size)})`, "file");
    else
      this.note("The file could not be sent.");
  }
}

/** Numbers, booleans, null and JSON as what they are; everything else is text. */
function variableValue(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
