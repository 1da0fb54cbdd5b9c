// Who is signed in. The service sends the browser back from GitHub with the session's id in the address; it is taken out
// of there at once and kept for this tab. Anybody can make such an address, with an id of his own, so that what is done
// here would be his: an id that this tab did not go out for counts only once a person has said so.

import { byId, show } from "./dom.js";

const PLACE = "agentsim.signin";
const LEFT = "agentsim.signin-began";

const ERRORS = {
  invalid_state: "The sign-in took too long, was used before, or began in another browser. Try it again.",
  no_access_token: "GitHub gave no access. Try it again.",
  github_api_error: "GitHub did not answer as it should. Try it again in a moment.",
  access_denied: "You did not let GitHub tell who you are.",
};

export class SignIn {
  #api;
  #name = "";
  #offered = "";

  /** `changed` is called when somebody else, or nobody, is signed in; `failed` gets a sentence. */
  constructor(api, { changed, failed }) {
    this.#api = api;
    this.changed = changed;
    this.failed = failed;
    byId("sign-in").addEventListener("click", () => keep(LEFT, "yes"));
    byId("sign-out").addEventListener("click", () => this.#leave());
    byId("sign-continue").addEventListener("click", () => this.#accept());
    const came = fromAddress();
    const began = kept(LEFT) !== "";
    keep(LEFT, "");
    if (came.session && began)
      keep(PLACE, came.session);
    else
      this.#offered = came.session;
    api.githubSession = kept(PLACE);
    this.error = came.error ? ERRORS[came.error] ?? `GitHub refused the sign-in (${came.error.slice(0, 64)}).` : "";
  }

  /** Asks the service who this is and whether it matters. */
  async begin() {
    if (this.error)
      this.failed(this.error);
    if (this.#api.githubSession) {
      const who = await this.#api.whoIs(this.#api.githubSession).catch(() => null);
      if (who?.success === false)
        this.#forget();
      else
        this.#name = nameOf(who);
    }
    if (this.#offered)
      await this.#offer();
    const refused = await this.#api.limits().then(() => false, (error) => error.status === 401);
    this.#show(refused);
  }

  /** An answer said that the sign-in is missing or over. */
  needed() {
    this.#forget();
    this.#show(true);
  }

  async #offer() {
    const name = nameOf(await this.#api.whoIs(this.#offered).catch(() => null));
    byId("sign-continue").textContent = `Continue as ${name}`;
    show(byId("sign-continue"), name !== "");
  }

  async #accept() {
    keep(PLACE, this.#offered);
    this.#api.githubSession = this.#offered;
    this.#offered = "";
    show(byId("sign-continue"), false);
    await this.begin();
  }

  async #leave() {
    try {
      await this.#api.signOut();
      this.#forget();
      this.#show(true);
      this.changed();
    } catch (error) {
      this.failed(error.message);
    }
  }

  #forget() {
    this.#api.githubSession = "";
    this.#name = "";
    keep(PLACE, "");
  }

  #show(needed) {
    show(byId("sign-in"), needed);
    show(byId("user"), this.#name !== "");
    show(byId("sign-out"), this.#name !== "");
    byId("user").textContent = this.#name;
  }
}

/** What the service put into the address, which then has it no more. */
function fromAddress() {
  const address = new URL(location.href);
  const came = { session: address.searchParams.get("github_session") ?? "", error: address.searchParams.get("error") ?? "" };
  if (address.search)
    history.replaceState(null, "", address.pathname);
  return came;
}

const nameOf = (who) => (who?.success === true && typeof who.username === "string" ? who.username : "");

function kept(place) {
  try {
    return sessionStorage.getItem(place) ?? "";
  } catch {
    return "";
  }
}

function keep(place, text) {
  try {
    if (text)
      sessionStorage.setItem(place, text);
    else
      sessionStorage.removeItem(place);
  } catch {
    // Then a reload asks again.
  }
}
