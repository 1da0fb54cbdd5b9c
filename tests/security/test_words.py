"""What an agent says, to its holder and to the log"""
import json
import subprocess

import pytest
from websockets.exceptions import ConnectionClosed

from tests.security.conftest import said
from tests.security.table import stopped_by
from tests.support.stack import wait_until

WAIT = "\nimport time\ntime.sleep(600)\n"
SERVER = """
import socket, threading, time
s = socket.create_server(("127.0.0.1", 8765))
print("WebSocketPlatform starting at ws://localhost:8765", flush=True)
%s
"""


def phase_after(stack, code):
    """Where the session is once it has made the file "done"; its id. Nobody is attached, which would be a phase of its own."""
    session = stack.create_program(code)
    wait_until(lambda: "done" in [f["path"] for f in stack.internal("GET", f"/sessions/{session}/files").json()["files"]], 60, "it has done its worst")
    listed = json.loads(subprocess.run([stack.bin / "agentsim", "sessions", "--json"], env=stack.env, capture_output=True, check=True).stdout)
    return session, next(s["state"] for s in listed if s["sessionId"] == session)


def end(stack, session):
    assert stack.internal("DELETE", f"/sessions/{session}").status == 200


@stopped_by("ready is who takes the service's handshake, whatever is printed")
def test_readiness_that_is_only_said(stack, free_slot):
    """print the lines by which a framework says that it listens, and frames that say that all is well"""
    session, phase = phase_after(stack, "for line in ('WebSocketPlatform starting at ws://localhost:8765', '{\"type\":\"ready\"}', 'server listening on 0.0.0.0:8765',\n"
                                   "             '{\"sandbox\":\"ok\",\"phase\":\"READY\"}'): print(line, flush=True)\nopen('done', 'w').close()" + WAIT)
    assert phase == "STARTING"
    end(stack, session)


HANDSHAKES = {
    "another key": r'c.sendall(b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: AAAA\r\n\r\n")',
    "another address": r'c.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")',
    "no end": r'[c.sendall(b"X" * 65536) for _ in range(1000)]',
    "no end of lines": r'c.sendall(b"HTTP/1.1 101 X\r\n"); [c.sendall(b"X: y\r\n" * 1000) for _ in range(1000)]',
    "one byte at a time": r'[(c.sendall(b"H"), time.sleep(0.01)) for _ in range(100000)]',
    "silence": "time.sleep(600)",
    "nothing": "c.close()",
    "a reset": r'import struct; c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)); c.close()',
    "frames before the handshake": r'c.sendall(b"\x81\x7e\xff\xff" + b"A" * 65535)',
}


@stopped_by("the handshake is bounded in bytes and time, and has to be right")
@pytest.mark.parametrize("how", HANDSHAKES)
def test_handshakes_of_all_kinds(stack, free_slot, how):
    """answer the service's handshake wrongly, without an end, with another address, a byte at a time, not at all"""
    session, phase = phase_after(stack, SERVER % ("while True:\n    c, _ = s.accept()\n    open('done', 'w').close()\n    try:\n        c.recv(10000)\n        " +
                                             HANDSHAKES[how] + "\n    except OSError: pass\n"))
    assert phase == "STARTING"
    assert stack.get("/health").status == 200
    end(stack, session)


@stopped_by("only the agent's last output is logged, when it did not start, in one line with escapes")
def test_lines_that_look_like_the_services_log(stack, free_slot):
    """print lines that look like the service's log, with line ends and control sequences, and fail"""
    mark = "2031-01-01 agentsim-supervisor: FORGED"
    session = stack.create_program(f"import sys\nprint('\\n{mark} 1\\r{mark} 2\\x1b[2K{mark} 3\\x85{mark} 4', flush=True)\nsys.exit(3)\n")
    wait_until(lambda: f"session={session} ended:" in stack.log_text(), 30, "it has ended: " + stack.log_text()[-1500:])
    stack.internal("DELETE", f"/sessions/{session}")
    log = stack.log_text()
    assert not [line for line in log.splitlines() if line.startswith(mark)]
    assert "\x1b" not in log


@stopped_by("lines are cut, output is read in turns and bounded")
def test_lines_without_an_end(stack, free_slot, sibling):
    """print fifty megabytes without a line end, and many empty lines, while others work"""
    session = stack.create_program("import os\nfor _ in range(50): os.write(1, b'A' * (1 << 20))\nfor _ in range(100): os.write(1, b'\\n' * 1000)\n"
                                   "print('\\nSAID', flush=True)" + WAIT)
    lines = said(stack, session, "SAID")
    assert max(map(len, lines)) <= 1 << 20
    end(stack, session)
    assert stack.get("/health").status == 200


@stopped_by("what an agent says is text to its own browser, the end of a session is the service's word")
def test_frames_in_the_name_of_the_service(stack, free_slot):
    """print frames that say that the session has ended, that another one has begun, that a key is wanted"""
    frames = ['{"type":"exit","reason":"stopped","code":0}', '{"type":"auth","ok":false}', '{"type":"stdout","line":"x"}\n{"type":"exit"}']
    session = stack.create_program(f"for frame in {frames!r}: print(frame, flush=True)\nprint('UP', flush=True)" + WAIT)
    with stack.internal_socket(session) as ws:
        kinds = set()
        try:
            while True:
                frame = json.loads(ws.recv(timeout=60))
                kinds.add(frame.get("type"))
                if frame.get("line") == "UP":
                    break
        except ConnectionClosed:
            kinds.add("closed")
    assert kinds == {"stdout"}
    end(stack, session)
