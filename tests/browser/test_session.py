"""A session from start to end: messages, panes, stop, restart, broken connections."""
from __future__ import annotations

import base64
import json
import re
import threading

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DIAGRAM, Watched
from tests.support.stack import wait_until


def status(page):
    return page.get_by_test_id("status")


def test_a_message_goes_out_and_its_answer_comes_in(talking):
    page, session = talking
    session.on_message = lambda s, frame: s.say(f"You said {frame['message']}")
    box = page.get_by_test_id("message")
    expect(box).to_be_focused()
    box.fill("first line")
    box.press("Shift+Enter")
    box.type("second")
    box.press("Enter")
    assert session.wait_for("user_message") == {"action": "user_message", "message": "first line\nsecond"}
    expect(page.get_by_test_id("user-message")).to_contain_text("first line")
    expect(page.get_by_test_id("agent-message")).to_contain_text("You said first line")
    expect(box).to_have_value("")
    expect(page.get_by_test_id("typing")).to_be_hidden()
    assert session.auths == [{"type": "auth", "githubSession": "", "features": ["exit"]}]


def test_a_file_is_sent_as_json_text(talking, tmp_path):
    page, session = talking
    page.get_by_test_id("upload").set_input_files({"name": "a.txt", "mimeType": "text/plain", "buffer": "grüß".encode()})
    frame = session.wait_for("user_file")
    assert json.loads(frame["message"]) == {
        "name": "a.txt", "type": "text/plain", "base64": base64.b64encode("grüß".encode()).decode()}
    expect(page.get_by_test_id("user-message")).to_contain_text("a.txt")
    page.get_by_test_id("upload").set_input_files({"name": "b.txt", "mimeType": "text/plain", "buffer": b""})
    expect(page.get_by_test_id("event")).to_contain_text("b.txt is empty")
    (tmp_path / "c.bin").write_bytes(bytes(13 * 1024 * 1024))
    page.get_by_test_id("upload").set_input_files(tmp_path / "c.bin")
    expect(page.get_by_test_id("event").last).to_contain_text("larger than")
    assert len(session.got) == 1


@pytest.mark.parametrize("typed, value", [("42", 42), ("true", True), ("two words", "two words"), ('{"a": [1]}', {"a": [1]})])
def test_a_variable_is_set_with_its_type(talking, typed, value):
    page, session = talking
    page.get_by_test_id("variable").click()
    page.get_by_test_id("variable-name").fill("x")
    page.get_by_test_id("variable-value").fill(typed)
    page.get_by_test_id("variable-set").click()
    assert session.wait_for("user_set_variable") == {"action": "user_set_variable", "message": {"x": value}}


def test_states_are_traced(talking):
    page, session = talking
    expect(page.get_by_test_id("states").locator(".chip")).to_have_text(["greet", "talk"])
    session.enter("greet")
    session.enter("talk")
    session.enter("talk")
    session.enter("<b>odd</b>")
    session.enter("talk")
    expect(page.get_by_test_id("trace-step")).to_have_count(5)
    expect(page.get_by_test_id("trace-step").nth(2)).to_contain_text("again")
    expect(page.get_by_test_id("trace-step").nth(3)).to_contain_text("<b>odd</b>")
    expect(page.get_by_test_id("timeline").locator(".current")).to_have_count(1)
    expect(page.get_by_test_id("states").locator(".current")).to_have_text("talk")
    expect(page.get_by_test_id("current-state")).to_have_text("talk")
    expect(page.get_by_test_id("agent-message")).to_have_count(0)


def test_output_is_listed_bounded_and_followed(talking):
    page, session = talking
    session.print("2026-01-31 12:00:00,123 - BESSER Agentic Framework - WARNING - <i>careful</i>")
    session.print("plain <b>line</b>")
    page.get_by_test_id("tab-output").click()
    lines = page.get_by_test_id("output-lines").locator(".out")
    expect(lines).to_have_text(["12:00:00 <i>careful</i>", "plain <b>line</b>"])
    expect(lines.first).to_have_attribute("data-level", "WARNING")
    for number in range(4000):
        session.print(f"line {number}")
    expect(lines.last).to_have_text("line 3999", timeout=60_000)
    expect(lines.last).to_be_in_viewport()
    expect(lines).to_have_count(3000)
    expect(page.get_by_test_id("output-count")).to_contain_text("4002 lines, the last 3000 are kept")
    page.get_by_test_id("follow").uncheck()
    for number in range(5):
        session.print(f"unseen {number}")
    expect(lines.last).to_have_text("unseen 4")
    expect(lines.last).not_to_be_in_viewport()
    page.get_by_test_id("follow").check()
    expect(lines.last).to_be_in_viewport()


