"""Faults by name, at moments drawn by chance: FAULT_SEED=n repeats a run, AGENTSIM_SOAK=1 is the long form."""
from __future__ import annotations

import os
import pathlib
import random
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.stack import SANITIZED  # noqa: E402

collect_ignore = ["test_clock.py"] if SANITIZED else []  # a sanitizer has to be the first that is loaded

# Before the processes that run the tests are made, so that all have the same one.
SEED = int(os.environ.setdefault("FAULT_SEED", str(random.SystemRandom().randrange(1_000_000))))


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"FAULT_SEED={SEED}")


@pytest.fixture
def chance(request):
    """The test's own source of chance."""
    return random.Random(f"{SEED} {request.node.name}")


@pytest.fixture(scope="module")
def stack(request):
    from tests.support.stack import Stack

    with Stack(**getattr(request.module, "SETTINGS", {})) as running:
        yield running
        running.assert_clean(30)
        assert "Sanitizer" not in running.log_text(), running.log_text()[-5000:]
