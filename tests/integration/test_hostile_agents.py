"""Programs that misbehave: each has the right outcome for the browser, and nothing is left behind."""
import json
import time

import pytest
from websockets.exceptions import ConnectionClosed


AGENT = """
import json, os, sys, threading, time
from websockets.sync.server import serve

def talk(ws):
    ws.send(json.dumps({"action": "agent_reply_str", "message": "hello", "history": False, "timestamp": "", "message_id": None}))
    for text in ws:
        ws.send(json.dumps({"action": "agent_reply_str", "message": "echo " + json.loads(text)["message"], "history": False,
                            "timestamp": "", "message_id": None}))

def listen():
    with serve(talk, "127.0.0.1", 8765) as server:
        server.serve_forever()
"""
READY = AGENT + "\nlisten()\n"


def all_frames(talk, timeout=60):
    """Every frame until the service closes, and the close code."""
    frames = []
    while True:
        try:
            frames.append(talk.next(timeout))
        except ConnectionClosed as closed:
            return frames, closed.rcvd.code if closed.rcvd else 1006


def lines(frames):
    return [f["line"] for f in frames if f.get("type") == "stdout"]


def test_a_plain_program_that_listens_is_an_agent(stack):
    session = stack.create_program(READY)
    with stack.internal_socket(session) as ws:
        assert json.loads(ws.recv(timeout=60))["message"] == "hello"
        ws.send(json.dumps({"action": "user_message", "message": "x"}))
        assert json.loads(ws.recv(timeout=60))["message"] == "echo x"
    assert stack.internal("DELETE", f"/sessions/{session}").status == 200
    stack.assert_clean()


@pytest.mark.parametrize("code, shown", [
    ("import sys; print('cannot go on'); sys.exit(3)", "cannot go on"),
    ("raise RuntimeError('broken at start')", "RuntimeError: broken at start"),
    ("import os, signal; print('going', flush=True); os.kill(os.getpid(), signal.SIGKILL)", "going"),
    ("this is no python", "SyntaxError"),
])
def test_an_agent_that_ends_at_once_shows_its_output_and_an_error(stack, code, shown):
    session = stack.create_program(code)
    with stack.internal_socket(session) as ws:
        frames = []
        with pytest.raises(ConnectionClosed):
            while True:
                frames.append(json.loads(ws.recv(timeout=60)))
    assert shown in "\n".join(lines(frames))
    assert frames[-1]["type"] == "error" and shown in frames[-1]["message"]
    assert sum(f.get("type") == "error" for f in frames) == 1
    stack.assert_clean()


def test_a_megabyte_before_the_agent_listens_arrives_whole(stack):
    session = stack.create_program("import sys\nfor i in range(20000): print('line %05d ' % i + 'x' * 40)\n" + READY)
    with stack.internal_socket(session) as ws:
        frames = []
        while not frames or frames[-1].get("message") != "hello":
            frames.append(json.loads(ws.recv(timeout=60)))
    assert lines(frames) == ["line %05d " % i + "x" * 40 for i in range(20000)]
    stack.internal("DELETE", f"/sessions/{session}")
    stack.assert_clean()


def test_a_megabyte_without_a_line_end_comes_in_parts(stack):
    session = stack.create_program("import sys\nsys.stdout.write('y' * 1000000); sys.stdout.flush()\nsys.exit(0)")
    with stack.internal_socket(session) as ws:
        frames = []
        with pytest.raises(ConnectionClosed):
            while True:
                frames.append(json.loads(ws.recv(timeout=60)))
    assert "".join(lines(frames)) == "y" * 1000000
    assert max(len(line) for line in lines(frames)) <= 65536
    stack.assert_clean()


def test_invalid_utf8_becomes_replacement_characters(stack):
    session = stack.create_program("import sys\nsys.stdout.buffer.write(b'a\\xff\\xc3b\\n'); sys.stdout.flush()\n" + READY)
    with stack.internal_socket(session) as ws:
        frames = []
        while not frames or frames[-1].get("message") != "hello":
            frames.append(json.loads(ws.recv(timeout=60)))
    assert lines(frames) == ["a\ufffd\ufffdb"]
    stack.internal("DELETE", f"/sessions/{session}")
    stack.assert_clean()