def test_frames_are_shown_raw_in_both_directions(talking):
    page, session = talking
    session.say("hello")
    page.get_by_test_id("message").fill("hi")
    page.get_by_test_id("send").click()
    page.get_by_test_id("tab-frames").click()
    frames = page.get_by_test_id("frame")
    expect(frames).to_have_count(4)
    expect(frames.nth(0)).to_contain_text('"type":"auth"')
    expect(frames.nth(1)).to_contain_text("auth_ok")
    expect(frames.locator(".arrow.out")).to_have_count(2)
    frames.nth(2).locator("summary").click()
    expect(frames.nth(2).locator("pre")).to_contain_text('"message": "hello",')


def test_tabs_are_moved_through_by_keys(console):
    console.get_by_test_id("tab-trace").focus()
    console.keyboard.press("ArrowRight")
    expect(console.get_by_test_id("output")).to_be_visible()
    expect(console.get_by_test_id("trace")).to_be_hidden()
    console.keyboard.press("End")
    expect(console.get_by_test_id("tab-files")).to_be_focused()
    console.keyboard.press("ArrowRight")
    expect(console.get_by_test_id("tab-trace")).to_have_attribute("aria-selected", "true")


def test_files_are_listed_and_saved(talking, service):
    page, session = talking
    session.files = {"files": [{"path": "notes/ä b.txt", "content": "<b>hello</b>"}, {"path": "a.log", "content": ""}],
                     "directories": ["notes"]}
    page.get_by_test_id("tab-files").click()
    rows = page.get_by_test_id("file-row")
    expect(rows).to_have_count(2)
    rows.nth(1).locator("summary").click()
    expect(rows.nth(1).locator("pre")).to_have_text("<b>hello</b>")
    with page.expect_download() as download:
        rows.nth(1).get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "ä b.txt"
    assert open(download.value.path(), "rb").read() == b"<b>hello</b>"
    with page.expect_download() as download:
        page.get_by_test_id("files-archive").click()
    assert download.value.suggested_filename == f"{session.id}.zip"
    service.archive = False
    page.get_by_test_id("files-archive").click()
    expect(page.get_by_text("offers no archive")).to_be_visible()
    session.files["files"].pop()
    page.get_by_test_id("files-refresh").click()
    expect(rows).to_have_count(1)


def test_stop_ends_the_session(talking):
    page, session = talking
    page.get_by_test_id("stop").click()
    expect(status(page)).to_have_text("Ended")
    wait_until(lambda: session.ended, 10, "the service was told")
    expect(page.get_by_test_id("event")).to_have_text("Stopped")
    expect(page.get_by_test_id("message")).to_be_disabled()
    expect(page.get_by_test_id("stop")).to_be_disabled()


def test_restart_is_a_new_session_of_the_same_diagram(talking, service):
    page, first = talking
    first.say("from the first")
    expect(page.get_by_test_id("agent-message")).to_have_count(1)
    page.get_by_test_id("example").nth(1).click()
    page.get_by_test_id("restart").click()
    wait_until(lambda: len(service.sessions) == 2, 10, "a second session")
    second = service.newest
    second.attached()
    assert first.ended and second.auths[0].get("received") is None
    expect(status(page)).to_have_text("Live")
    expect(page.get_by_test_id("agent-title")).to_have_text("Doorman")
    expect(page.get_by_test_id("agent-message")).to_have_count(0)
    second.say("from the second")
    expect(page.get_by_test_id("agent-message")).to_contain_text("from the second")


def test_the_remaining_time_counts_down(talking):
    page, _ = talking
    expect(page.get_by_test_id("lifetime")).to_have_text(re.compile(r"^1[45]:\d\d left$"))


def test_a_broken_connection_is_resumed_without_loss(talking):
    page, session = talking
    session.enter("greet")
    session.print("x")
    session.say("one")
    expect(page.get_by_test_id("agent-message")).to_have_count(1)
    session.drop()
    session.say("two")
    session.enter("talk")
    session.say("three")
    session.attached()
    expect(page.get_by_test_id("agent-message").locator(".text")).to_have_text(["one", "two", "three"])
    expect(page.get_by_test_id("trace-step")).to_have_count(2)
    expect(status(page)).to_have_text("Live")
    assert [auth.get("received") for auth in session.auths] == [None, 3]
    expect(page.get_by_test_id("event").last).to_have_text("Connected again, nothing was lost")
    session.drop()
    session.attached()
    assert session.auths[-1]["received"] == 6


