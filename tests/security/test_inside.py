"""Every attempt of inside/, run in one session: stopped by what the table says."""
import pytest

from tests.security.table import load

ATTEMPTS = load()


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda a: a.name)
def test_stopped(attacker, attempt):
    assert attempt.name in attacker["outcomes"], "it did not run"
    assert attacker["outcomes"][attempt.name] in attempt.outcomes, attempt.stopped_by