@pytest.mark.parametrize("code", [
    "import signal\nfor s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\n",
    "import os, time\nfor _ in range(10):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(1000)\n        os._exit(0)\n",
    "import os, signal\nif os.fork() == 0:\n    os.kill(os.getpid(), signal.SIGSTOP)\n    os._exit(0)\n",
    "import threading, time\nfor _ in range(20): threading.Thread(target=lambda: time.sleep(1000)).start()\n",
], ids=["ignores_sigterm", "double_fork_setsid", "stopped_child", "many_threads"])
def test_ending_a_session_ends_everything_it_started(stack, code):
    session = stack.create_program(code + READY)
    with stack.internal_socket(session) as ws:
        assert json.loads(ws.recv(timeout=60))["message"] == "hello"
        assert stack.session_processes()
        started = time.monotonic()
        assert stack.internal("DELETE", f"/sessions/{session}").status == 200
        assert time.monotonic() - started < 30
    stack.assert_clean()


def test_files_are_listed_without_following_links(stack):
    session = stack.create_program(
        "import os, socket\n"
        "open('kept.txt', 'w').write('content')\n"
        "os.makedirs('deep/er'); open('deep/er/x', 'w').write('1'); os.mkdir('empty')\n"
        "os.symlink('/etc/passwd', 'link'); os.symlink('/', 'root'); os.symlink('deep', 'inside')\n"
        "os.mkfifo('fifo'); socket.socket(socket.AF_UNIX).bind('sock')\n"
        "open('big', 'w').write('z' * 600000); open(b'bad\\xff', 'w').write('?'); open('tmp/hidden', 'w').write('no')\n" + READY)
    with stack.internal_socket(session) as ws:
        assert json.loads(ws.recv(timeout=60))["message"] == "hello"
    reply = stack.internal("GET", f"/sessions/{session}/files")
    assert reply.status == 200
    files = {f["path"]: f["content"] for f in reply.json()["files"]}
    assert files["kept.txt"] == "content" and files["deep/er/x"] == "1"
    assert "600000" in files["big"] and len(files["big"]) < 1000
    assert not {"link", "root", "inside", "fifo", "sock", "tmp/hidden"} & set(files)
    assert not any("passwd" in path or path.startswith(("root/", "inside/")) for path in files)
    assert "empty" in reply.json()["directories"]
    stack.internal("DELETE", f"/sessions/{session}")
    stack.assert_clean()


def test_an_agent_sees_no_network_no_host_files_and_no_secret(stack):
    session = stack.create_program(
        "import json, os, socket\n"
        "def tried(f):\n"
        "    try: f(); return 'worked'\n"
        "    except OSError as e: return e.strerror\n"
        "print('REPORT ' + json.dumps({\n"
        "  'net': sorted(l.split(':')[0].strip() for l in open('/proc/net/dev').read().splitlines()[2:]),\n"
        "  'netlink': tried(socket.if_nameindex), 'vsock': tried(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)),\n"
        "  'out': tried(lambda: socket.create_connection(('192.0.2.1', 80), 3)),\n"
        "  'env': sorted(os.environ), 'values': ' '.join(os.environ.values()), 'uid': os.getuid(),\n"
        "  'shadow': tried(lambda: open('/etc/shadow')), 'state': tried(lambda: os.listdir('/var/lib')),\n"
        "  'pids': sorted(int(p) for p in os.listdir('/proc') if p.isdigit()),\n"
        "  'write': tried(lambda: open('/usr/x', 'w')), 'fds': len(os.listdir('/proc/self/fd'))}), flush=True)\n" + READY,
        env_vars={"OPENAI_API_KEY": "sk-mine"})
    with stack.internal_socket(session) as ws:
        frames = []
        while not frames or frames[-1].get("message") != "hello":
            frames.append(json.loads(ws.recv(timeout=60)))
    stack.internal("DELETE", f"/sessions/{session}")
    seen = json.loads(next(l for l in lines(frames) if l.startswith("REPORT ")).removeprefix("REPORT "))
    assert seen["net"] == ["lo"] and seen["out"] == "Network is unreachable"
    assert seen["netlink"] == seen["vsock"] == "Address family not supported by protocol"
    assert stack.env["AGENT_SIMULATOR_API_TOKEN"] not in seen["values"]
    assert "OPENAI_API_KEY" in seen["env"] and not any(k.startswith("AGENT_SIMULATOR") for k in seen["env"])
    assert stack.uid_base <= seen["uid"] < stack.uid_base + stack.max_sessions
    assert seen["shadow"] != "worked" and seen["state"] != "worked" and seen["write"] == "Read-only file system"
    assert len(seen["pids"]) <= 3 and seen["fds"] <= 5
    stack.assert_clean()