def test_a_reload_goes_on_with_the_session(talking, service):
    page, session = talking
    session.enter("greet")
    session.say("one")
    expect(page.get_by_test_id("agent-message")).to_have_count(1)
    page.reload()
    wait_until(lambda: len(session.auths) == 2, 10, "the new page signs in")
    assert session.auths[-1]["received"] == 0
    session.say("two")
    expect(page.get_by_test_id("agent-message").locator(".text")).to_have_text(["one", "two"])
    expect(page.get_by_test_id("current-state")).to_have_text("greet")
    expect(page.get_by_test_id("event")).to_contain_text("loaded again")
    expect(page.get_by_test_id("agent-title")).to_have_text("Doorman")
    page.get_by_test_id("restart").click()
    wait_until(lambda: len(service.sessions) == 2, 10, "a second session")
    assert session.ended


def starts(service):
    return [body for method, path, body in service.requests if path.endswith("/sessions") and method == "POST"]


def test_a_reload_after_the_end_has_the_diagram_and_no_session(talking, service):
    page, session = talking
    wait_until(lambda: page.evaluate("sessionStorage.length") == 2, 10, "both are kept")
    session.ended = True
    page.reload()
    wait_until(lambda: page.evaluate("Object.keys(sessionStorage)") == ["agentsim.diagram"], 10, "the service has been asked")
    expect(status(page)).to_have_text("No session")
    expect(page.get_by_test_id("diagram-title")).to_have_text("Doorman")
    expect(page.get_by_test_id("example").first).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_test_id("restart")).to_be_disabled()
    page.get_by_test_id("start").click()
    wait_until(lambda: len(service.sessions) == 2, 10, "a second session")
    assert starts(service)[0] == starts(service)[1]


@pytest.mark.parametrize("config, kept", [
    (None, True), ({"agentLanguage": "english", "maxTokens": 100}, True), ({"nlp": {"api_key": "sk-1"}}, False),
    ({"yaml": "nlp:\n  openai:\n    api_key: 'sk-1'\n"}, False), ({"dbPassword": "secret"}, False),
])
def test_a_diagram_of_ones_own_is_kept_unless_it_holds_a_key(console, service, config, kept):
    document = {**DIAGRAM, "title": "Mine", **({"config": config} if config else {})}
    console.get_by_test_id("paste").click()
    console.get_by_test_id("paste-text").fill(json.dumps(document))
    console.get_by_test_id("paste-use").click()
    console.get_by_test_id("start").click()
    service.newest.attached()
    console.reload()
    service.newest.attached()
    expect(status(console)).to_have_attribute("data-state", "live")
    expect(console.get_by_test_id("agent-title")).to_have_text("Mine")
    expect(console.get_by_test_id("restart")).to_be_enabled(enabled=kept)
    expect(console.get_by_test_id("start")).to_be_enabled(enabled=kept)
    assert ("sk-1" in console.evaluate("JSON.stringify(sessionStorage)")) is False
    if kept:
        console.get_by_test_id("restart").click()
        wait_until(lambda: len(service.sessions) == 2, 10, "a second session")
        assert starts(service)[0] == starts(service)[1]


LOGGED = "2026-01-31 12:00:00,000 - BESSER Agentic Framework - "


@pytest.mark.parametrize("exception, told", [
    ("openai.AuthenticationError: Error code: 401 - wrong key", "Keys for language models"),
    ('openai.PermissionDeniedError: The egress policy "public" of this service refuses 127.0.0.2:9500: a loopback address.',
     "AGENT_SIMULATOR_EGRESS"),
    ("openai.APIConnectionError: Connection error.", "cannot be reached from here"),
    ("KeyError: 'age'", "in state desk: KeyError: 'age'."),
    ("ValueError", "in state desk: ValueError."),
])
def test_what_fails_in_the_program_is_said_in_the_conversation(talking, exception, told):
    page, session = talking
    for _again in range(2):
        session.print(f"{LOGGED}ERROR - An error occurred while executing 'b' of state'desk' in agent 'D'. See the attached exception:")
        for line in ("Traceback (most recent call last):", '  File "/work/agent.py", line 1, in b', "httpx.ProxyError: 502 Bad Gateway", "",
                     "The above exception was the direct cause of the following exception:", "",
                     "Traceback (most recent call last):", '  File "/work/agent.py", line 2, in b', exception):
            session.print(line)
        session.print(f"{LOGGED}INFO - Detected intent: fallback_intent")
    session.say("the end")
    expect(page.get_by_test_id("agent-message")).to_contain_text("the end")
    expect(page.get_by_test_id("event")).to_have_count(1)  # once, not for every line of the log
    expect(page.get_by_test_id("event")).to_contain_text(told)


