import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.stack import Stack  # noqa: E402

FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture(scope="module")
def stack(request):
    """One private service per test file; a module may set SETTINGS to change its configuration."""
    with Stack(**getattr(request.module, "SETTINGS", {})) as running:
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
