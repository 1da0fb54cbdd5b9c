"""Signing in with GitHub, through nginx and all processes, against an imitation of GitHub."""
from __future__ import annotations

import concurrent.futures
import http.cookies
import json
import os
import pathlib
import re
import secrets
import signal
import stat
import subprocess
import time
import urllib.parse
import uuid

import pytest
from websockets.exceptions import ConnectionClosed

from tests.support.fake_github import CLIENT_ID, CLIENT_SECRET, FakeGitHub
from tests.security.test_secrets import memory
from tests.support.stack import Stack, children_of, kill, wait_until

AUTH = "/besser_api/github/auth"
SIMULATION = "/besser_api/simulation"
EDITOR = "http://editor.example/app"
SIGNIN_KEY = "k" * 20 + secrets.token_hex(20)
WORKERS = 4


def settings(github, **more):
    return {
        "AGENT_SIMULATOR_REQUIRE_AUTH": "true", "AGENT_SIMULATOR_WORKERS": str(WORKERS),
        "AGENT_SIMULATOR_GITHUB_URL": github.url, "AGENT_SIMULATOR_GITHUB_API_URL": github.url + "/api/",
        "GITHUB_CLIENT_ID": CLIENT_ID, "GITHUB_CLIENT_SECRET": CLIENT_SECRET,
        "GITHUB_REDIRECT_URI": "http://127.0.0.1:1/besser_api/github/auth/callback", "DEPLOYMENT_URL": EDITOR,
        "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "1", **more,
    }


@pytest.fixture(scope="module")
def github_server():
    with FakeGitHub() as running:
        yield running


@pytest.fixture
def github(github_server):
    github_server.reset()
    return github_server


@pytest.fixture(scope="module")
def stack(github_server):
    with Stack(**settings(github_server)) as running:
        yield running
        running.assert_clean()
        check_logs(running, github_server)


def check_logs(stack, github):
    """No secret is in any file of the service: logs, state, runtime."""
    files = [p for p in stack.dir.rglob("*") if p.is_file() and "bin" not in p.parts and "www" not in p.parts]
    assert stack.log in files and stack.state_dir / "nginx-access.log" in files
    for path in files:
        content = path.read_bytes()
        for secret in [*github.secrets, CLIENT_SECRET, SIGNIN_KEY, *Browser.secrets]:
            assert secret.encode() not in content, f"{secret[:8]}... is in {path}"


class Browser:
    secrets = []

    def __init__(self, stack):
        self.stack, self.cookies = stack, {}

    def get(self, path, **headers):
        if self.cookies:
            headers["Cookie"] = "other=1; " + "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        reply = self.stack.get(path, headers=headers)
        for line in reply.headers.get_all("Set-Cookie", []):
            for name, morsel in http.cookies.SimpleCookie(line).items():
                self.cookies[name] = morsel.value
        return reply

    def begin(self):
        """The address at GitHub, and its values."""
        reply = self.get(AUTH + "/login")
        assert reply.status == 307, reply
        location = reply.headers["Location"]
        values = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query))
        Browser.secrets.append(values["state"])
        return location, values

    def back(self, **values):
        """Where the browser ends: {github_session, username} or {error}."""
        reply = self.get(AUTH + "/callback?" + urllib.parse.urlencode(values))
        assert reply.status == 302, reply
        assert "no-store" in reply.headers["Cache-Control"]
        location = urllib.parse.urlsplit(reply.headers["Location"])
        assert f"{location.scheme}://{location.netloc}{location.path}" == EDITOR
        values = dict(urllib.parse.parse_qsl(location.query))
        Browser.secrets += [values["github_session"]] if "github_session" in values else []
        return values

    def sign_in(self, github, login="ada"):
        github.login = login
        _, values = self.begin()
        answer = self.back(code=github.new_code(), state=values["state"])
        assert answer["username"] == login, answer
        return answer["github_session"]


def status_of(stack, session):
    reply = stack.get(f"{AUTH}/status?session_id={urllib.parse.quote(session)}")
    assert reply.status == 200
    return reply.json()


def limits(stack, session=None):
    return stack.get(SIMULATION + "/limits", headers={"X-GitHub-Session": session} if session else {})


# ---- the whole flow ----