def test_prints_that_look_like_failures_are_none(talking):
    page, session = talking
    for line in ("Error: mine", "ValueError: printed", f"{LOGGED}ERROR - something else", "KeyError: 'x'",
                 f"{LOGGED}ERROR - An error occurred while executing 'b' of state'desk'", f"{LOGGED}INFO - nothing followed"):
        session.print(line)
    session.say("the end")
    expect(page.get_by_test_id("agent-message")).to_contain_text("the end")
    expect(page.get_by_test_id("event")).to_have_count(0)


def test_a_broken_connection_is_said_until_it_is_back(talking, service):
    page, session = talking
    gate = threading.Event()
    service.hold = gate
    session.drop()
    expect(page.get_by_test_id("notice")).to_contain_text("Connection lost")
    expect(status(page)).to_have_text("Reconnecting")
    expect(page.get_by_test_id("send")).to_be_disabled()
    gate.set()
    session.attached()
    expect(page.get_by_test_id("notice")).to_be_hidden()
    expect(page.get_by_test_id("send")).to_be_enabled()


def test_lost_frames_are_told_and_not_counted(talking):
    page, session = talking
    session.push({"type": "replay_gap", "lost": 7})
    expect(page.get_by_test_id("event")).to_contain_text("7 frames were lost")
    session.drop()
    session.attached()
    assert session.auths[-1]["received"] == 0


def test_the_end_is_explained(talking):
    page, session = talking
    session.push({"type": "exit", "reason": "signaled", "code": 11})
    session.drop(1000)
    expect(status(page)).to_have_text("Ended")
    expect(page.get_by_test_id("event")).to_have_text("The agent's program was ended by a signal, code 11.")
    expect(page.get_by_test_id("restart")).to_be_enabled()


def test_a_clean_close_of_a_session_that_is_gone_is_an_end(talking):
    page, session = talking
    session.ended = True
    session.drop(1000)
    expect(page.get_by_test_id("event")).to_have_text("The session has ended.")


def test_a_failed_start_shows_its_output(talking):
    page, session = talking
    session.print("Traceback (most recent call last):")
    session.push({"type": "error", "message": "The agent did not start:\nNameError: name 'x' is not defined"})
    session.drop(1011)
    expect(page.get_by_test_id("event").first).to_contain_text("NameError")
    expect(page.get_by_test_id("reconnect")).to_be_visible()


@pytest.mark.parametrize("code, sentence, again", [
    (4400, "no valid id", False), (4401, "sign-in", False), (4404, "does not exist", False),
    (4429, "Too many attempts", True), (1011, "cannot be reached", True), (1009, "too large", True),
])
def test_close_codes_are_explained(console, service, code, sentence, again):
    service.close_code = code
    console.get_by_test_id("example").first.click()
    console.get_by_test_id("start").click()
    expect(console.get_by_test_id("event").last).to_contain_text(sentence)
    expect(status(console)).to_have_text("Disconnected" if again else "Ended")
    if again:
        service.close_code = None
        console.get_by_test_id("reconnect").click()
        expect(status(console)).to_have_text("Live")


def test_a_takeover_is_told(talking):
    page, session = talking
    session.drop(4409)
    expect(page.get_by_test_id("event")).to_contain_text("another window")
    page.get_by_test_id("reconnect").click()
    expect(status(page)).to_have_text("Live")


def test_a_sign_in_is_used_and_leaves_the_address(browser, fake, service):
    watched = Watched(browser, fake.base_url + "/")
    try:
        page = watched.page
        page.evaluate("sessionStorage.setItem('agentsim.signin-began', 'yes')")  # as the link to GitHub does
        page.goto(fake.base_url + "/?github_session=abc&username=me")
        assert page.url == fake.base_url + "/"
        page.get_by_test_id("example").first.click()
        page.get_by_test_id("start").click()
        service.newest.attached()
        assert service.newest.auths[0]["githubSession"] == "abc"
        page.get_by_test_id("tab-frames").click()
        expect(page.get_by_test_id("frame").first).not_to_contain_text("abc")
    finally:
        watched.close()


def test_a_full_service_is_waited_for(console, service):
    """The console asks for a place and says so when it takes long."""
    free = threading.Event()
    service.on_start = lambda _session: free.wait(120)
    console.get_by_test_id("example").first.click()
    console.get_by_test_id("start").click()
    expect(console.get_by_test_id("event").last).to_contain_text("waiting for one", timeout=60_000)
    free.set()
    expect(console.locator("[data-testid=status][data-state=live]")).to_be_visible(timeout=60_000)
    assert service.prefer == "wait=45"


def test_a_session_of_which_only_its_end_is_known_is_not_gone_on_with(talking, service):
    page, session = talking
    session.state = "gone"
    page.reload()
    page.get_by_test_id("example").first.click()
    expect(page.get_by_test_id("start")).to_be_enabled()
    assert len(session.auths) == 1
