"""Choosing a diagram, checking it, and what goes wrong before a session exists."""
from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import DIAGRAM
from tests.support.stack import wait_until

DROP = """([text, name]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name, { type: "application/json" }));
  document.querySelector("[data-testid=drop]").dispatchEvent(
    new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


def drop(page, value, name="my agent-2.json"):
    page.evaluate(DROP, [value if isinstance(value, str) else json.dumps(value), name])


def test_examples_are_listed_and_can_be_chosen(console, service):
    examples = console.get_by_test_id("example")
    expect(examples).to_have_count(2)
    expect(examples.first).to_contain_text("Doorman")
    expect(examples.first).to_contain_text("Two states and an intent.")
    expect(console.get_by_test_id("start")).to_be_disabled()
    examples.first.click()
    expect(console.get_by_test_id("diagram-title")).to_have_text("Doorman")
    expect(console.get_by_test_id("chosen")).to_contain_text("2 states")
    expect(console.get_by_test_id("chosen")).to_contain_text("1 intent")
    expect(examples.first).to_have_attribute("aria-pressed", "true")
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("valid")).to_be_visible()
    asked = {path: body for method, path, body in service.requests if method == "POST"}
    assert asked["/besser_api/simulation/validate"] == {"title": "Doorman", "model": DIAGRAM["model"]}


@pytest.mark.parametrize("document, title", [
    (DIAGRAM, "Doorman"),
    (DIAGRAM["model"], "my_agent_2"),
    ({"id": "x", "name": "Named", "model": DIAGRAM["model"], "lastUpdate": "now"}, "Named"),
    ({"project": {"diagrams": {"AgentDiagram": [{"title": "Inner", "model": DIAGRAM["model"]}]}}}, "Inner"),
], ids=["request", "bare model", "editor's export", "project"])
def test_a_dropped_diagram_becomes_a_request(console, service, document, title):
    drop(console, document)
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("valid")).to_be_visible()
    assert service.requests[-1][2] == {"title": title, "model": DIAGRAM["model"]}


def test_configuration_of_a_request_goes_along(console, service):
    drop(console, {**DIAGRAM, "config": {"a": 1}, "configYaml": "b: 2", "generator": "agent"})
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("valid")).to_be_visible()
    assert service.requests[-1][2] == {
        "title": "Doorman", "model": DIAGRAM["model"], "config": {"a": 1}, "configYaml": "b: 2"}


def test_one_of_several_diagrams_can_be_chosen(console):
    drop(console, {"diagrams": [{"title": "One", "model": DIAGRAM["model"]}, {"title": "Two", "model": DIAGRAM["model"]}]})
    expect(console.get_by_test_id("diagram-title")).to_have_text("One")
    console.get_by_test_id("which-diagram").select_option("Two")
    expect(console.get_by_test_id("diagram-title")).to_have_text("Two")


@pytest.mark.parametrize("text, problem", [
    ("{", "no JSON"), ("[1]", "JSON object"), ("{}", "no agent diagram"), ('{"model": {"type": "ClassDiagram"}}', None),
])
def test_a_file_that_is_no_diagram_is_explained(console, text, problem):
    drop(console, text, "broken.json")
    if problem:
        expect(console.get_by_test_id("problem")).to_contain_text(problem)
        expect(console.get_by_test_id("start")).to_be_disabled()
    else:  # the service decides about a model of another kind
        expect(console.get_by_test_id("start")).to_be_enabled()


def test_a_file_can_be_opened_and_text_pasted(console, tmp_path):
    path = tmp_path / "opened.json"
    path.write_text(json.dumps(DIAGRAM["model"]))
    console.get_by_test_id("file").set_input_files(path)
    expect(console.get_by_test_id("diagram-title")).to_have_text("opened")
    console.get_by_test_id("paste").click()
    console.get_by_test_id("paste-text").fill(json.dumps(DIAGRAM))
    console.get_by_test_id("paste-use").click()
    expect(console.get_by_test_id("diagram-title")).to_have_text("Doorman")


def test_findings_events_and_code_are_shown(console, service):
    service.validate_answer = {
        "valid": False, "errors": ["State 'a' has <b>no</b> name", "Transition r1 leads nowhere"],
        "eventList": ["ReceiveTextEvent"], "agentCode": "def f():\n    return '<img src=x onerror=alert(1)>'  # x\n"}
    console.get_by_test_id("example").first.click()
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("problem")).to_have_text(service.validate_answer["errors"])
    expect(console.get_by_test_id("events")).to_contain_text("ReceiveTextEvent")
    console.get_by_test_id("show-code").click()
    code = console.get_by_test_id("agent-code")
    expect(code).to_have_text(service.validate_answer["agentCode"])
    expect(code.locator(".keyword")).to_have_text(["def", "return"])
    assert code.locator("img").count() == 0
    console.keyboard.press("Escape")
    expect(console.get_by_test_id("code-dialog")).to_be_hidden()


def test_warnings_are_shown_with_a_valid_verdict(console, service):
    """What the command line says about a diagram, the console says too; keys are not sent for it."""
    service.judge_answer["warnings"] = ["The agent has intents but no LLM to recognise them", "<b>State</b> x"]
    console.get_by_test_id("example").first.click()
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("warning")).to_have_text(service.judge_answer["warnings"])
    expect(console.get_by_test_id("valid")).to_contain_text("2 warnings")
    asked = [body for _, path, body in service.requests if path.endswith("validate-diagram")]
    assert len(asked) == 1 and "credentials" not in asked[0]
    service.judge_answer = None  # a service without that route
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("warning")).to_have_count(0)
    expect(console.get_by_test_id("valid")).to_have_text("✓ The diagram is valid.")


@pytest.mark.parametrize("status, detail, shown", [
    (400, "State 'a b': a name has no spaces", ["State 'a b': a name has no spaces"]),
    (429, "Too many sessions of yours", ["Too many sessions of yours"]),
    (503, "The sandbox is unavailable", ["The sandbox is unavailable", "Request "]),
    (422, [{"type": "missing", "loc": ["body", "title"], "msg": "Field required", "input": {}},
           {"type": "dict_type", "loc": ["body", "model"], "msg": "Not an object", "input": 1}],
     ["title: Field required", "model: Not an object"]),
])
def test_a_refused_start_is_explained(console, service, status, detail, shown):
    service.start_error = (status, detail)
    console.get_by_test_id("example").first.click()
    console.get_by_test_id("start").click()
    problems = console.get_by_test_id("problem")
    expect(problems).to_have_count(len(shown))
    for number, text in enumerate(shown):
        expect(problems.nth(number)).to_contain_text(text)
    expect(console.get_by_test_id("status")).to_have_text("No session")
    expect(console.get_by_test_id("chat")).to_contain_text("What stopped it is said on the left")
    expect(console.get_by_test_id("start")).to_be_enabled()


def test_an_unreachable_service_is_explained(console):
    console.get_by_test_id("example").first.click()
    console.route("**/besser_api/**", lambda route: route.abort())
    console.get_by_test_id("validate").click()
    expect(console.get_by_test_id("problem")).to_have_text("The service cannot be reached.")


def test_keys_go_with_the_start_and_nowhere_else(talking, service):
    page, _ = talking
    page.locator(".keys summary").click()
    page.get_by_test_id("key-openai").fill("sk-secret")
    page.get_by_test_id("restart").click()
    wait_until(lambda: len(service.sessions) == 2, 10, "a second session")
    expect(page.get_by_test_id("status")).to_have_text("Live")
    starts = [body for method, path, body in service.requests if path.endswith("/sessions") and method == "POST"]
    assert "credentials" not in starts[0]
    assert starts[1]["credentials"] == {"openAiApiKey": "sk-secret"}
    assert page.evaluate("JSON.stringify([{...localStorage}, document.cookie])") == '[{},""]'
    assert "sk-secret" not in page.evaluate("JSON.stringify(sessionStorage)")
    kept = json.loads(page.evaluate("sessionStorage.getItem('agentsim.session')"))  # for a reload
    assert kept == {"id": service.newest.id, "shown": {"title": "Doorman", "states": ["greet", "talk"], "initial": "greet"},
                    "diagram": {"example": "doorman.json", "origin": "doorman.json"}}
