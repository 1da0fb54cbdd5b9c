"""GUIs of agents in the console: they look as designed, send their events, and can do nothing else."""
from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.support.stack import ROOT, Stack


def screen(*elements, **members):
    return {"type": "Screen", "name": "Main", "is_main_page": True, "view_elements": list(elements), **members}


def show(talking, *screens, action="agent_reply_gui", message_id="g", **members):
    page, session = talking
    model = {"name": "Rental", "modules": [{"name": "M", "screens": list(screens)}], **members}
    session.reply(action, json.dumps(model), message_id=message_id)
    box = page.get_by_test_id("gui").last
    expect(box).to_be_visible()
    return box


def field(name, kind="Text", **members):
    return {"type": "InputField", "name": name, "component_id": f"{name}-1", "field_type": kind, "label": name.title(), **members}


def event_of(session):
    return session.wait_for("user_gui_event")["message"]


def test_texts_are_texts(talking):
    box = show(talking, screen({"type": "Text", "tag_name": "h2", "content": "<b>Bike</b>"},
                               {"type": "Text", "tag_name": "script", "content": "alert(1)"}))
    expect(box.locator("h2")).to_have_text("<b>Bike</b>")
    expect(box.locator("p.gui-text")).to_have_text("alert(1)")
    assert box.locator("script, b").count() == 0


def test_a_gui_fits_into_a_narrow_conversation(talking):
    page, _ = talking
    page.set_viewport_size({"width": 1100, "height": 700})
    box = show(talking, screen({"type": "Form", "name": "order", "inputFields": [field("name"), field("days", "Number")]}))
    chat, gui = page.get_by_test_id("chat").bounding_box(), box.bounding_box()
    assert gui["width"] > 200 and gui["x"] + gui["width"] < chat["x"] + chat["width"], (gui, chat)


def test_a_form_sends_what_was_typed(talking):
    page, session = talking
    box = show(talking, screen({"type": "Form", "name": "order", "component_id": "f1", "submit_label": "Rent", "inputFields": [
        field("name"), field("days", "Number", min_value=1, required=True), field("helmet", "Checkbox"),
        field("size", "Dropdown", options=[{"label": "Small", "value": "s"}, {"label": "Large", "value": "l"}]),
        field("extras", "CheckboxGroup", options=[{"label": "Lock", "value": "lock"}, {"label": "Bag", "value": "bag"}]),
        field("pay", "RadioGroup", options=[{"label": "Cash", "value": "cash"}, {"label": "Card", "value": "card"}]),
        field("secret", "Hidden", default_value="42")]}))
    box.get_by_label("Name").fill("Ada")
    box.get_by_test_id("gui-submit").click()
    assert not [f for f in session.got if f["action"] == "user_gui_event"], "days are missing, and nothing was sent"
    box.get_by_label("Days").fill("3")
    box.get_by_label("Helmet").check()
    box.get_by_label("Size").select_option("l")
    box.get_by_label("Bag").check()
    box.get_by_label("Card").check()
    box.get_by_test_id("gui-submit").click()
    assert event_of(session) == {"elementId": "f1", "action": "onSubmit", "messageId": "g", "value": {
        "name": "Ada", "days": 3, "helmet": True, "size": "l", "extras": ["bag"], "pay": "card", "secret": "42"}}
    expect(page.get_by_test_id("user-message").last).to_contain_text("name: Ada")
    assert len([f for f in session.got if f["action"] == "user_gui_event"]) == 1, "inputs wait for the submission"


def test_an_input_without_a_form_tells_its_changes(talking):
    _page, session = talking
    box = show(talking, screen(field("city")))
    box.get_by_label("City").fill("Konstanz")
    box.get_by_label("City").press("Tab")
    assert event_of(session) == {"elementId": "city-1", "action": "onChange", "messageId": "g", "name": "city", "value": "Konstanz"}


def test_a_button_outside_of_a_form_submits_its_screen(talking):
    _page, session = talking
    box = show(talking, screen(field("email", "Email"), {
        "type": "Button", "component_id": "send", "label": "Send", "actionType": "Submit Form"}))
    box.get_by_label("Email").fill("no address")
    box.get_by_role("button", name="Send").click()
    box.get_by_label("Email").fill("ada@example.org")
    box.get_by_role("button", name="Send").click()
    assert event_of(session) == {"elementId": "send", "action": "onSubmit", "messageId": "g", "value": {"email": "ada@example.org"}}


def test_buttons_are_events_or_lead_to_screens(talking):
    page, session = talking
    box = show(talking,
               screen({"type": "Button", "component_id": "b1", "label": "Help"},
                      {"type": "Button", "component_id": "b2", "label": "Next", "targetScreen": "Second"}),
               screen({"type": "Text", "content": "the second"}, name="Second", is_main_page=False))
    box.get_by_role("button", name="Help").click()
    assert event_of(session) == {"elementId": "b1", "action": "onClick", "messageId": "g"}
    box.get_by_role("button", name="Next").click()
    expect(box).to_contain_text("the second")
    expect(box.get_by_role("button", name="Second")).to_have_attribute("aria-pressed", "true")
    assert len([f for f in session.got if f["action"] == "user_gui_event"]) == 1


