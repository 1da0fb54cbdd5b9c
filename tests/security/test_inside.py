"""Every attempt of inside/, run in one session that was started as it came and in one that took a sandbox which waited:
stopped by what the table says."""
import pytest

from tests.security.table import load

ATTEMPTS = load()


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda a: a.name)
@pytest.mark.parametrize("who", ["attacker", "warm_attacker"])
def test_stopped(request, who, attempt):
    outcomes = request.getfixturevalue(who)["outcomes"]
    assert attempt.name in outcomes, "it did not run"
    assert outcomes[attempt.name] in attempt.outcomes, attempt.stopped_by
