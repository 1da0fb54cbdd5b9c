"""agentsim-launcher by itself: slots, users, and that nothing is left."""
import contextlib
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import uuid

import pytest

from tests.support import wire
from tests.support.cgroups import trees
from tests.support.stack import processes_of_uids, wait_until
from tests.support.uids import Users
from tests.support.wire import CLEAN, START, STARTED, STOP, Slots

USERS = Users(192)  # held as long as the tests run
UID = USERS.first + 64  # nobody else's lie right below or above


@pytest.fixture
def slots():
    with Slots(UID) as running:
        yield running


def caps(pid):
    fields = dict(line.split(":\t", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: int(fields[name], 16) for name in ("CapPrm", "CapEff", "CapInh", "CapBnd", "CapAmb")} | {
        "uid": fields["Uid"].split(), "gid": fields["Gid"].split(), "groups": fields["Groups"].split(),
        "no_new_privs": fields["NoNewPrivs"]}


def test_it_keeps_five_capabilities_and_no_more(slots):
    five = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 6 | 1 << 7  # chown, dac_override, kill, setgid, setuid
    has = caps(slots.process.pid)
    assert (has["CapPrm"], has["CapEff"], has["CapBnd"]) == (five, five, five)
    assert (has["CapInh"], has["CapAmb"]) == (0, 0)
    assert has["no_new_privs"] == "1"


def test_a_holder_has_a_user_of_its_own_and_nothing_of_root(slots):
    holder = slots.start(2)
    has = caps(holder.pid)
    assert has["uid"] == has["gid"] == [str(UID + 2)] * 4
    assert has["groups"] == []
    assert (has["CapPrm"], has["CapEff"], has["CapAmb"]) == (0, 0, 0)
    st = holder.dir.stat()
    assert (st.st_uid, st.st_gid, st.st_mode & 0o777) == (UID + 2, UID + 2, 0o700)
    assert slots.state.joinpath("slots").stat().st_mode & 0o777 == 0o711
    environ = pathlib.Path(f"/proc/{holder.pid}/environ").read_bytes()
    assert b"API_TOKEN" not in environ and b"SECRET" not in environ
    slots.stop(2)
    assert slots.left_over() == []


def test_a_busy_slot_and_a_known_session_are_refused(slots):
    holder = slots.start(0)
    slots.send(wire.START, 0, uuid.uuid4())
    assert slots.recv()[:2] == (wire.FAILED, 0)
    slots.send(wire.START, 1, holder.session)
    assert slots.recv()[:2] == (wire.FAILED, 1)
    assert holder.control().actor == "tester"  # it has not been disturbed


def test_stopping_a_free_slot_is_clean_at_once(slots):
    slots.stop(3)


def test_the_end_of_a_holder_is_told(slots):
    holder = slots.start(0)
    os.kill(holder.pid, signal.SIGKILL)
    status, session = slots.until(wire.EXITED, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL and session == holder.session
    slots.stop(0)


def test_slots_that_are_stopped_while_they_start_are_cleaned_and_given_again(slots):
    for _ in range(100):
        for slot in range(3):
            slots.send(START, slot, uuid.uuid4())
            slots.send(STOP, slot)
        clean = set()
        while len(clean) < 3:
            op, slot, *_ = slots.recv()
            assert op in (CLEAN, STARTED)
            clean |= {slot} if op == CLEAN else set()
    for slot in range(3):
        holder = slots.start(slot)
        os.kill(holder.pid, signal.SIGKILL)
        assert slots.until(wire.EXITED, slot)[0] == signal.SIGKILL
        slots.stop(slot)
    assert slots.left_over() == []


def test_a_holder_that_cannot_be_started_leaves_a_clean_slot():
    with Slots(UID, AGENT_SIMULATOR_PROGRAM_DIR="/nonexistent") as slots:
        slots.send(wire.START, 0, uuid.uuid4())
        op, slot, _, value, _ = slots.recv()
        assert (op, slot, value) == (wire.FAILED, 0, 2)
        assert slots.left_over() == []
        slots.stop(0)


@pytest.mark.parametrize("message", [
    b"x", b"x" * 40, struct.pack("=IIIIq16s", wire.MAGIC, 99, 0, 0, 0, bytes(16)),
    struct.pack("=IIIIq16s", wire.MAGIC, wire.START, 1 << 30, 0, 0, bytes(16)),
    struct.pack("=IIIIq16s", wire.MAGIC, wire.STARTED, 0, 0, 0, bytes(16)), b"y" * 41,
])
def test_a_strange_message_ends_the_connection_not_the_launcher(slots, message):
    slots.sock.send(message)
    with pytest.raises(wire.Closed):
        slots.recv()
    slots.connect()
    assert set(slots.inventory) == {0}


def test_a_newer_supervisor_replaces_the_older_and_hears_what_there_is(slots):
    slots.start(1)
    old, slots.sock = slots.sock, None
    slots.connect()
    assert slots.inventory[1] == 1 and slots.inventory.count(0) == slots.n - 1
    assert old.recv(64) == b""
    old.close()


def test_strangers_are_refused(slots):
    program = ("import socket,sys,os\n"
               "os.setgroups([]); os.setresgid(65534,65534,65534); os.setresuid(1,1,1)\n"
               "s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET)\n"
               "s.connect(sys.argv[1]); sys.exit(0 if s.recv(64)==b'' else 7)\n")
    path = str(slots.runtime / "launcher.sock")  # the group may connect, but is not the service's user
    assert subprocess.run([sys.executable, "-c", program, path], timeout=60, check=False).returncode == 0
    slots.stop(0)  # the supervisor's connection has survived


def run_as(uid, program, **how):
    def become():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)

    return subprocess.Popen([sys.executable, "-c", program], preexec_fn=become, start_new_session=True, **how)


def test_everything_of_the_user_is_killed_wherever_it_hides(slots):
    slots.start(0)
    program = ("import os,signal,time\n"
               "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
               "for i in range(30):\n"
               "    if os.fork() == 0:\n"
               "        os.setsid()\n"
               "        if os.fork(): os._exit(0)\n"
               "        time.sleep(600)\n"
               "print('up', flush=True); time.sleep(600)\n")
    with run_as(UID, program, stdout=subprocess.PIPE) as outsider:
        outsider.stdout.readline()
        wait_until(lambda: len(processes_of_uids(UID, UID)) >= 31, 10, "they run")
        slots.stop(0)
        assert outsider.wait(60) == -signal.SIGKILL
    assert slots.left_over() == []


def test_a_fork_storm_is_ended(slots):
    slots.start(0)
    program = ("import os,resource,time\n"
               "resource.setrlimit(resource.RLIMIT_NPROC,(200,200))\n"
               "print('up', flush=True)\n"
               "while True:\n"
               "    try: os.fork()\n"
               "    except OSError: time.sleep(0.001)\n")
    with run_as(UID, program, stdout=subprocess.PIPE) as outsider:
        outsider.stdout.readline()
        wait_until(lambda: len(processes_of_uids(UID, UID)) >= 100, 20, "they multiply")
        slots.stop(0)
    assert slots.left_over() == []


def test_what_cannot_be_killed_keeps_the_slot_out_of_use_until_it_has_gone(slots):
    slots.start(0)
    # Only its effective user is the session's: the sweep sees it, and has no right to signal it.
    program = f"import os,time\nos.setresuid(0,{UID},0)\nprint('up',flush=True)\ntime.sleep(600)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as stubborn:
        stubborn.stdout.readline()
        slots.send(wire.STOP, 0)
        op, slot, state, value, _ = slots.recv(timeout=60)
        assert (op, slot, state, value) == (wire.QUARANTINED, 0, 2, 1)
        slots.send(wire.START, 0, uuid.uuid4())
        assert slots.recv()[0] == wire.FAILED
        slots.start(1)  # others go on meanwhile
        stubborn.kill()
        stubborn.wait()
        slots.until(wire.CLEAN, 0)
    slots.start(0)


def make_tree(folder, uid):
    """What a hostile agent may leave: deep, unreadable, many, links that lead out, names that look like ours."""
    program = ("import os,socket,sys\n"
               "os.chdir(sys.argv[1])\n"
               "os.mkdir('many'); [open(f'many/{i}','w').close() for i in range(3000)]\n"
               "os.mkdir('d0'); os.mkdir('d1'); open('d1/x','w').close(); open('d2','w').close()\n"
               "os.symlink('/etc/passwd','link'); os.symlink('/etc','dir'); os.symlink('.','self')\n"
               "os.mkfifo('fifo'); s=socket.socket(socket.AF_UNIX); s.bind('sock')\n"
               "os.mkdir('shut'); os.mkdir('shut/in'); open('shut/in/f','w').close()\n"
               "os.chmod('shut/in',0); os.chmod('shut',0)\n"
               "os.mkdir('ro'); os.mkdir('ro/a'); os.mkdir('ro/a/b'); open('ro/a/b/c','w').close()\n"
               "os.chmod('ro/a/b',0o555); os.chmod('ro/a',0o555); os.chmod('ro',0o555)\n"
               "for i in range(4000):\n"
               "    os.mkdir('deep'); open('deep/f','w').close(); os.chdir('deep')\n")
    def become():
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    subprocess.run([sys.executable, "-I", "-c", program, "."], cwd=folder, preexec_fn=become, check=True, timeout=60)


def test_any_tree_of_files_is_removed_and_links_are_not_followed(slots):
    holder = slots.start(0)
    outside = slots.folder / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    (outside / "precious").write_text("stays")
    make_tree(holder.dir, UID)
    (holder.dir / "out").symlink_to(outside)
    os.lchown(holder.dir / "out", UID, UID)
    slots.stop(0)
    assert slots.left_over() == []
    assert (outside / "precious").read_text() == "stays"


def test_a_killed_launcher_takes_its_sessions_along_and_the_next_one_cleans():
    five = "--bounding-set=-all,+setuid,+setgid,+kill,+chown,+dac_override"  # no disks, which would be gone with it
    with Slots(UID, wrapper=["setpriv", five]) as slots:
        holder = slots.start(0)
        holder.control()
        make_tree(holder.dir, UID)
        with run_as(UID + 1, "import time; time.sleep(600)"):
            slots.kill()
            wait_until(lambda: not pathlib.Path(f"/proc/{holder.pid}").exists(), 20, "the holder ends by itself")
            assert holder.dir.exists()
            slots.launch()
            wait_until(lambda: slots.connect() or slots.inventory == [0] * slots.n, 30, "all slots are free")
            assert slots.left_over() == []
        slots.start(0)
        slots.stop(0)


def test_a_service_that_would_share_session_users_does_not_start(tmp_path):
    """It would end the other's sessions as leftovers of its own."""
    with Slots(UID) as slots:
        holder = slots.start(0)
        other = {**slots.settings, "AGENT_SIMULATOR_STATE_DIR": str(tmp_path / "state"), "AGENT_SIMULATOR_RUNTIME_DIR": str(tmp_path / "run")}
        for base in (UID, UID + slots.n - 1, UID - slots.n + 1):
            done = subprocess.run([wire.BUILD / "bin" / "agentsim-launcher"], env={"PATH": "/usr/bin:/bin", **other,
                                  "AGENT_SIMULATOR_SESSION_UID_BASE": str(base)}, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 1 and f"another service (process {slots.process.pid})" in done.stderr, done
        assert pathlib.Path(f"/proc/{holder.pid}").exists()
        slots.stop(0)


def test_a_stopped_launcher_ends_its_sessions_first():
    with Slots(UID) as slots:
        for slot in range(3):
            slots.start(slot)
        slots.process.send_signal(signal.SIGTERM)
        assert slots.process.wait(60) == 0
        assert slots.left_over() == []
        assert not (slots.runtime / "launcher.sock").exists()


def test_a_supervisor_that_does_not_read_is_dropped(slots):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            slots.sock.send(struct.pack("=IIIIq16s", wire.MAGIC, wire.STOP, 0, 0, 0, bytes(16)), socket.MSG_DONTWAIT)
        except BlockingIOError:
            time.sleep(0.001)
        except (BrokenPipeError, ConnectionResetError):
            break
    else:
        pytest.fail("it kept the connection")
    slots.connect()


def test_it_does_not_start_without_root():
    done = subprocess.run([wire.BUILD / "bin" / "agentsim-launcher"], user=65534, group=65534, extra_groups=[],
                          env={"AGENT_SIMULATOR_STATE_DIR": "/tmp/agentsim-none", "AGENT_SIMULATOR_USER": "nobody",
                               "AGENT_SIMULATOR_RUNTIME_DIR": "/tmp/agentsim-none"},
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert not pathlib.Path("/tmp/agentsim-none").exists()


def test_stopped_and_traced_processes_are_killed(slots):
    slots.start(0)
    program = ("import os,signal,ctypes,time\n"
               "for i in range(3):\n"
               "    if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)\n"
               "child = os.fork()\n"
               "if child == 0: time.sleep(600)\n"
               "assert ctypes.CDLL(None).ptrace(16, child, 0, 0) == 0\n"  # attached: it stops, and waits for its tracer
               "os.waitpid(child, os.WUNTRACED)\n"
               "print('up', flush=True); os.kill(os.getpid(), signal.SIGSTOP)\n")
    with run_as(UID, program, stdout=subprocess.PIPE) as outsider:
        outsider.stdout.readline()
        wait_until(lambda: states(UID).count("T") >= 4 and "t" in states(UID), 20, "they are stopped")
        slots.stop(0)
        assert outsider.wait(60) == -signal.SIGKILL
    assert slots.left_over() == []


def states(uid):
    found = []
    for pid in processes_of_uids(uid, uid):
        with contextlib.suppress(OSError):
            found.append(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
    return found


@pytest.fixture
def ice():
    """A freezer of version 1: what is frozen there sleeps without an end and does not die, like a process that waits for a
    dead disk."""
    mounted = next((tree for version, controllers, tree in trees() if version == 1 and "freezer" in controllers), None)
    folder = tempfile.mkdtemp(prefix="agentsim-freezer-")
    if not mounted:
        subprocess.run(["mount", "-t", "cgroup", "-o", "freezer", "none", folder], check=True)
    group = (mounted or pathlib.Path(folder)) / f"agentsim-ice-{os.getpid()}"
    group.mkdir()
    yield group
    (group / "freezer.state").write_text("THAWED")
    wait_until(lambda: not (group / "cgroup.procs").read_text(), 20, "it is empty")
    group.rmdir()
    if not mounted:
        subprocess.run(["umount", "-l", folder], check=True)
    os.rmdir(folder)


def test_a_process_that_sleeps_without_an_end_keeps_the_slot_out_of_use(slots, ice):
    slots.start(0)
    with run_as(UID, "import time; print('up', flush=True); time.sleep(600)", stdout=subprocess.PIPE) as sleeper:
        sleeper.stdout.readline()
        (ice / "cgroup.procs").write_text(str(sleeper.pid))
        (ice / "freezer.state").write_text("FROZEN")
        wait_until(lambda: "FROZEN" in (ice / "freezer.state").read_text() and "D" in states(UID), 20, "it sleeps, and is not woken by signals")
        slots.send(wire.STOP, 0)
        slots.stop(3)  # which is free: its answer says that the one before was heard, too
        slots.connect()
        assert slots.values[0] == 1, "it is being cleaned"
        assert slots.recv(timeout=60)[:4] == (wire.QUARANTINED, 0, 2, 1)
        for _ in range(2):  # whether or not it is being tried again
            slots.connect()
            assert (slots.inventory[0], slots.values[0]) == (2, 0), "it is quarantined"
        slots.send(wire.START, 0, uuid.uuid4())
        assert slots.recv()[0] == wire.FAILED
        assert "1 processes cannot be killed, the slot stays out of use" in slots.log.read_text()
        (ice / "freezer.state").write_text("THAWED")
        assert sleeper.wait(60) == -signal.SIGKILL, "it had been told"
        slots.until(wire.CLEAN, 0, timeout=90)
        slots.start(0)
        slots.stop(0)
