"""A picture of the console in a conversation, for the README.

    python -m tests.browser.screenshot http://127.0.0.1:8080/ docs/console.png [light|dark]
"""
from __future__ import annotations

import sys

from playwright.sync_api import sync_playwright

from tests.browser.conftest import CHROMIUM, Watched


def main(url, out, scheme="light"):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        watched = Watched(browser, url, color_scheme=scheme)
        page = watched.page
        page.get_by_test_id("example").filter(has_text="Bike rental").click()
        page.get_by_test_id("start").click()
        page.get_by_test_id("options").wait_for(timeout=90000)
        page.get_by_role("button", name="Prices").click()
        page.get_by_test_id("options").nth(1).wait_for()
        page.get_by_role("button", name="Where are you?").nth(1).click()
        page.get_by_test_id("options").nth(2).wait_for()
        page.get_by_role("button", name="Rent a bike").nth(2).click()
        page.get_by_role("button", name="Mountain bike").click()
        page.get_by_test_id("chat").get_by_text("For how many days?").wait_for()
        page.screenshot(path=out)
        page.get_by_test_id("stop").click()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
