"""The launcher on machines that offer other things than this one: version 2 only, nothing, nothing that may be
changed, no capability but the five. Each is a mount namespace in which the launcher starts."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile

import pytest

from tests.support import wire
from tests.support.cgroups import Group, below, groups_of, machine, path_of, read_only_trees, trees, without_trees
from tests.support.stack import wait_until
from tests.support.uids import Users
from tests.support.wire import Slots

USERS = Users(64)  # held as long as the tests run
UID = USERS.first
V1, V2, MEMORY, SWAP, PIDS, CPU, KILL, DISK = (1 << i for i in range(8))
NOT_MOUNTED, READ_ONLY = 1 << 16, 1 << 17

FIVE = ["setpriv", "--bounding-set=-all,+setuid,+setgid,+kill,+chown,+dac_override"]
AGENT = "import time\nprint('up', flush=True)\ntime.sleep(600)\n"


@pytest.fixture
def unified():
    """The tree of version 2, mounted for the test where the machine has it nowhere."""
    found = next((tree for version, _, tree in trees() if version == 2), None)
    if found:
        yield found
        return
    folder = tempfile.mkdtemp(prefix="agentsim-cgroup2-")
    subprocess.run(["mount", "-t", "cgroup2", "none", folder], check=True)
    yield pathlib.Path(folder)
    subprocess.run(["umount", "-l", folder], check=True)
    os.rmdir(folder)


def version_2_only():
    return machine("\n".join(f"umount {tree}" for version, _, tree in trees() if version == 1))


def pid_of_agent(holder):
    found = None
    for pid in holder.processes():
        with contextlib.suppress(OSError):  # there for a moment
            if b"agent.py" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found = pid
    return found


def start_agent(slots, slot=0, text=AGENT):
    holder = slots.start(slot)
    control = holder.control()
    holder.run({"agent.py": text})
    wait_until(lambda: pid_of_agent(holder), 20, "the agent runs")
    return holder, control


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    assert groups_of(UID) == []


def test_this_machine_gives_everything():
    with Slots(UID, AGENT_SIMULATOR_MEMORY_MB="300", AGENT_SIMULATOR_DISK_MB="4") as slots:
        assert slots.limits & ~(V1 | V2 | SWAP) == MEMORY | PIDS | CPU | KILL | DISK
        holder, control = start_agent(slots)
        agent = pid_of_agent(holder)
        for controller in ("memory", "pids", "cpu", "freezer"):
            assert path_of(agent, controller).removesuffix("/agent").endswith(f"/agentsim/{UID}/0")
            assert path_of(holder.pid, controller) != path_of(agent, controller), "the holder is not limited"
        files = Group("memory", UID, 0).dir
        assert (files / "cgroup.procs").stat().st_uid == UID
        assert [f.name for f in files.iterdir() if f.stat().st_uid == UID] == ["cgroup.procs"], "and nothing else"
        control.end()
        assert control.gone() == ("stopped", 0)
        slots.stop(0)
        assert not files.exists()


def test_a_session_without_settings_has_ceilings():
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    text = "import os\nst = os.statvfs('.')\nprint('DISK', st.f_blocks * st.f_frsize >> 20, st.f_files, flush=True)\n" + AGENT
    with Slots(UID) as slots:
        holder, _ = start_agent(slots, text=text)
        assert Group("memory", UID, 0).memory_limit() >> 20 == max(256, total // 2)
        with holder.attach() as browser:
            line = next(f["line"] for f in browser.find(lambda f: "DISK" in f.get("line", "")) if "DISK" in f.get("line", ""))
        size, files = map(int, line.split()[1:])
        assert size == max(128, min(1024, total // 16)) and files == size * 64
        slots.stop(0)


def test_version_2_by_itself_holds_and_kills(unified):
    with Slots(UID, wrapper=version_2_only()) as slots:
        assert slots.limits & (V1 | V2 | KILL) == V2 | KILL
        holder, _ = start_agent(slots, 3)
        assert path_of(pid_of_agent(holder), "") == f"/agentsim/{UID}/3/agent"
        assert path_of(holder.pid, "") == f"/agentsim/{UID}/3/holder"
        slots.stop(3)
        assert slots.left_over() == []
        assert not (unified / f"agentsim/{UID}/3").exists()


def test_version_2_leaves_nothing_when_its_launcher_is_killed(unified):
    with Slots(UID, wrapper=version_2_only()) as slots:
        holder, _ = start_agent(slots)
        slots.kill()
        wait_until(lambda: not pathlib.Path(f"/proc/{holder.pid}").exists(), 20, "the holder ends by itself")
        assert groups_of(UID)
        slots.launch()
        wait_until(lambda: slots.connect() or slots.inventory == [0] * slots.n, 30, "all slots are free")
        assert not (unified / f"agentsim/{UID}/0").exists()


@pytest.mark.parametrize("wrapper, why", [(without_trees, NOT_MOUNTED), (read_only_trees, READ_ONLY)],
                         ids=["not mounted", "read-only"])
def test_without_control_groups_sessions_run_and_it_says_why(wrapper, why):
    with Slots(UID, wrapper=wrapper(), AGENT_SIMULATOR_MEMORY_MB="300") as slots:
        assert slots.limits == why | DISK, "which needs none"
        assert "set but not enforced: memory" in slots.log.read_text()
        start_agent(slots)
        slots.stop(0)


def test_five_capabilities_are_enough_and_a_missing_one_costs_the_disk():
    with Slots(UID, wrapper=FIVE, AGENT_SIMULATOR_MEMORY_MB="300", AGENT_SIMULATOR_DISK_MB="4") as slots:
        assert slots.limits & ~(V1 | V2 | SWAP) == MEMORY | PIDS | CPU | KILL
        assert "AGENT_SIMULATOR_DISK_MB is not enforced" in slots.log.read_text()
        holder = slots.start(0)
        control = holder.control()
        holder.run({"agent.py": "kept = []\nwhile True: kept.append(bytearray(1 << 20))\n"})
        assert control.gone() == ("start-failed", signal.SIGKILL)
        slots.stop(0)


def test_a_frozen_session_is_killed_and_its_slot_comes_back():
    with Slots(UID) as slots:
        holder, _ = start_agent(slots)
        group = Group("freezer", UID, 0)
        group.freeze()
        wait_until(group.frozen, 10, "it is frozen")
        slots.stop(0)
        assert holder.processes() == []


def test_a_group_that_somebody_is_in_keeps_the_slot_out_of_use():
    with Slots(UID) as slots:
        slots.start(0)
        group = Group("pids", UID, 0)
        stranger = os.fork()
        if stranger == 0:
            signal.pause()
        try:
            (group.dir / "cgroup.procs").write_text(str(stranger))
            slots.send(wire.STOP, 0)
            if group.version == 1:  # who is not of the session's user is not killed; version 2 kills the group
                assert slots.recv(timeout=60)[:4] == (wire.QUARANTINED, 0, 2, 0)
                assert pathlib.Path(f"/proc/{stranger}").exists()
        finally:
            os.kill(stranger, signal.SIGKILL)
            os.waitpid(stranger, 0)
        slots.until(wire.CLEAN, 0)
        slots.start(0)


def test_an_agent_cannot_leave_its_groups():
    text = ("import json, os\n"
            "def tried(f):\n"
            "    try: f(); return 'worked'\n"
            "    except OSError as e: return e.strerror\n"
            "print('REPORT ' + json.dumps({'sys': tried(lambda: os.listdir('/sys')), 'seen': open('/proc/self/cgroup').read(),\n"
            "  'mounted': 'cgroup' in open('/proc/self/mounts').read(),\n"
            "  'descriptors': sorted(os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if int(n) < 200\n"
            "                        and os.path.exists(f'/proc/self/fd/{n}'))}), flush=True)\n" + AGENT)
    with Slots(UID) as slots:
        holder, _ = start_agent(slots, text=text)
        with holder.attach() as browser:
            line = next(f["line"] for f in browser.find(lambda f: "REPORT" in f.get("line", "")) if "REPORT" in f.get("line", ""))
        assert "No such file" in line and '"mounted": false' in line
        assert "agentsim" not in line.split('"descriptors"')[0], "its groups look like the top"
        assert "cgroup" not in line.split('"descriptors"')[1]
        slots.stop(0)


def test_slots_of_a_former_larger_pool_are_removed():
    for _, controllers, tree in trees():
        if {"memory", "pids"} & set(controllers):
            (tree / f"agentsim/{UID}/77").mkdir(parents=True)
    with Slots(UID) as slots:
        wait_until(lambda: slots.connect() or slots.inventory == [0] * slots.n, 30, "all slots are free")
        assert not any(g.endswith("/77") for g in groups_of(UID))


def self_test(wrapper=(), **settings):
    done = subprocess.run([*wrapper, wire.BUILD / "bin" / "agentsim-launcher", "--self-test"], capture_output=True, text=True,
                          timeout=90, env={"PATH": "/usr/bin:/bin"} | settings, check=False)
    assert done.stderr == "" and done.stdout.count("\n") == 1
    return done.returncode, done.stdout.strip()


def test_the_self_test_says_what_a_start_would_find_and_leaves_nothing():
    settings = {"AGENT_SIMULATOR_MEMORY_MB": "300", "AGENT_SIMULATOR_CPU_CORES": "1", "AGENT_SIMULATOR_DISK_MB": "4",
                "AGENT_SIMULATOR_SESSION_UID_BASE": str(UID)}
    before = sorted(os.listdir("/tmp"))
    with Slots(UID, **settings) as slots:
        code, text = self_test(**settings)
        assert code == 0 and text.endswith("; disk: tmpfs") and "memory" in text
        slots.start(0)  # a service that runs is not disturbed
        slots.stop(0)
    code, text = self_test(without_trees(), **settings)
    assert (code, text) == (1, "none: no control groups are mounted; disk: tmpfs; set but not enforced: memory cpu")
    code, text = self_test(FIVE, **settings)
    assert code == 1 and "; set but not enforced: disk; " in text and "Operation not permitted" in text
    assert self_test(read_only_trees())[0] == 0, "nothing is set, nothing is missing"

    def left():  # another test's self-test may be under way
        yield from (name for name in set(os.listdir("/tmp")) - set(before) if name.startswith("agentsim-limits-"))
        yield from (p for _, _, tree in trees() for p in below(tree) if p.parent.name == "agentsim" and p.name.startswith("self-test"))

    wait_until(lambda: not list(left()), 20, "nothing is left")


def test_doctor_names_the_limits():
    done = subprocess.run([wire.BUILD / "bin" / "agentsim", "doctor", "--json"], capture_output=True, text=True, timeout=120,
                          env={"PATH": "/usr/bin:/bin", "AGENT_SIMULATOR_DISK_MB": "4"}, check=False)
    row = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "limits")
    assert row["state"] == "ok" and row["found"].endswith("; disk: tmpfs")
