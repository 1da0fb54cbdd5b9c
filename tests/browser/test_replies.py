"""What agents say: every kind of reply, and replies that want to do harm."""
from __future__ import annotations

import base64
import json
import struct

import pytest
from playwright.sync_api import expect


def newest(page):
    return page.get_by_test_id("agent-message").last


def test_text_stays_text(talking):
    page, session = talking
    session.say("<b>a</b>\n  b & c <img src=x onerror=alert(1)>")
    expect(newest(page).locator(".text")).to_have_text("<b>a</b>\n  b & c <img src=x onerror=alert(1)>", use_inner_text=True)
    session.reply("agent_reply_str", {"n": 1})
    expect(newest(page)).to_contain_text('"n": 1')
    session.reply("agent_reply_str", None)
    expect(newest(page)).to_contain_text("null")


def test_markdown_is_formatted(talking):
    page, session = talking
    session.reply("agent_reply_markdown", "# Big\n\nsome **bold** *soft* `code` ~~gone~~ [site](https://example.org/a_(b))\n\n"
                  "- one\n  1. inner\n- two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> said\n\n```py\n<x>\n```\n---\nfirst\nsecond")
    message = newest(page)
    for selector, text in [("h3", "Big"), ("strong", "bold"), ("em", "soft"), ("p code", "code"), ("del", "gone"),
                           ("ul > li ol > li", "inner"), ("td.right, td:last-child", "2"), ("blockquote", "said"), ("pre", "<x>")]:
        expect(message.locator(selector)).to_have_text(text)
    link = message.get_by_role("link", name="site")
    expect(link).to_have_attribute("href", "https://example.org/a_(b)")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(message.locator("hr")).to_have_count(1)
    expect(message.locator("p br")).to_have_count(1)


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](&#106;avascript:alert(1))",
    "[click](java\tscript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "[click](vbscript:x) [click](//evil.example/x) [click](blob:x) [click](file:///etc/passwd)",
    "![x](javascript:alert(1)) ![x](http://evil.example/p.png) ![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![x](data:image/png;base64,AAAA" onerror="alert(1))',
    '[a](https://example.org" onclick="alert(1))',
    "<a href='javascript:alert(1)'>x</a> <iframe src='javascript:alert(1)'></iframe> <svg onload=alert(1)>",
    "<javascript:alert(1)> <style>*{display:none}</style>",
    "| <img src=x onerror=alert(1)> |\n|---|\n| [x](javascript:alert(1)) |",
    "```html\" onmouseover=\"alert(1)\n<script>alert(1)</script>\n```",
    "# <img src=x onerror=alert(1)>\n> <svg onload=alert(1)>\n- <script>alert(1)</script>",
]


def test_hostile_markdown_does_nothing(talking):
    page, session = talking
    for text in HOSTILE:
        session.reply("agent_reply_markdown", text)
    expect(page.get_by_test_id("agent-message")).to_have_count(len(HOSTILE))
    facts = page.get_by_test_id("chat").evaluate("""chat => ({
        active: chat.querySelectorAll("script, iframe, svg, object, embed, style, link, form, base").length,
        handlers: [...chat.querySelectorAll("*")].flatMap(e => [...e.attributes]).filter(a => a.name.startsWith("on")).length,
        links: [...chat.querySelectorAll("a")].map(a => a.protocol),
        pictures: [...chat.querySelectorAll("img")].map(i => i.src),
    })""")
    assert facts["active"] == 0 and facts["handlers"] == 0
    assert set(facts["links"]) <= {"http:", "https:", "mailto:"}
    assert all(src.startswith("data:image/png") for src in facts["pictures"])
    for link in page.locator(".unsafe-link").all():
        link.click()


def test_hostile_markdown_takes_no_time(talking):
    page, session = talking
    for text in ("*a " * 60000, "[" * 190000, "![a](" * 39000, "_a" * 95000, "> " * 90000, "`a``b```" * 24000, "- a\n" * 20000,
                 "# a" + " " * 190000 + "b", "a|b\n-" + " " * 190000 + "x"):
        session.reply("agent_reply_markdown", text)
    session.say("still here")
    expect(newest(page)).to_contain_text("still here", timeout=60_000)


def test_html_runs_nothing_and_reaches_nothing(talking):
    page, session = talking
    session.reply("agent_reply_html", """<h2>Offer</h2><p style="color: rgb(200, 0, 0)">red</p>
        <script>parent.document.title = 'stolen'; alert(1)</script><img src=x onerror="alert(2)">
        <img src="http://evil.example/p.png"><a href="http://evil.example/" target=_top>go</a>
        <form action="http://evil.example/"><button>send</button></form>
        <iframe srcdoc="<script>parent.parent.alert(3)</script>"></iframe><svg onload="alert(4)"></svg>
        <link rel=stylesheet href="http://evil.example/x.css"><meta http-equiv=refresh content="0;url=http://evil.example/">""")
    frame = newest(page).get_by_test_id("html-frame")
    assert frame.get_attribute("sandbox") == ""
    inside = page.frame_locator("[data-testid=html-frame]")
    expect(inside.get_by_role("heading", name="Offer")).to_be_visible()
    expect(inside.get_by_text("red")).to_have_css("color", "rgb(200, 0, 0)")
    expect(inside.locator("body")).to_have_css("margin-top", "0px")  # frame.css has arrived
    inside.get_by_role("link", name="go").click()
    inside.get_by_role("button", name="send").click()
    session.say("after")
    expect(newest(page)).to_contain_text("after")
    assert page.title() == "Doorman · agentsim"
    assert page.url.endswith("/")


def test_a_page_of_html_that_is_too_large_is_shown_raw(talking):
    page, session = talking
    session.reply("agent_reply_html", "x" * 600000)
    expect(newest(page)).to_contain_text("could not be shown")


def test_an_option_is_sent_as_a_message(talking):
    page, session = talking
    session.reply("agent_reply_options", json.dumps({"0": "Yes, \"please\"", "1": "<b>No</b>"}))
    options = page.get_by_test_id("options").get_by_role("button")
    expect(options).to_have_text(['Yes, "please"', "<b>No</b>"])
    options.first.click()
    assert session.wait_for("user_message") == {"action": "user_message", "message": 'Yes, "please"'}
    expect(page.get_by_test_id("user-message").last).to_contain_text('Yes, "please"')
    expect(options.first).to_have_attribute("aria-pressed", "true")


def test_a_location_is_coordinates_and_a_link(talking):
    page, session = talking
    session.reply("agent_reply_location", {"latitude": -33.5, "longitude": 4.25})
    place = page.get_by_test_id("location")
    expect(place).to_contain_text("33.5° S, 4.25° E")
    expect(place.get_by_role("link")).to_have_attribute(
        "href", "https://www.openstreetmap.org/?mlat=-33.5&mlon=4.25#map=15/-33.5/4.25")
    session.reply("agent_reply_location", {"latitude": "1/2&x=", "longitude": None})
    expect(newest(page)).to_contain_text("could not be shown")


def test_a_file_can_be_saved(talking):
    page, session = talking
    session.reply("agent_reply_file", {"name": "../prices<1>.txt", "type": "txt", "base64": base64.b64encode(b"1,50 EUR").decode()})
    with page.expect_download() as download:
        page.get_by_test_id("file-link").click()
    assert download.value.suggested_filename == "prices_1_.txt"
    assert open(download.value.path(), "rb").read() == b"1,50 EUR"


def test_an_image_is_shown(talking):
    page, session = talking
    session.reply("agent_reply_image", "/9j/4AAQSkZJRg==")
    expect(newest(page).locator("img")).to_have_attribute("src", "data:image/jpeg;base64,/9j/4AAQSkZJRg==")
    session.reply("agent_reply_image", 'x" onerror="alert(1)')
    expect(newest(page)).to_contain_text("could not be shown")


def test_tables_are_bounded_and_survive_nan(talking):
    page, session = talking
    session.reply("agent_reply_dataframe", '{"city":{"0":"Lyon","1":"Metz <b>"},"n":{"0":NaN,"1":2.5}}')
    expect(newest(page).locator("tbody tr")).to_have_text(["0Lyon", "1Metz <b>2.5"])
    session.reply("agent_reply_dataframe", json.dumps({"n": {str(i): i for i in range(5000)}}))
    expect(newest(page).locator("tbody tr")).to_have_count(200)
    expect(newest(page)).to_contain_text("5000 rows")


def test_a_figure_is_told_in_words(talking):
    page, session = talking
    session.reply("agent_reply_plotly", json.dumps({
        "data": [{"type": "bar", "name": "rents", "x": ["a", "b"], "y": [1, 2]}], "layout": {"title": {"text": "Per month"}}}))
    figure = page.get_by_test_id("plotly")
    expect(figure).to_contain_text("Per month")
    figure.get_by_text("bar: rents (2 points)").click()
    expect(figure.locator("tbody tr")).to_have_text(["0a1", "1b2"])


def test_an_answer_names_its_sources(talking):
    page, session = talking
    session.reply("agent_reply_rag", {"llm_name": "gpt", "question": "?", "answer": "Yes.",
                                      "docs": [{"content": "It says so.", "metadata": {"source": "manual.pdf", "page": 3}}]})
    answer = page.get_by_test_id("rag")
    expect(answer).to_contain_text("Yes.")
    answer.get_by_text("manual.pdf, page 3").click()
    expect(answer.get_by_text("It says so.")).to_be_visible()


def test_reasoning_shows_steps_and_one_task_list(talking):
    page, session = talking
    session.reply("agent_reply_reasoning_step", {"kind": "tool_result", "step": 1, "summary": "add(1, 2)",
                                                 "details": {"name": "add", "content": "3", "is_error": False}})
    for status in ("pending", "in_progress", "completed"):
        session.reply("agent_reply_task_list_update", [{"id": "1", "description": "add", "status": status, "result": None}])
    expect(page.get_by_test_id("step")).to_contain_text("Tool answered")
    page.get_by_test_id("step").locator("summary").click()
    expect(page.get_by_test_id("step")).to_contain_text('"content": "3"')
    tasks = page.get_by_test_id("tasks")
    expect(tasks).to_have_count(1)
    expect(tasks.locator("li")).to_have_attribute("data-status", "completed")


def test_speech_becomes_playable(talking):
    page, session = talking
    samples = struct.pack("<2400f", *[0.1] * 2400)
    session.reply("agent_reply_audio", {"audio_data_base64": base64.b64encode(samples).decode(),
                                        "metadata": {"sample_rate": 24000, "dtype": "float32", "shape": [2400]}})
    audio = page.get_by_test_id("audio")
    expect(audio).to_be_visible()
    assert audio.evaluate("a => new Promise(r => a.readyState ? r(a.duration) : (a.onloadedmetadata = () => r(a.duration)))") == \
        pytest.approx(0.1)


def test_broken_and_unknown_frames_are_shown_as_they_are(talking):
    page, session = talking
    session.push('{"action":"agent_reply_str","message":NaN}')
    expect(newest(page)).to_contain_text("null")
    session.push("no json <i>at all</i>")
    expect(newest(page)).to_contain_text("no json <i>at all</i>")
    session.push("[1, 2]", {"type": "novelty", "x": 1})
    expect(newest(page)).to_contain_text("novelty")
    session.reply("agent_reply_hologram", "?")
    expect(newest(page)).to_contain_text("agent_reply_hologram")
    session.reply("constructor", "?")
    expect(newest(page)).to_contain_text("Unknown kind")
    for action in ("file", "image", "dataframe", "plotly", "options", "location", "rag", "reasoning_step", "audio", "gui"):
        session.reply(f"agent_reply_{action}", 12)
    expect(page.get_by_text("could not be shown")).to_have_count(10)


def test_a_flood_is_bounded_and_the_page_stays_usable(talking):
    page, session = talking
    frame = json.dumps({"action": "agent_reply_str", "message": "again", "history": False})
    for number in range(10000):
        session.push(frame)
        if number % 5 == 0:
            session.print(f"line {number}")
    session.say("the end")
    expect(newest(page)).to_contain_text("the end", timeout=60_000)
    assert page.get_by_test_id("agent-message").count() <= 1000
    page.get_by_test_id("tab-frames").click()
    assert page.get_by_test_id("frame").count() <= 400
    expect(page.get_by_test_id("frame-count")).to_contain_text("12003 frames")
