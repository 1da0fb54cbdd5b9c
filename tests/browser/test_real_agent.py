"""The console on the whole chain: a real agent in its sandbox, with an example that ships with the product."""
from __future__ import annotations

import json
import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.support.stack import Stack, wait_until

# A cold start imports the runtime first.
START_MS = 90000


@pytest.fixture(scope="module")
def stack():
    with Stack() as running:
        yield running


@pytest.fixture
def page(browser, stack):
    watched = Watched(browser, f"http://127.0.0.1:{stack.port}/")
    yield watched.page
    if watched.page.get_by_test_id("stop").is_enabled():
        watched.page.get_by_test_id("stop").click()
        expect(watched.page.get_by_test_id("status")).to_have_text("Ended")
    watched.close()


def start(page, example="Bike rental"):
    page.get_by_test_id("example").filter(has_text=example).click()
    start_chosen(page)


def start_chosen(page):
    page.get_by_test_id("start").click()
    expect(page.get_by_test_id("agent-message").first).to_be_visible(timeout=START_MS)


def test_a_drawn_agent_talks(page):
    start(page)
    messages = page.get_by_test_id("agent-message")
    expect(messages.first).to_contain_text("Hello! This is the bike rental at the lake.")
    page.get_by_role("button", name="Prices").click()
    expect(page.locator(".markdown td strong").first).to_have_text("12 €")
    expect(page.get_by_test_id("current-state")).to_have_text("welcome")
    page.get_by_test_id("message").fill("Where are you?")
    page.get_by_test_id("message").press("Enter")
    expect(page.get_by_test_id("location")).to_contain_text("47.6603° N, 9.1758° E")
    expect(page.get_by_test_id("trace-step").locator(".mono")).to_have_text(
        ["welcome", "prices", "welcome", "where", "welcome"])
    expect(page.get_by_test_id("states").locator(".current")).to_have_text("welcome")
    expect(page.get_by_test_id("lifetime")).to_have_text(re.compile(r"^\d+:\d\d left$"))
    page.get_by_test_id("tab-output").click()
    expect(page.get_by_test_id("output-lines")).to_contain_text("[prices] Running body")
    page.get_by_test_id("tab-files").click()
    expect(page.get_by_test_id("file-list")).to_contain_text("agent.py")


def test_an_agent_without_its_language_model_says_what_is_missing(page):
    start(page, "Library desk")
    page.get_by_test_id("message").fill("Do you have Dune?")
    page.get_by_test_id("message").press("Enter")
    expect(page.get_by_test_id("event").first).to_contain_text("The agent failed in state desk", timeout=START_MS)
    expect(page.get_by_test_id("event").first).to_contain_text("AGENT_SIMULATOR_EGRESS")


def test_a_form_in_the_conversation_is_filled_in(page):
    start(page, "Rowing club")
    form = page.get_by_test_id("chat")
    form.get_by_label("Your name").fill("Ada")
    form.get_by_label("E-mail").fill("ada@example.org")
    form.get_by_label("Boat").select_option("Double")
    form.get_by_role("button", name="Join").click()
    expect(form).to_contain_text("boat: Double")
    expect(page.get_by_test_id("current-state")).to_have_text("joined")
    expect(form).to_contain_text("Thank you, you are a member now.")


def test_a_diagram_is_checked_before_it_runs(page):
    page.get_by_test_id("example").filter(has_text="Bike rental").click()
    page.get_by_test_id("validate").click()
    expect(page.get_by_test_id("valid")).to_be_visible()
    expect(page.get_by_test_id("events")).to_contain_text("ReceiveTextEvent")
    page.get_by_test_id("show-code").click()
    expect(page.get_by_test_id("agent-code")).to_contain_text("import")
    page.get_by_test_id("close-code").click()


