"""The page itself: what a keyboard and a screen reader find on it, small windows, dark ones, very long lines."""
from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched

# Everything that can be operated, and regions, with the name that a screen reader says; "" for those without.
NAMES = """() => [...document.querySelectorAll(
    'button, a[href], input:not([type=file]), textarea, select, summary, [role=log], [role=tabpanel], [role=group], [role=tablist], main > section, iframe, img')]
  .filter((e) => e.checkVisibility())
  .map((e) => [e.outerHTML.slice(0, 120), e.computedName ?? (
    e.getAttribute('aria-label') || e.title || e.textContent.trim() || e.getAttribute('alt') !== null && 'alt'
    || [...(e.labels ?? [])].map((l) => l.textContent.trim()).join()
    || document.getElementById(e.getAttribute('aria-labelledby'))?.textContent.trim())])"""
# Boxes that scroll have to be reachable without a mouse.
STUCK = """() => [...document.querySelectorAll('*')]
  .filter((e) => e.checkVisibility() && e.scrollHeight > e.clientHeight + 1 && ['auto', 'scroll'].includes(getComputedStyle(e).overflowY))
  .filter((e) => e.tabIndex < 0 && !e.querySelector('button, a[href], input, textarea, select, summary, [tabindex="0"], iframe'))
  .map((e) => e.outerHTML.slice(0, 120))"""


def full(page, session):
    """Something of everything on the page."""
    session.enter("greet")
    session.say("hello")
    session.reply("agent_reply_options", json.dumps(["a", "b"]))
    session.reply("agent_reply_markdown", "# Hi\n\n- [x](https://example.org)\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    session.reply("agent_reply_html", "<b>hi</b>")
    session.reply("agent_reply_dataframe", '{"city":{"0":"Lyon"}}')
    for number in range(200):
        session.print(f"line {number}")
        session.enter(["greet", "talk"][number % 2])
    session.say("the end")
    expect(page.get_by_test_id("agent-message").last).to_contain_text("the end")


def test_everything_has_a_name_and_can_be_reached(talking):
    page, session = talking
    full(page, session)
    page.locator(".keys summary").click()
    page.get_by_test_id("paste").click()
    page.get_by_test_id("variable").click()
    page.get_by_test_id("validate").click()
    for tab in ("trace", "output", "frames", "files"):
        page.get_by_test_id(f"tab-{tab}").click()
        expect(page.get_by_test_id(tab)).to_be_visible()
        assert [html for html, name in page.evaluate(NAMES) if not name] == []
        assert page.evaluate(STUCK) == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
    assert page.evaluate("[...document.querySelectorAll('[aria-controls], [aria-labelledby]:not(dialog)')].every((e) => "
                         "document.getElementById(e.getAttribute('aria-controls') ?? e.getAttribute('aria-labelledby')))")


def test_a_conversation_by_keyboard_alone(console, service):
    keyboard = console.keyboard

    def press_until(key, condition):
        for _press in range(60):
            if console.evaluate(f"() => {{ const e = document.activeElement; return {condition}; }}"):
                return
            keyboard.press(key)
        raise AssertionError(f"{condition} is never reached")

    console.get_by_test_id("example").first.wait_for()
    press_until("Tab", "e.matches('.example')")
    keyboard.press("Enter")
    press_until("Tab", "e.id === 'start'")
    keyboard.press("Space")
    session = service.newest
    session.attached()
    session.on_message = lambda s, frame: s.say(f"You said {frame['message']}")
    expect(console.get_by_test_id("message")).to_be_enabled()
    press_until("Tab", "e.id === 'message'")
    keyboard.type("hello")
    keyboard.press("Enter")
    expect(console.get_by_test_id("agent-message")).to_contain_text("You said hello")
    session.reply("agent_reply_options", json.dumps(["yes", "no"]))
    console.get_by_test_id("options").wait_for()
    press_until("Shift+Tab", "e.textContent === 'yes'")
    keyboard.press("Enter")
    assert session.wait_for("user_message")
    press_until("Tab", "e.id === 'tab-trace'")
    keyboard.press("ArrowRight")
    expect(console.get_by_test_id("output")).to_be_visible()
    press_until("Shift+Tab", "e.id === 'stop'")
    keyboard.press("Enter")
    expect(console.get_by_test_id("status")).to_have_text("Ended")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_needs_no_scrolling_sideways(browser, fake, service, scheme):
    watched = Watched(browser, fake.base_url + "/", color_scheme=scheme)
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 640})
    page.get_by_test_id("example").first.click()
    page.get_by_test_id("start").click()
    session = service.newest
    session.attached()
    full(page, session)
    session.say("a" * 3000)
    session.print("b" * 3000)
    session.reply("agent_reply_dataframe", json.dumps({f"column {n}": {"0": "value"} for n in range(30)}))
    expect(page.get_by_test_id("dataframe").last).to_be_visible()
    for tab in ("trace", "output", "frames", "files"):
        page.get_by_test_id(f"tab-{tab}").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    colors = page.evaluate("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
                           ".map((c) => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0))")
    assert (colors[0] > colors[1]) == (scheme == "light")
    watched.close()


def test_very_long_lines_are_cut_in_the_panes_and_whole_in_the_conversation(talking):
    page, session = talking
    session.print("o" * 60000)
    session.say("m" * 3000000)
    session.say("the end")
    expect(page.get_by_test_id("agent-message")).to_have_count(2)
    assert page.get_by_test_id("agent-message").first.locator(".text").evaluate("e => e.textContent.length") == 3000000
    page.get_by_test_id("tab-output").click()
    expect(page.get_by_test_id("output-lines")).to_contain_text("(60000 characters)")
    page.get_by_test_id("tab-frames").click()
    page.get_by_test_id("frame").nth(-2).locator("summary").click()
    expect(page.get_by_test_id("frame").nth(-2).locator("pre")).to_contain_text("more characters")
