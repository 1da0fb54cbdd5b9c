"""How much of everything: the short form is part of `make test`, the long one is `make soak`."""
from __future__ import annotations

import os
import sys
import time

LONG = os.environ.get("AGENTSIM_SOAK", "") not in ("", "0")


def pick(short, long):
    return long if LONG else short


class Progress:
    """A line every few seconds in the long form, where somebody waits for hours."""

    def __init__(self, what, total):
        self.what, self.total, self.began, self.told = what, total, time.monotonic(), 0.0

    def at(self, done, more=""):
        now = time.monotonic()
        if LONG and (now - self.told > 5 or done == self.total):
            self.told = now
            print(f"  {self.what}: {done} of {self.total}, {now - self.began:.0f} s {more}", file=sys.stderr, flush=True)