def test_a_broken_diagram_is_explained(page):
    model = {"type": "AgentDiagram",
             "elements": {"a": {"id": "a", "type": "AgentState", "name": "two words", "actions": []},
                          "i": {"id": "i", "type": "StateInitialNode", "name": ""}},
             "relationships": {"r": {"id": "r", "type": "AgentStateTransitionInit", "source": {"element": "i"},
                                     "target": {"element": "a"}}}}
    page.get_by_test_id("paste").click()
    page.get_by_test_id("paste-text").fill(json.dumps({"title": "Broken", "model": model}))
    page.get_by_test_id("paste-use").click()
    for button in ("validate", "start"):
        page.get_by_test_id(button).click()
        expect(page.get_by_test_id("problem").first).to_contain_text("two words")


def test_stop_and_restart(page, stack):
    start(page)
    page.get_by_test_id("stop").click()
    expect(page.get_by_test_id("status")).to_have_text("Ended")
    stack.assert_clean()
    page.get_by_test_id("restart").click()
    expect(page.get_by_test_id("agent-message").first).to_be_visible(timeout=START_MS)
    first = page.get_by_test_id("session-id").inner_text()
    page.get_by_test_id("restart").click()
    wait_until(lambda: page.get_by_test_id("session-id").inner_text() != first, 20, "another session")
    expect(page.get_by_test_id("agent-message").first).to_be_visible(timeout=START_MS)


def test_a_conversation_goes_on_after_the_network_was_away(page):
    start(page)
    page.get_by_test_id("message").fill("prices")
    page.get_by_test_id("message").press("Enter")
    expect(page.locator(".markdown")).to_have_count(1)
    page.evaluate("() => { WebSocket.prototype.send = new Proxy(WebSocket.prototype.send, "
                  "{ apply(f, socket, args) { window.lastSocket = socket; return f.apply(socket, args); } }); }")
    page.get_by_test_id("message").fill("where")
    page.get_by_test_id("message").press("Enter")
    expect(page.get_by_test_id("location")).to_be_visible()
    before = page.get_by_test_id("agent-message").count()
    page.evaluate("window.lastSocket.close(4000)")
    expect(page.get_by_test_id("event").last).to_have_text("Connected again, nothing was lost", timeout=60_000)
    assert page.get_by_test_id("agent-message").count() == before
    page.get_by_test_id("message").fill("prices")
    page.get_by_test_id("message").press("Enter")
    expect(page.locator(".markdown")).to_have_count(2)


def test_the_files_of_every_example_are_accepted(page):
    examples = page.get_by_test_id("example")
    expect(examples.first).to_be_visible()
    for example in examples.all():
        example.click()
        page.get_by_test_id("validate").click()
        expect(page.get_by_test_id("valid")).to_be_visible()


def test_a_diagram_goes_out_as_python_text_and_comes_back(page, tmp_path):
    page.get_by_test_id("example").filter(has_text="Bike rental").click()
    with page.expect_download() as download:
        page.get_by_test_id("save-buml").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert saved.suffix == ".py" and "AGENT MODEL" in saved.read_text()
    saved.write_text(saved.read_text() + "\nagent.frobnicate(3)\n")
    page.get_by_test_id("file").set_input_files(saved)
    expect(page.get_by_test_id("diagram-title")).to_have_text("Bike rental")
    expect(page.get_by_test_id("warning").first).to_contain_text("frobnicate")
    start_chosen(page)
    expect(page.get_by_test_id("agent-message").first).to_contain_text("Hello! This is the bike rental at the lake.")


def test_python_text_that_is_none_is_explained(page, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("agent = Agent('a'\n")
    page.get_by_test_id("file").set_input_files(broken)
    expect(page.get_by_test_id("problem").first).to_contain_text("line 1")


def test_the_program_of_a_diagram_is_saved(page, tmp_path):
    page.get_by_test_id("example").filter(has_text="Bike rental").click()
    with page.expect_download() as download:
        page.get_by_test_id("save-program").click()
    download.value.save_as(tmp_path / "a.zip")
    assert {"Bike_rental.py", "config.yaml", "agent_model.py"} <= set(zipfile.ZipFile(tmp_path / "a.zip").namelist())
