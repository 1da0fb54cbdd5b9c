"""Sockets are lost at random moments while numbered frames flow: each is seen once, in order."""
from __future__ import annotations

from tests.faults.flow import HOW, Browser, numbers
from tests.faults.scale import Progress, pick

CUTS, FRAMES = pick(50, 1000), pick(1000, 10000)
SETTINGS = {"AGENT_SIMULATOR_SESSION_LIFETIME_SECONDS": "3600"}


def test_sockets_that_are_lost_at_random_lose_no_frame(stack, chance):
    session = stack.create(numbers())
    browser, progress = Browser(stack, session), Progress("cuts", CUTS)
    browser.until_ready()
    browser.ask(FRAMES, pause=0.0005)
    places = sorted(chance.sample(range(1, FRAMES), CUTS))
    for done, place in enumerate(places, 1):
        browser.until(place)
        browser.drop(chance.choice(list(HOW)))
        progress.at(done, f"at frame {place}")
    browser.until(FRAMES)
    browser.ask(1, pause=0)  # and the agent still listens
    browser.until(FRAMES + 1)
    browser.close()
    assert stack.end(session).status == 200
    stack.assert_clean()
