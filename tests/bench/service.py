"""What the parts share about a service that is measured: ours (tests.support.stack.Stack) or the reference's."""
from __future__ import annotations

# A rate that no client here reaches: what is measured is the service, not its patience.
UNLIMITED = {"AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS": "1000000", "AGENT_SIMULATOR_RATE_LIMIT_WINDOW_SECONDS": "1"}


def pids_of(service):
    """The roots of its processes."""
    return service.pids if hasattr(service, "pids") else [service.keeper.pid]
