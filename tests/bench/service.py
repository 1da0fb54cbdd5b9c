"""What the parts share about a service that is measured: ours (tests.support.stack.Stack) or the reference's."""
from __future__ import annotations

# A rate that no client here reaches: what is measured is the service, not its patience.
UNLIMITED = {"AGENT_SIMULATOR_WARM_POOL": "0", "AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS": "1000000", "AGENT_SIMULATOR_RATE_LIMIT_WINDOW_SECONDS": "1"}


def pids_of(service):
    """The roots of its processes."""
    return service.pids if hasattr(service, "pids") else [service.keeper.pid]


def open_session(stack):
    """A session of the echo program on our internal surface, and its socket, warm and silent."""
    from tests.bench.diagrams import ECHO_PROGRAM
    from tests.bench.wire import Socket
    from tests.support.stack import TOKEN

    session = stack.create_program(ECHO_PROGRAM)
    w = Socket(f"/sessions/{session}/ws", stack.internal_port, [("X-Agent-Simulator-Token", TOKEN)])
    w.send(b"warm")
    w.skip_until(b"warm")
    w.quiet(0.3)
    return session, w