def test_a_press_that_wants_a_confirmation_waits_for_it(talking):
    page, session = talking
    box = show(talking, screen(field("x"), {"type": "Button", "component_id": "b1", "label": "Delete", "confirmation_required": True,
                                            "confirmation_message": "Really?"}))
    box.get_by_role("button", name="Delete").click()
    expect(box.get_by_test_id("gui-button")).to_have_text("Really?")
    box.get_by_label("X").focus()
    expect(box.get_by_test_id("gui-button")).to_have_text("Delete")
    assert not [f for f in session.got if f["action"] == "user_gui_event"]
    box.get_by_role("button", name="Delete").click()
    box.get_by_role("button", name="Really?").click()
    assert event_of(session) == {"elementId": "b1", "action": "onClick", "messageId": "g"}


def test_an_update_takes_the_place_of_the_newest_gui(talking):
    page, session = talking
    show(talking, screen({"type": "Text", "content": "before"}))
    box = show(talking, screen({"type": "Button", "component_id": "b", "label": "after"}), action="agent_reply_gui_update", message_id=None)
    expect(page.get_by_test_id("gui")).to_have_count(1)
    box.get_by_role("button", name="after").click()
    assert event_of(session)["messageId"] == "g"


def test_the_design_chooses_looks_but_only_harmless_ones(talking):
    box = show(talking, screen({"type": "Text", "content": "x", "styling": {
        "size": {"font_size": "20px", "width": "expression(alert(1))", "padding": "4px 8px"},
        "color": {"text_color": "#123456", "background_color": "url(//evil.example/x)"},
        "position": {"position_type": "fixed", "top": "0"}}}))
    style = box.locator(".gui-text").get_attribute("style")
    assert "font-size: 20px" in style and "rgb(18, 52, 86)" in style and "padding: 4px 8px" in style
    assert "url" not in style and "width" not in style and "fixed" not in style


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "//evil.example", " javascript:alert(1)"])
def test_links_that_would_run_something_do_not(talking, url):
    box = show(talking, screen({"type": "Link", "label": "click", "url": url},
                               {"type": "EmbeddedContent", "description": "film", "source": url}))
    assert box.locator("a, iframe").count() == 0


def test_pictures_from_elsewhere_are_named_not_loaded(talking):
    box = show(talking, screen({"type": "Image", "source": "https://evil.example/pixel.png", "description": "a pixel"}))
    expect(box).to_contain_text("a pixel")
    assert box.locator("img").count() == 0


def test_odd_designs_are_bounded(talking):
    deep = {"type": "Text", "content": "bottom"}
    for _ in range(200):
        deep = {"type": "ViewContainer", "view_elements": [deep]}
    wide = [{"type": "Text", "content": "w"} for _ in range(5000)]
    box = show(talking, screen(deep), screen(*wide, None, 7, "x", {"type": "constructor"}, {"type": "__proto__"}, name="W"))
    box.get_by_role("button", name="W", exact=True).click()
    assert box.locator(".gui-text").count() <= 2000
    for modules in (None, 3, [None], [{"screens": 3}], [{"screens": [None, 7]}]):
        show(talking, modules=modules)


def test_every_kind_of_element_shows_something(talking):
    kinds = ["Alert", "Menu", "DataList", "LineChart", "BarChart", "PieChart", "RadarChart", "RadialBarChart", "Table",
             "MetricCard", "Map", "AgentComponent", "ViewComponent", "Novelty"]
    box = show(talking, screen(*[{"type": k, "name": f"n{k}", "title": f"t{k}", "content": f"c{k}", "agent_title": f"t{k}",
                                  "series": [{"name": "s"}], "columns": [{"label": "col"}], "menuItems": [{"label": "m", "url": "#x"}],
                                  "list_sources": [{"name": "src"}]} for k in kinds]))
    for text in ("tAlert", "cAlert", "m", "src", "tLineChart", "col", "tMetricCard", "tMap", "tAgentComponent", "nViewComponent", "nNovelty"):
        expect(box).to_contain_text(text)


@pytest.fixture(scope="module")
def stack():
    with Stack() as running:
        yield running


def test_a_drawn_form_drives_a_real_agent(browser, stack, tmp_path):
    """Diagram, compiler, sandbox, relay, console and back: a submitted form follows its transition."""
    watched = Watched(browser, f"http://127.0.0.1:{stack.port}/")
    page = watched.page
    page.get_by_test_id("paste").click()
    page.get_by_test_id("paste-text").fill((ROOT / "tests/fixtures/diagrams/talk_form.json").read_text())
    page.get_by_test_id("paste-use").click()
    page.get_by_test_id("start").click()
    box = page.get_by_test_id("gui")
    expect(box).to_be_visible(timeout=90_000)
    expect(box.locator("h2")).to_have_text("Join us")
    box.locator("input[type=email]").fill("ada@example.org")
    box.get_by_role("button", name="Send").click()
    expect(page.get_by_test_id("agent-message").last).to_contain_text("Welcome ada@example.org", timeout=60_000)
    page.get_by_test_id("stop").click()
    expect(page.get_by_test_id("status")).to_have_text("Ended")
    watched.close()
