// The REST side: one function per request of the contract.

const BASE = "/besser_api/simulation";
const AUTH = "/besser_api/github/auth";
const WAIT_SECONDS = 45;

/** An answer that is no success. `message` is a sentence; `problems` are lines for a list; `status` 0: no answer. */
export class ApiError extends Error {
  constructor(status, message, problems, requestId) {
    super(message);
    this.status = status;
    this.problems = problems;
    this.requestId = requestId;
  }
}

export class Api {
  constructor() {
    this.githubSession = ""; // id of the sign-in, or empty where there is none
  }

  /** The same diagram once more, for its warnings: the verdict of a simulation has no place for them. */
  judge(request) { return this.#json("POST", "/besser_api/validate-diagram", request); }
  validate(request) { return this.#json("POST", `${BASE}/validate`, request); }
  /** Waits for a place where all are taken. */
  start(request) { return this.#json("POST", `${BASE}/sessions`, request, { Prefer: `wait=${WAIT_SECONDS}` }); }
  stop(id) { return this.#json("DELETE", `${BASE}/sessions/${encodeURIComponent(id)}`); }
  session(id) { return this.#json("GET", `${BASE}/sessions/${encodeURIComponent(id)}`); }
  files(id) { return this.#json("GET", `${BASE}/sessions/${encodeURIComponent(id)}/files`); }
  limits() { return this.#json("GET", `${BASE}/limits`); }
  whoIs(session) { return this.#json("GET", `${AUTH}/status?session_id=${encodeURIComponent(session)}`); }
  signOut() { return this.#json("POST", `${AUTH}/logout?session_id=${encodeURIComponent(this.githubSession)}`); }

  /** B-UML text of a diagram, or its program as an archive, as {blob, name}. */
  async exported(request, kind) {
    const [address, body] = kind === "program"
      ? ["/besser_api/generate-output", { ...request, generator: "agent" }] : ["/besser_api/export-buml", request];
    const answer = await this.#fetch("POST", address, body);
    return { blob: await answer.blob(), name: kind === "program" ? `${request.title}.zip` : `${request.title}.py` };
  }

  /** The diagram of a B-UML file (Python text): {title, model, ..., warnings}. */
  imported(file) {
    const form = new FormData();
    form.append("buml_file", file, file.name);
    return this.#json("POST", "/besser_api/get-json-model", form);
  }

  /** One file, or the archive with `path` null, as {blob, name}. */
  async download(id, path) {
    const session = `${BASE}/sessions/${encodeURIComponent(id)}`;
    const address = path === null
      ? `${session}/archive` : `${session}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
    const answer = await this.#fetch("GET", address);
    return { blob: await answer.blob(), name: path === null ? `${id}.zip` : path.split("/").pop() };
  }

  async #json(method, address, body, more = {}) {
    const answer = await this.#fetch(method, address, body, more);
    try {
      return await answer.json();
    } catch {
      throw new ApiError(answer.status, "The service answered with something that is no JSON.", []);
    }
  }

  async #fetch(method, address, body, more = {}) {
    const headers = { ...more };
    const form = body instanceof FormData; // the browser writes its type, with the boundary
    if (body !== undefined && !form)
      headers["Content-Type"] = "application/json";
    if (this.githubSession)
      headers["X-GitHub-Session"] = this.githubSession;
    let answer;
    try {
      answer = await fetch(address, {
        method, headers, body: body === undefined || form ? body : JSON.stringify(body), cache: "no-store",
      });
    } catch {
      throw new ApiError(0, "The service cannot be reached.", []);
    }
    if (!answer.ok)
      throw await errorOf(answer);
    return answer;
  }
}

async function errorOf(answer) {
  let detail = null;
  try {
    detail = (await answer.json()).detail;
  } catch {
    // The sentence below says what is known.
  }
  const requestId = answer.headers.get("X-Request-ID");
  let message = `The service answered ${answer.status}.`;
  let problems = [];
  if (typeof detail === "string") {
    message = detail;
  } else if (Array.isArray(detail)) {
    message = "The request does not fit the schema:";
    problems = detail.map(schemaProblem);
  }
  const wait = answer.headers.get("Retry-After");
  if (answer.status === 429 && wait && !/try again in/i.test(message))
    message += ` Try again in ${wait} s.`;
  return new ApiError(answer.status, message, problems, requestId);
}

function schemaProblem(entry) {
  const where = Array.isArray(entry?.loc) ? entry.loc.slice(1).join(".") : "";
  return where ? `${where}: ${entry?.msg ?? entry?.type}` : String(entry?.msg ?? entry?.type ?? entry);
}
