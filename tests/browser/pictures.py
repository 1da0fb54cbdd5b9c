"""Pictures of conversations for docs/agent-language.md, of a service of their own with a scripted model.

    python -m tests.browser.pictures docs
"""
from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import CHROMIUM, Watched
from tests.support.draw import Diagram, llm, tool
from tests.support.stack import ROOT, Stack, free_port

START_MS = 90000
SIZE = {"width": 1180, "height": 760}
# What a model would do; the one of the tests does as it is told.
RULES = [{"match": "two days", "tool_calls": [{"name": "free_bikes", "arguments": {"day": "Saturday"}},
                                              {"name": "price", "arguments": {"days": 2, "bikes": 3}}],
          "say": "Yes: three city bikes are free on Saturday. Two days cost 72 € together."},
         {"match": ".*", "say": "Hello! Ask me for bikes, days and prices."}]


def bike_desk(base_url):
    d = Diagram("Bike_desk", llm("clever", base_url=base_url, api_key="any"),
                tool("free_bikes", "def free_bikes(day: str) -> str:\n    return '4 city bikes, 1 mountain bike'\n", "Bikes that are free on a day"),
                tool("price", "def price(days: int, bikes: int) -> str:\n    return f'{12 * days * bikes} €'\n", "What bikes cost"))
    desk = d.reasoning("desk", max_steps=6, stream_steps=True)
    d.go(desk, desk, "when_no_intent_matched")
    return d.request()


def picture(browser, url, out, talk):
    watched = Watched(browser, url)
    watched.page.set_viewport_size(SIZE)
    talk(watched.page)
    watched.page.screenshot(path=out)
    watched.page.get_by_test_id("stop").click()
    watched.close()


def start(page):
    page.get_by_test_id("start").click()
    expect(page.get_by_test_id("agent-message").first).to_be_visible(timeout=START_MS)


def form(page):
    page.get_by_test_id("example").filter(has_text="Rowing club").click()
    start(page)
    box = page.get_by_test_id("gui").last
    expect(box).to_be_visible()
    box.get_by_label("Your name").fill("Noor Haddad")
    box.get_by_label("E-mail").fill("noor@example.org")
    box.get_by_label("Boat").select_option(index=1)
    box.get_by_role("button", name="Join").click()
    expect(page.get_by_test_id("agent-message").last).to_contain_text("you are a member now")


def reasoning(request):
    def talk(page):
        with tempfile.TemporaryDirectory() as place:
            file = pathlib.Path(place) / "bike_desk.json"
            file.write_text(json.dumps(request))
            page.get_by_test_id("file").set_input_files(file)
            expect(page.get_by_test_id("diagram-title")).to_have_text("Bike desk")
            start(page)
        page.get_by_test_id("message").fill("Are three bikes free for two days, from Saturday on?")
        page.get_by_test_id("message").press("Enter")
        expect(page.get_by_test_id("chat").get_by_text("72 € together")).to_be_visible()
    return talk


def main(folder):
    folder, port = pathlib.Path(folder), free_port()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as rules:
        json.dump(RULES, rules)
        rules.flush()
        model = subprocess.Popen([sys.executable, ROOT / "tests" / "support" / "fake_llm.py", "--host", "127.0.0.2", "--port", str(port),
                                  "--script", rules.name], stdout=subprocess.PIPE, text=True)
        address = re.search(r"http://\S+", model.stdout.readline()).group(0)
        try:
            with Stack(AGENT_SIMULATOR_EGRESS="allow", AGENT_SIMULATOR_EGRESS_ALLOW=f"127.0.0.2:{port}") as stack, sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
                url = f"http://127.0.0.1:{stack.port}/"
                picture(browser, url, folder / "agent-form.png", form)
                picture(browser, url, folder / "agent-reasoning.png", reasoning(bike_desk(address)))
                browser.close()
        finally:
            model.terminate()
            model.wait(10)


if __name__ == "__main__":
    main(*sys.argv[1:])
