from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.fake_backend import FakeService, fake_front

CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync"]

expect.set_options(timeout=30_000)  # on a busy machine

DIAGRAM = {
    "title": "Doorman",
    "description": "Two states and an intent.",
    "model": {
        "type": "AgentDiagram",
        "elements": {
            "i": {"id": "i", "type": "StateInitialNode", "name": ""},
            "a": {"id": "a", "type": "AgentState", "name": "greet", "actions": []},
            "b": {"id": "b", "type": "AgentState", "name": "talk", "actions": []},
        },
        "relationships": {
            "r0": {"id": "r0", "type": "AgentStateTransitionInit", "source": {"element": "i"}, "target": {"element": "a"}},
            "r1": {"id": "r1", "type": "AgentStateTransition", "source": {"element": "a"}, "target": {"element": "b"}},
        },
        "components": {"n": {"id": "n", "type": "AgentIntent", "name": "hello"}},
    },
}


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        yield running
        running.close()


@pytest.fixture(scope="session")
def fake(tmp_path_factory):
    """(Front, setter of its service): one nginx for all tests, a fresh service for each."""
    examples = tmp_path_factory.mktemp("examples")
    (examples / "doorman.json").write_text(json.dumps(DIAGRAM))
    (examples / "empty.json").write_text(json.dumps({**DIAGRAM, "title": "Second_one", "description": ""}))
    service = FakeService()
    with fake_front(service, examples) as front:
        yield front


@pytest.fixture
def service(fake):
    fresh = FakeService()
    fake.fastcgi, fake.websocket = fresh.fastcgi, fresh.websocket
    return fresh


class Watched:
    """A page, and everything that must not happen on it."""

    def __init__(self, browser, url, **options):
        self.context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
        self.context.add_init_script(
            "addEventListener('securitypolicyviolation', e => (window.violations ??= []).push(e.violatedDirective))")
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.dialogs, self.errors, self.foreign = [], [], []
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.origin = "/".join(url.split("/")[:3]) + "/"
        self.page.on("requestfinished", self._request)
        self.page.on("requestfailed", self._request)
        self.page.goto(url)

    def _request(self, request):
        """Requests that the content policy stopped are announced too, but none of them left the browser."""
        ours = (self.origin, self.origin.replace("http", "ws", 1), "data:", "blob:", "about:")
        if not request.url.startswith(ours) and request.failure not in ("csp", "net::ERR_BLOCKED_BY_CSP"):
            self.foreign.append((request.url, request.failure))

    def close(self):
        violations = self.page.evaluate("window.violations ?? []")
        self.context.close()
        assert (self.dialogs, self.errors, self.foreign, violations) == ([], [], [], [])


@pytest.fixture
def console(browser, fake, service):
    """The console in a page of its own; at the end nothing bad may have happened on it."""
    watched = Watched(browser, fake.base_url + "/")
    yield watched.page
    watched.close()


@pytest.fixture
def talking(console, service):
    """A console that is connected to a session; returns (page, session)."""
    console.get_by_test_id("example").first.click()
    console.get_by_test_id("start").click()
    session = service.newest
    session.attached()
    console.locator("[data-testid=status][data-state=live]").wait_for()
    return console, session
