"""Signing in with GitHub from the console, on the whole chain with an imitation of GitHub."""
from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Watched
from tests.support.fake_github import CLIENT_ID, CLIENT_SECRET, FakeGitHub
from tests.support.stack import Stack

# A cold start imports the runtime first.
START_MS = 90000
CALLBACK = "/besser_api/github/auth/callback"


@pytest.fixture(scope="module")
def github():
    with FakeGitHub() as running:
        yield running


@pytest.fixture(scope="module")
def stack(github):
    service = Stack(AGENT_SIMULATOR_REQUIRE_AUTH="true", AGENT_SIMULATOR_GITHUB_URL=github.url, GITHUB_CLIENT_ID=CLIENT_ID,
                    AGENT_SIMULATOR_GITHUB_API_URL=f"{github.url}/api", GITHUB_CLIENT_SECRET=CLIENT_SECRET)
    service.env["GITHUB_REDIRECT_URI"] = f"http://127.0.0.1:{service.port}{CALLBACK}"
    with service:
        yield service
        service.assert_clean()


@pytest.fixture
def console(browser, stack, github):
    github.reset()
    watched = Watched(browser, f"http://127.0.0.1:{stack.port}/")
    yield watched.page
    watched.foreign = [f for f in watched.foreign if not f[0].startswith(github.url)]
    watched.close()


def sign_in(page):
    page.get_by_test_id("sign-in").click()
    expect(page.get_by_test_id("user")).to_have_text("ada")


def test_a_person_signs_in_runs_an_agent_and_signs_out(console, stack):
    page = console
    expect(page.get_by_test_id("sign-in")).to_have_text("Sign in with GitHub")
    expect(page.get_by_test_id("sign-out")).to_be_hidden()
    sign_in(page)
    assert page.url == f"http://127.0.0.1:{stack.port}/", "nothing of the sign-in stays in the address"
    expect(page.get_by_test_id("sign-in")).to_be_hidden()

    page.get_by_test_id("example").filter(has_text="Bike rental").click()
    page.get_by_test_id("start").click()
    expect(page.get_by_test_id("agent-message").first).to_be_visible(timeout=START_MS)
    frames = page.get_by_test_id("frames")
    page.get_by_test_id("tab-frames").click()
    expect(frames).to_contain_text('"githubSession":"..."')

    page.reload()
    expect(page.get_by_test_id("user")).to_have_text("ada")
    expect(page.get_by_test_id("status")).to_have_text("Live", timeout=START_MS)

    page.get_by_test_id("sign-out").click()
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    expect(page.get_by_test_id("user")).to_be_hidden()
    expect(page.get_by_test_id("status")).to_have_text("Ended")
    assert page.evaluate("JSON.stringify(sessionStorage)").find("signin") < 0
    page.reload()
    expect(page.get_by_test_id("sign-in")).to_be_visible()


def test_without_a_sign_in_a_start_says_so(console):
    page = console
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    page.get_by_test_id("example").first.click()
    page.get_by_test_id("start").click()
    expect(page.get_by_test_id("problems")).to_contain_text("Sign in with GitHub")


def test_a_sign_in_that_ended_elsewhere_is_told(console, stack):
    page = console
    sign_in(page)
    session = page.evaluate("sessionStorage.getItem('agentsim.signin')")
    assert stack.request("POST", f"/besser_api/github/auth/logout?session_id={session}").status == 200
    page.get_by_test_id("example").first.click()
    page.get_by_test_id("validate").click()
    expect(page.get_by_test_id("problems")).to_contain_text("sign in again")
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    expect(page.get_by_test_id("user")).to_be_hidden()


@pytest.mark.parametrize("word, sentence", [("access_denied", "You did not let GitHub"), ("application_suspended", "application_suspended")])
def test_a_refusal_is_told_in_words(console, github, word, sentence):
    github.refusal = word
    console.get_by_test_id("sign-in").click()
    expect(console.get_by_test_id("problems")).to_contain_text(sentence)
    expect(console.get_by_test_id("sign-in")).to_be_visible()
    assert "?" not in console.url


def test_an_id_from_a_strangers_link_counts_only_when_the_person_says_so(console, browser, stack, github):
    sign_in(console)
    session = console.evaluate("sessionStorage.getItem('agentsim.signin')")
    home = f"http://127.0.0.1:{stack.port}/"
    other = Watched(browser, f"{home}?github_session={session}&username=eve%3Cb%3E")
    page = other.page
    expect(page.get_by_test_id("sign-continue")).to_have_text("Continue as ada")
    assert page.url == home
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    page.get_by_test_id("example").first.click()
    page.get_by_test_id("validate").click()
    expect(page.get_by_test_id("problems")).to_contain_text("Sign in with GitHub")
    page.get_by_test_id("sign-continue").click()
    expect(page.get_by_test_id("user")).to_have_text("ada")
    expect(page.get_by_test_id("sign-continue")).to_be_hidden()
    page.get_by_test_id("validate").click()
    expect(page.get_by_test_id("verdict")).to_be_visible()
    other.close()


def test_an_id_that_nobody_has_is_forgotten(browser, stack):
    watched = Watched(browser, f"http://127.0.0.1:{stack.port}/?github_session=%3Cscript%3Ealert(1)%3C/script%3E")
    expect(watched.page.get_by_test_id("sign-in")).to_be_visible()
    expect(watched.page.get_by_test_id("sign-continue")).to_be_hidden()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", watched.page.url)
    watched.close()
