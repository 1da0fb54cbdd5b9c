import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support import holder as holders  # noqa: E402
from tests.support.stack import Stack  # noqa: E402
from tests.support.wire import Slots  # noqa: E402

FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture(scope="module")
def stack(request):
    """One private service per test file, with interpreters that wait for sessions, as it has unless it is told otherwise;
    a module may set SETTINGS to change its configuration."""
    with Stack(**{"AGENT_SIMULATOR_WARM_POOL": None, **getattr(request.module, "SETTINGS", {})}) as running:
        yield running
        running.assert_clean()


@pytest.fixture(scope="session")
def diagram():
    """diagram("hello_minimal"): the request body of a fixture or of an example."""

    def load(name):
        for folder in (FIXTURES / "diagrams", EXAMPLES):
            path = folder / f"{name}.json"
            if path.exists():
                return json.loads(path.read_text(encoding="utf-8"))
        raise FileNotFoundError(name)

    return load


@pytest.fixture(scope="module")
def slots(request):
    """A private launcher per test file, for tests of a holder by itself; SETTINGS as above."""
    with Slots(holders.UID, **holders.SETTINGS | getattr(request.module, "SETTINGS", {})) as running:
        yield running


@pytest.fixture(scope="module")
def hasty_slots(request):
    """The same with short deadlines, for tests of these."""
    with Slots(holders.UID + 128, **holders.SETTINGS | {"AGENT_SIMULATOR_MAX_SESSIONS": "1", "AGENT_SIMULATOR_READY_SECONDS": "6",
                                                        "AGENT_SIMULATOR_DETACH_SECONDS": "4"}) as running:
        yield running


@pytest.fixture
def hasty(hasty_slots):
    """(holder, control)"""
    running = hasty_slots.start(0)
    with running.control() as control:
        yield running, control
    hasty_slots.stop(0)
    assert running.processes() == [] and not running.dir.exists()


@pytest.fixture
def holder(slots):
    running = slots.start(0)
    yield running
    slots.stop(0)
    assert running.processes() == [] and not running.dir.exists()


@pytest.fixture
def control(holder):
    with holder.control() as c:
        yield c