def test_a_person_signs_in_is_known_and_signs_out(stack, github):
    browser = Browser(stack)
    location, values = browser.begin()
    assert location.startswith(github.url + "/login/oauth/authorize?")
    assert values["client_id"] == CLIENT_ID and values["scope"] == "read:user"
    assert values["redirect_uri"] == "http://127.0.0.1:1/besser_api/github/auth/callback"
    assert len(values["state"]) == 43
    answer = browser.back(code=github.new_code(), state=values["state"])
    session = answer["github_session"]
    assert set(answer) == {"github_session", "username"} and answer["username"] == "ada"
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", session)
    form = github.requests[-2].form
    assert (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
    assert form["redirect_uri"] == values["redirect_uri"]

    assert status_of(stack, session) == {
        "success": True, "authenticated": True, "session_id": session, "user": "ada",
        "avatar": "https://avatars.example/ada", "username": "ada", "error": None}
    assert limits(stack, session).status == 200

    done = stack.request("POST", f"{AUTH}/logout?session_id={session}")
    assert (done.status, done.json()["success"]) == (200, True) and done.json()["message"]
    assert status_of(stack, session)["success"] is False
    assert limits(stack, session).status == 401
    assert stack.request("POST", f"{AUTH}/logout?session_id={session}").json()["success"] is True


def test_a_person_who_says_no_comes_back_with_githubs_word(stack, github):
    browser = Browser(stack)
    _, values = browser.begin()
    assert browser.back(error="access_denied", error_description="no", state=values["state"]) == {"error": "access_denied"}
    assert browser.back(code=github.new_code(), state=values["state"]) == {"error": "invalid_state"}


def test_the_cookie_is_for_the_sign_in_only(stack):
    header = Browser(stack).get(AUTH + "/login").headers["Set-Cookie"]
    assert header.startswith("agentsim_signin=")
    assert {"Path=/", "Max-Age=600", "HttpOnly", "SameSite=Lax"} <= set(header.split("; "))


# ---- the state ----

def test_a_state_is_good_once(stack, github):
    browser = Browser(stack)
    _, values = browser.begin()
    assert "github_session" in browser.back(code=github.new_code(), state=values["state"])
    assert browser.back(code=github.new_code(), state=values["state"]) == {"error": "invalid_state"}


def test_a_state_of_another_browser_is_refused_and_used_up(stack, github):
    victim, attacker = Browser(stack), Browser(stack)
    victim.begin()
    _, values = attacker.begin()
    code = github.new_code()
    assert victim.back(code=code, state=values["state"]) == {"error": "invalid_state"}
    assert attacker.back(code=code, state=values["state"]) == {"error": "invalid_state"}
    assert Browser(stack).back(code=code, state=values["state"]) == {"error": "invalid_state"}


def test_a_client_without_cookies_is_judged_by_its_state(stack, github):
    """As the reference does; what such an answer leads to is asked about in the console."""
    _, values = Browser(stack).begin()
    plain = Browser(stack)
    answer = plain.back(code=github.new_code(), state=values["state"])
    assert answer["username"] == "ada" and answer["github_session"]
    assert plain.back(code=github.new_code(), state=values["state"]) == {"error": "invalid_state"}


@pytest.mark.parametrize("state", ["", "x", "A" * 43, "A" * 42 + "\n", "\0" * 43, "A" * 4000])
def test_a_state_that_nobody_made_is_refused(stack, github, state):
    browser = Browser(stack)
    browser.begin()
    assert browser.back(code=github.new_code(), state=state) == {"error": "invalid_state"}
    assert not [r for r in github.requests if "code" in r.form], "GitHub is not asked"


def test_two_tabs_of_one_browser_do_not_disturb_each_other(stack, github):
    browser = Browser(stack)
    _, first = browser.begin()
    _, second = browser.begin()
    assert first["state"] != second["state"]
    assert "github_session" in browser.back(code=github.new_code(), state=first["state"])
    assert "github_session" in browser.back(code=github.new_code(), state=second["state"])


def test_what_is_missing_is_named(stack):
    reply = stack.get(AUTH + "/callback")
    assert reply.status == 422
    assert [d["loc"] for d in reply.json()["detail"]] == [["query", "code"], ["query", "state"]]
    assert stack.get(AUTH + "/callback?code=a").json()["detail"][0]["loc"] == ["query", "state"]
    assert stack.get(AUTH + "/status").json()["detail"][0]["loc"] == ["query", "session_id"]
    assert stack.request("POST", AUTH + "/logout").status == 422
    assert stack.get(AUTH + "/logout?session_id=x").status == 405
    assert stack.get(AUTH + "/nothing").status == 404


# ---- GitHub as it should not be ----

BAD_TOKENS = {
    "nothing": (FakeGitHub.says({}), "no_access_token"),
    "empty": (FakeGitHub.says({"access_token": ""}), "no_access_token"),
    "number": (FakeGitHub.says({"access_token": 7}), "no_access_token"),
    "line break": (FakeGitHub.says({"access_token": "a\r\nX-Evil: 1"}), "no_access_token"),
    "very long": (FakeGitHub.says({"access_token": "a" * 5000}), "no_access_token"),
    "refused": (FakeGitHub.says({"error": "bad_verification_code"}), "bad_verification_code"),
    "refused, and a token": (FakeGitHub.says({"error": "unverified_user_email", "access_token": "x"}), "unverified_user_email"),
    "refused with markup": (FakeGitHub.says({"error": "<script>&x=1"}), "github_api_error"),
    "refused with a number": (FakeGitHub.says({"error": 5}), "github_api_error"),
    "status 500": (FakeGitHub.says({"access_token": "x"}, 500), "github_api_error"),
    "status 404": (FakeGitHub.says({"access_token": "x"}, 404), "github_api_error"),
    "list": (FakeGitHub.says([]), "github_api_error"),
    "page": (FakeGitHub.html, "github_api_error"),
    "empty body": (FakeGitHub.says(b""), "github_api_error"),
    "deeply nested": (FakeGitHub.says(b"[" * 100000), "github_api_error"),
    "invalid text": (FakeGitHub.says(b'{"access_token": "\xff\xfe"}'), "github_api_error"),
    "oversized": (FakeGitHub.oversized, "github_api_error"),
    "endless": (FakeGitHub.endless, "github_api_error"),
    "cut": (FakeGitHub.cut, "github_api_error"),
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_a_bad_answer_for_the_token_is_told_as_an_error(stack, github, name):
    github.token, word = BAD_TOKENS[name]
    browser = Browser(stack)
    _, values = browser.begin()
    assert browser.back(code=github.new_code(), state=values["state"]) == {"error": word}
    assert github.requests[-1].path == "/login/oauth/access_token", "the user is not asked for"


BAD_USERS = {
    "nothing": FakeGitHub.says({}), "no name": FakeGitHub.says({"login": None}), "empty name": FakeGitHub.says({"login": ""}),
    "name with markup": FakeGitHub.says({"login": "<b>ada"}), "name with line break": FakeGitHub.says({"login": "a\nb"}),
    "long name": FakeGitHub.says({"login": "a" * 101}), "list": FakeGitHub.says([1]), "page": FakeGitHub.html,
    "status 401": FakeGitHub.says({"login": "ada"}, 401), "status 503": FakeGitHub.says({"login": "ada"}, 503),
    "oversized": FakeGitHub.oversized, "cut": FakeGitHub.cut,
}


@pytest.mark.parametrize("name", BAD_USERS)
def test_a_bad_answer_for_the_user_is_told_as_an_error(stack, github, name):
    github.user = BAD_USERS[name]
    browser = Browser(stack)
    _, values = browser.begin()
    assert browser.back(code=github.new_code(), state=values["state"]) == {"error": "github_api_error"}


def test_no_redirect_is_followed(stack, github):
    for which in ("token", "user"):
        github.reset()
        setattr(github, which, github.redirecting)
        browser = Browser(stack)
        _, values = browser.begin()
        assert browser.back(code=github.new_code(), state=values["state"]) == {"error": "github_api_error"}
        assert len([r for r in github.requests if r.path == "/api/user"]) == (1 if which == "user" else 0)


def test_a_picture_that_is_no_address_is_left_out(stack, github):
    github.user = FakeGitHub.says({"login": "ada", "avatar_url": "javascript:alert(1)"})
    browser = Browser(stack)
    _, values = browser.begin()
    session = browser.back(code=github.new_code(), state=values["state"])["github_session"]
    assert status_of(stack, session)["avatar"] is None


def test_a_long_code_is_not_passed_on(stack, github):
    browser = Browser(stack)
    _, values = browser.begin()
    assert browser.back(code="c" * 5000, state=values["state"]) == {"error": "bad_verification_code"}
    assert not github.requests


def test_a_slow_github_holds_half_of_the_workers_for_some_seconds_at_most(stack, github):
    github.token = github.held
    browsers = [Browser(stack) for _ in range(WORKERS)]
    states = [b.begin()[1]["state"] for b in browsers]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        began = time.monotonic()
        slow = [pool.submit(b.back, code=github.new_code(), state=s) for b, s in list(zip(browsers, states))[: WORKERS // 2]]
        wait_until(lambda: github.waiting == WORKERS // 2, 10, "GitHub holds them")
        for browser, state in list(zip(browsers, states))[WORKERS // 2:]:
            assert browser.back(code=github.new_code(), state=state) == {"error": "github_api_error"}
        for _ in range(20):
            assert stack.get("/health", timeout=30).status == 200
        assert [f.result(90) for f in slow] == [{"error": "github_api_error"}] * len(slow)
        assert time.monotonic() - began < 60
    github.let_go.set()
    wait_until(lambda: not github.waiting, 10, "nothing is held any more")
    github.token = github.good_token
    # The state of who was turned away is still good.
    assert "github_session" in browsers[-1].back(code=github.new_code(), state=states[-1])


# ---- access ----

NOBODYS = "ffc21b65-00cf-43ec-8f04-8e22372138a3"  # the same in every process that collects these tests
ROUTES = [
    ("GET", "/limits"), ("GET", f"/sessions/{NOBODYS}"), ("DELETE", f"/sessions/{NOBODYS}"),
    ("GET", f"/sessions/{NOBODYS}/files"), ("GET", f"/sessions/{NOBODYS}/files/a.txt"),
    ("GET", f"/sessions/{NOBODYS}/archive"), ("GET", f"/sessions/{NOBODYS}/transcript"), ("GET", "/sessions/no-uuid/files"),
    ("POST", "/validate"), ("POST", "/sessions"),
]


@pytest.mark.parametrize("method, path", ROUTES)
@pytest.mark.parametrize("session", ["", "x9", "A" * 43, "a b", "' or 1=1", "é"])
def test_every_route_needs_a_sign_in(stack, diagram, method, path, session):
    body = diagram("hello_minimal") if method == "POST" else None
    reply = stack.request(method, SIMULATION + path, body, headers={"X-GitHub-Session": session.encode().decode("latin-1")} if session else {})
    assert reply.status == 401, reply
    assert set(reply.json()) == {"detail"} and (not session or session not in reply.json()["detail"])


def closed(stack, session, **auth):
    """(message of the error frame, close code)"""
    with stack.socket(session) as ws:
        ws.send(json.dumps({"type": "auth", **auth}))
        message = json.loads(ws.recv(timeout=30))
        assert message["type"] == "error"
        with pytest.raises(ConnectionClosed) as end:
            ws.recv(timeout=30)
    return message["message"], end.value.rcvd.code


@pytest.mark.parametrize("auth", [{}, {"githubSession": ""}, {"githubSession": None}, {"githubSession": "x"},
                                  {"githubSession": "A" * 43}, {"githubSession": 5}, {"githubSession": "\0"}])
def test_a_socket_needs_a_sign_in(stack, auth):
    assert closed(stack, uuid.uuid4(), **auth)[1] == 4401


def test_what_belongs_to_another_person_looks_as_if_it_never_was(stack, github, diagram):
    mine, theirs = Browser(stack).sign_in(github, "ada"), Browser(stack).sign_in(github, "bob")
    ada, bob = {"X-GitHub-Session": mine}, {"X-GitHub-Session": theirs}
    reply = stack.request("POST", SIMULATION + "/sessions", diagram("hello_minimal"), headers=ada)
    assert reply.status == 200, reply
    session, unknown = reply.json()["sessionId"], str(uuid.uuid4())

    full = stack.request("POST", SIMULATION + "/validate", diagram("hello_minimal"), headers=ada)
    assert full.status == 200

    for method, rest in (("GET", ""), ("DELETE", ""), ("GET", "/files"), ("GET", "/files/agent.py"), ("GET", "/archive"),
                         ("GET", "/transcript")):
        foreign = stack.request(method, f"{SIMULATION}/sessions/{session}{rest}", headers=bob)
        never = stack.request(method, f"{SIMULATION}/sessions/{unknown}{rest}", headers=bob)
        assert (foreign.status, foreign.body) == (never.status, never.body) == (404, never.body)
        keep = ("Date", "X-Request-ID")
        assert [h for h in foreign.headers.items() if h[0] not in keep] == [h for h in never.headers.items() if h[0] not in keep]
    assert closed(stack, session, githubSession=theirs) == closed(stack, unknown, githubSession=theirs)
    assert closed(stack, session, githubSession=theirs)[1] == 4404

    assert stack.get(f"{SIMULATION}/sessions/{session}/files", headers=ada).status == 200
    with stack.talk(session, githubSession=mine) as talk:
        assert talk.hello == {"type": "auth_ok"}
        # The cap is Ada's own: she has one that is attached, Bob has none.
        refused = stack.request("POST", SIMULATION + "/sessions", diagram("hello_minimal"), headers=ada)
        assert refused.status == 429
        his = stack.request("POST", SIMULATION + "/sessions", diagram("hello_minimal"), headers=bob)
        assert his.status == 200, his
    assert stack.request("DELETE", f"{SIMULATION}/sessions/{his.json()['sessionId']}", headers=bob).status == 200

    # Who signs out ends what runs for him.
    assert stack.request("POST", f"{AUTH}/logout?session_id={mine}").status == 200
    stack.assert_clean()


# ---- what is kept ----

def test_no_secret_stays_in_the_memory_of_a_process(stack, github, diagram):
    browser = Browser(stack)
    session = browser.sign_in(github)
    assert status_of(stack, session)["success"]
    assert stack.request("POST", SIMULATION + "/validate", diagram("hello_minimal"), headers={"X-GitHub-Session": session}).status == 200
    assert closed(stack, uuid.uuid4(), githubSession=session)[1] == 4404
    for _ in range(4 * WORKERS):  # what is at hand is the next request's
        assert limits(stack).status == 401
    programs = ("agentsim-fcgi", "agentsim-supervisor", "agentsim-launcher", "nginx")
    pids = [pid for name in programs for pid in stack.children(name)]
    pids += [pid for master in stack.children("nginx") for pid in children_of(master)]
    assert len(pids) >= WORKERS + 4
    def held(pid):
        content = memory(pid)
        return [name for name, secret in wanted.items() if secret.encode() in content]

    wanted = {"session": session, "cookie": browser.cookies["agentsim_signin"], "token": github.secrets[-1], "code": github.secrets[-2]}
    for pid in pids:  # a client may have its answer a moment before the worker is through
        name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        wait_until(lambda pid=pid: not held(pid), 10, f"{name} has forgotten: {held(pid)}")


def supervisor_of(stack):
    return wait_until(lambda: stack.children("agentsim-supervisor"), 10, "the supervisor runs")[0]


def restart_supervisor(stack):
    old = supervisor_of(stack)
    kill(old)
    wait_until(lambda: old not in stack.children("agentsim-supervisor") and stack.children("agentsim-supervisor"), 20, "a new one runs")
    wait_until(lambda: limits(stack).status == 401 and stack.sandbox() == "ok", 20, "it answers")


def test_sign_ins_survive_the_supervisor(stack, github):
    session = Browser(stack).sign_in(github)
    gone = Browser(stack).sign_in(github)
    stack.request("POST", f"{AUTH}/logout?session_id={gone}")
    browser = Browser(stack)
    _, values = browser.begin()
    _, used = browser.begin()
    folder = stack.state_dir / "signin"
    before = (folder / "signins").stat().st_mtime_ns
    Browser(stack).begin()  # these two may be in it already
    wait_until(lambda: (folder / "signins").stat().st_mtime_ns != before, 10, "the states are written")
    browser.back(code="x", state=used["state"])
    restart_supervisor(stack)
    assert status_of(stack, session)["success"] is True
    assert limits(stack, session).status == 200
    assert limits(stack, gone).status == 401
    assert browser.back(code=github.new_code(), state=used["state"]) == {"error": "invalid_state"}
    assert "github_session" in browser.back(code=github.new_code(), state=values["state"])

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and folder.stat().st_uid != 0
    for name in ("signins", "key"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    content = (folder / "signins").read_bytes()
    assert b"ada" not in content and session.encode() not in content


@pytest.mark.parametrize("spoil", [lambda b: b[:-1], lambda b: b * 40000], ids=["cut", "huge"])
def test_a_spoilt_file_is_refused_as_a_whole(stack, github, spoil):
    session = Browser(stack).sign_in(github)
    path = stack.state_dir / "signin" / "signins"
    old = supervisor_of(stack)
    os.kill(old, signal.SIGSTOP)
    wait_until(lambda: "\nState:\tT" in pathlib.Path(f"/proc/{old}/status").read_text(), 10, "it writes nothing any more")
    path.write_bytes(spoil(path.read_bytes()))
    kill(old)
    wait_until(lambda: old not in stack.children("agentsim-supervisor") and stack.children("agentsim-supervisor"), 20, "a new one runs")
    wait_until(lambda: limits(stack).status == 401, 20, "it answers")
    assert limits(stack, session).status == 401
    assert "sign-ins of an earlier start are refused" in stack.log_text()
    assert limits(stack, Browser(stack).sign_in(github)).status == 200


# ---- configuration ----

def test_what_is_not_configured_is_named(github):
    with Stack(**settings(github, GITHUB_CLIENT_ID=None, DEPLOYMENT_URL=None)) as plain:
        for path in ("/login", "/callback?code=a&state=b"):
            reply = plain.get(AUTH + path)
            assert reply.status == 500 and "GITHUB_CLIENT_ID" in reply.json()["detail"]


def test_a_key_of_ones_own_and_the_console_as_the_way_back(github):
    with Stack(**settings(github, AGENT_SIMULATOR_SIGNIN_KEY=SIGNIN_KEY, DEPLOYMENT_URL=None, GITHUB_REDIRECT_URI=None)) as own:
        browser = Browser(own)
        _, values = browser.begin()
        assert "redirect_uri" not in values
        reply = browser.get(f"{AUTH}/callback?code={github.new_code()}&state={values['state']}")
        assert reply.status == 302 and re.fullmatch(r"/\?github_session=[\w-]{43}&username=ada", reply.headers["Location"])
        session = reply.headers["Location"].split("=")[1].split("&")[0]
        Browser.secrets.append(session)
        assert not (own.state_dir / "signin" / "key").exists()
        restart_supervisor(own)
        assert limits(own, session).status == 200
        check_logs(own, github)


def test_a_reload_switches_the_sign_in_on(github):
    with Stack(**settings(github, AGENT_SIMULATOR_REQUIRE_AUTH=None, GITHUB_CLIENT_ID=None), file="require_auth: false\n") as stack:
        assert limits(stack).status == 200
        stack.set_file(f"require_auth: true\ngithub_client_id: {CLIENT_ID}\n")
        os.kill(stack.keeper.pid, signal.SIGHUP)
        wait_until(lambda: limits(stack).status == 401 and stack.get(AUTH + "/login").status == 307, 20, "a sign-in is needed")
        wait_until(lambda: closed(stack, uuid.uuid4(), githubSession="")[1] == 4401, 20, "on the socket too")
        wait_until(lambda: [stack.get(AUTH + "/login").status for _ in range(4 * WORKERS)] == [307] * 4 * WORKERS, 20, "all workers know")
        session = Browser(stack).sign_in(github)
        assert limits(stack, session).status == 200
        assert closed(stack, uuid.uuid4(), githubSession=session)[1] == 4404


def test_a_github_that_is_not_there_or_cannot_prove_itself(github, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    with FakeGitHub((certificate, key)) as forged, Stack(**settings(forged, GITHUB_REDIRECT_URI="https://agents.example/callback")) as stack:
        browser = Browser(stack)
        assert browser.get(AUTH + "/login").headers["Set-Cookie"].endswith("; Secure")
        assert list(browser.cookies) == ["__Host-agentsim_signin"]
        _, values = browser.begin()
        assert browser.back(code="c", state=values["state"]) == {"error": "github_api_error"}
        assert not forged.requests
        assert "certificate" in stack.log_text()
        forged.server.server_close()
        _, values = browser.begin()
        assert browser.back(code="c", state=values["state"]) == {"error": "github_api_error"}


def test_the_settings_that_agents_processes_see_have_no_secret_of_the_sign_in():
    done = subprocess.run([pathlib.Path(__file__).resolve().parents[2] / os.environ.get("AGENTSIM_BUILD", "build") / "bin" / "agentsim", "config"],
                          env={"AGENT_SIMULATOR_SIGNIN_KEY": SIGNIN_KEY, "GITHUB_CLIENT_SECRET": CLIENT_SECRET}, capture_output=True, text=True,
                          check=True)
    assert SIGNIN_KEY not in done.stdout and CLIENT_SECRET not in done.stdout
    short = subprocess.run(done.args, env={"AGENT_SIMULATOR_SIGNIN_KEY": "short"}, capture_output=True, text=True, check=False)
    assert short.returncode != 0 and "AGENT_SIMULATOR_SIGNIN_KEY" in short.stderr
