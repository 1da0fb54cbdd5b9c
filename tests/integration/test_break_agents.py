"""Programs and requests made to keep a place of the service, or to hide what they left."""
import uuid

import pytest

from tests.integration.test_hostile_agents import AGENT, READY

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "2", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "2"}


def post_program(stack, **changes):
    body = {"session_id": str(uuid.uuid4()), "agent_code": READY, "config_yaml": "", "env_vars": {}, "event_list": [],
            "support_files": {}, "workspace_paths": []}
    return stack.internal("POST", "/sessions", {**body, **changes})


@pytest.mark.parametrize("changes", [
    {"support_files": {"a": "a file", "a/b": "cannot be in it"}},
    {"support_files": {"tmp": "is a directory of the session"}},
    {"env_vars": {"HOME": "/elsewhere"}},
])
def test_a_start_that_fails_keeps_no_place(stack, changes):
    for _ in range(2 * stack.max_sessions):
        reply = post_program(stack, **changes)
        assert reply.status == 400, reply
        stack.assert_clean(5)


def test_a_closed_work_directory_has_an_empty_listing_and_is_removed(stack):
    session = stack.create_program(AGENT + "os.mkdir('d'); os.chmod('d', 0); os.chmod('.', 0)\nlisten()\n")
    with stack.internal_socket(session) as ws:
        assert "hello" in ws.recv(timeout=60)
    reply = stack.internal("GET", f"/sessions/{session}/files")
    assert reply.status == 200 and reply.json() == {"files": [], "directories": [], "truncated": True}
    assert stack.internal("DELETE", f"/sessions/{session}").status == 200
    stack.assert_clean()
