"""Programs and their files, as they come in"""
import pathlib
import uuid

import pytest

from tests.security.table import stopped_by

PATHS = "paths are checked twice: by the worker, and by the holder, which opens them beneath the work directory"


def send(stack, **members):
    body = {"session_id": str(uuid.uuid4()), "agent_code": "print('x')", "config_yaml": "", "env_vars": {}, "event_list": [], "support_files": {},
            "workspace_paths": [], **members}
    reply = stack.internal("POST", "/sessions", body)
    stack.internal("DELETE", f"/sessions/{body['session_id']}")
    return reply


@stopped_by(PATHS)
@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "a/..", "..\\x", "a\\..\\..\\x", "", ".", "/", "//", "a\0b", "a" * 256, "a/" * 3000, "C:..\\x"])
def test_paths_that_leave(stack, free_slot, path):
    """support files and workspaces with paths that leave the work directory, or are none"""
    assert send(stack, support_files={path: "evil"}).status in (400, 422), path
    assert send(stack, workspace_paths=[path]).status in (400, 422) or path in ("", ".", "/", "//"), path


@stopped_by(PATHS)
@pytest.mark.parametrize("path, inside", [("/etc/cron.d/evil", "etc/cron.d/evil"), ("C:\\evil\\x", "evil/x"), ("\\\\host\\share\\x", "host/share/x"),
                                          ("./a//b", "a/b")])
def test_absolute_paths(stack, free_slot, path, inside):
    """support files with absolute paths, drives and shares: they land in the work directory"""
    session = stack.create_program("import time\nprint('up', flush=True)\ntime.sleep(60)", support_files={path: "evil"})
    try:
        files = {f["path"]: f["content"] for f in stack.internal("GET", f"/sessions/{session}/files").json()["files"]}
        assert files[inside] == "evil"
        assert not pathlib.Path("/etc/cron.d/evil").exists()
    finally:
        stack.internal("DELETE", f"/sessions/{session}")


@stopped_by("ids are parsed, not used as text")
@pytest.mark.parametrize("session", ["../../etc", "", "x" * 36, "00000000-0000-0000-0000-00000000000/", "3f2c1b6e-0d41-4c39-9d1e-5a7f7d0b8a11\n"])
def test_session_ids(stack, free_slot, session):
    """session ids that are paths"""
    assert send(stack, session_id=session).status in (400, 422)


@stopped_by("names of variables are checked; some are the service's")
@pytest.mark.parametrize("name", ["", "A=B", "A B", "1A", "A\0B", "HOME", "BESSER_WS_PORT", "PYTHONUNBUFFERED", "é", "A\nB"])
def test_names_of_variables(stack, free_slot, name):
    """variables with names that would be another variable, or replace the service's"""
    assert send(stack, env_vars={name: "x"}).status in (400, 422), name


@stopped_by("the sandbox program gets an environment of its own")
def test_loader_variables(stack, free_slot):
    """LD_PRELOAD and the like, for the program that builds the sandbox: it never sees them"""
    from tests.security.conftest import pids_of, said, slot_of, uid_of_slot

    session = stack.create_program("import time\nprint('up', flush=True)\ntime.sleep(60)", env_vars={"LD_PRELOAD": "/work/evil.so", "LD_AUDIT": "/work/evil.so"},
                                   support_files={"evil.so": "no library"})
    try:
        said(stack, session, "up")
        pids = pids_of(stack, uid_of_slot(stack, slot_of(stack, session)))
        for name in ("bubblewrap", "holder"):
            assert b"LD_" not in pathlib.Path(f"/proc/{pids[name]}/environ").read_bytes()
            assert "evil.so" not in pathlib.Path(f"/proc/{pids[name]}/maps").read_text()
    finally:
        stack.internal("DELETE", f"/sessions/{session}")
