"""The operator's and the talker's commands against the whole running service."""

import json
import subprocess

import pytest

from tests.support.stack import BUILD, ROOT, wait_until

AGENTSIM = BUILD / "bin" / "agentsim"


@pytest.fixture
def agentsim(stack):
    def run(*words, text="", timeout=240):
        return subprocess.run([AGENTSIM, *words], input=text, capture_output=True, encoding="utf-8", timeout=timeout,
                              env=stack.env, cwd=ROOT)
    return run


def fixture(name):
    return ROOT / "tests" / "fixtures" / "diagrams" / f"{name}.json"


def test_a_word_through_a_pipe_is_answered(stack, agentsim):
    done = agentsim("chat", "--url", f"http://127.0.0.1:{stack.port}", fixture("talk_variables"), text="hi\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["Hello , level .", "You said: hi"]
    assert json.loads(agentsim("sessions", "--json").stdout) == []
    done = agentsim("kill", "all")
    assert (done.returncode, done.stdout) == (0, "no session runs\n")


def test_options_can_be_chosen_by_number(stack, agentsim):
    done = agentsim("chat", "--url", f"http://127.0.0.1:{stack.port}", ROOT / "docs" / "examples" / "bike_rental.json",
                    text="1\n")
    assert "  1) Rent a bike" in done.stdout and "Which bike would you like?" in done.stdout


def test_a_refused_diagram_says_why(stack, agentsim):
    done = agentsim("chat", "--url", f"http://127.0.0.1:{stack.port}", fixture("error_intent_space"))
    assert done.returncode == 1
    assert "HTTP 400" in done.stderr


def test_the_service_tells_how_it_is(agentsim):
    status = json.loads(agentsim("status", "--json").stdout)
    assert status["sandbox"] == "ok" and status["sessions"] == 0 and status["capacity"] == 5
    text = agentsim("status")
    assert text.returncode == 0 and "sandbox      ok" in text.stdout


def test_doctor_ends_with_its_verdict(agentsim):
    done = agentsim("doctor")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "sandbox OK"
    report = json.loads(agentsim("doctor", "--json").stdout)
    checks = {c["name"]: c for c in report["checks"]}
    assert report["ok"] and set(checks) == {"namespaces", "bubblewrap", "seccomp", "kernel", "limits", "egress", "settings", "runtime", "NLTK data",
                                            "programs", "users", "nginx", "disks", "service"}
    assert not [c for c in report["checks"] if c["state"] == "bad"]
    assert all(c["found"] and (c["state"] == "ok") == (c["cure"] == "") for c in report["checks"])
    assert checks["egress"]["found"] == "public: the session's proxy is reached from inside the sandbox"


def doctor(stack, **settings):
    done = subprocess.run([AGENTSIM, "doctor", "--json"], capture_output=True, encoding="utf-8", timeout=240, env={**stack.env, **settings})
    report = json.loads(done.stdout)
    assert (done.returncode == 0) == report["ok"]
    return report["ok"], report["sandbox"], {c["name"]: c for c in report["checks"]}


def test_doctor_tells_limits_that_are_too_low_from_a_missing_runtime(stack):
    ok, why, _ = doctor(stack, AGENT_SIMULATOR_RLIMIT_NPROC="1")
    assert not ok and "raise AGENT_SIMULATOR_RLIMIT_NPROC" in why and "make up" not in why


@pytest.mark.parametrize("settings, state, words", [
    ({"AGENT_SIMULATOR_EGRESS": "allow", "AGENT_SIMULATOR_EGRESS_ALLOW": "10.0.0.0/8:443"}, "ok", "allow: the session's proxy is reached"),
    ({"AGENT_SIMULATOR_EGRESS": "allow", "AGENT_SIMULATOR_EGRESS_ALLOW": "127.1:443"}, "bad", '"127.1:443" is not host:port'),
    ({"AGENT_SIMULATOR_EGRESS": "none"}, "ok", "none: agents reach nothing"),
    ({"AGENT_SIMULATOR_EGRESS": "host"}, "warn", "its loopback included"),
    ({"AGENT_SIMULATOR_SANDBOX": "off"}, "warn", "its loopback included"),
])
def test_doctor_tries_the_way_out(stack, settings, state, words):
    _, _, checks = doctor(stack, **settings)
    assert checks["egress"]["state"] == state and words in checks["egress"]["found"]


def test_a_misspelt_setting_is_named(stack):
    wrong = {"AGENT_SIMULATOR_MEMORYMB": "512"}
    ok, _, checks = doctor(stack, **wrong)
    assert ok and checks["settings"]["state"] == "warn"
    assert "AGENT_SIMULATOR_MEMORYMB, meant may be AGENT_SIMULATOR_MEMORY_MB" in checks["settings"]["found"]
    shown = subprocess.run([AGENTSIM, "config", "memory_mb"], capture_output=True, encoding="utf-8", env={**stack.env, **wrong})
    assert shown.stdout == "0\n" and "AGENT_SIMULATOR_MEMORYMB in the environment is no setting" in shown.stderr
    started = subprocess.run([stack.bin / "agentsim-keeper"], capture_output=True, encoding="utf-8", timeout=240,
                             env={**stack.env, **wrong})  # there is one already
    assert "AGENT_SIMULATOR_MEMORYMB in the environment is no setting and has no effect" in started.stderr


@pytest.mark.parametrize("options, state, words", [
    ("size=100m", "warn", "100 MiB (files of sessions, long answers)"),
    ("size=512k", "bad", "512 KiB (files of sessions, long answers)"),
    ("size=1g,nr_inodes=50", "bad", "1.0 GiB and 49 more files (files of sessions, long answers)"),
    ("size=1g,nr_inodes=500", "warn", "1.0 GiB and 499 more files (files of sessions, long answers)"),
    ("size=1g", "ok", "/mnt/state/of/ours 1.0 GiB"),
])
def test_doctor_names_disks_that_are_nearly_full(stack, options, state, words):
    done = subprocess.run(["unshare", "--mount", "bash", "-c", 'mount -t tmpfs -o "$0" none /mnt; exec "$@"', options,
                           AGENTSIM, "doctor", "--json"], capture_output=True, encoding="utf-8", timeout=240,
                          env={**stack.env, "AGENT_SIMULATOR_STATE_DIR": "/mnt/state/of/ours"})
    disks = {c["name"]: c for c in json.loads(done.stdout)["checks"]}["disks"]
    assert disks["state"] == state and words in disks["found"] and ("df -i" in disks["cure"]) == (state != "ok")


def test_who_looks_after_a_service_with_bad_settings_is_answered(stack, agentsim, tmp_path):
    """The service runs with the settings of its start; the file has been spoilt since."""
    file = tmp_path / "bad.yaml"
    file.write_text("max_sessions: many\nno_such_setting: 1\n")
    said = (f'agentsim: {file}, line 1: AGENT_SIMULATOR_MAX_SESSIONS is "many"; allowed: a whole number from 1 to 4096\n'
            f'agentsim: {file}, line 2: unknown setting "no_such_setting"\n')
    session = stack.create(json.loads(fixture("hello_minimal").read_text()))
    done = agentsim("status", "-c", file)
    assert (done.returncode, done.stderr) == (1, said)
    assert "sessions     1 of 5\n" in done.stdout and "\nsettings     bad: " in done.stdout and "\nsandbox      ok\n" in done.stdout
    status = json.loads(agentsim("status", "--json", "-c", file).stdout)
    assert (status["settings"], status["sandbox"]) == ("bad", "ok")
    assert json.loads(agentsim("status", "--json").stdout)["settings"] == "ok"
    done = agentsim("sessions", "-c", file)
    assert (done.returncode, done.stderr) == (1, said) and session in done.stdout
    done = agentsim("kill", session, "-c", file)
    assert (done.returncode, done.stderr, done.stdout) == (1, said, f"{session} ended\n")
    done = agentsim("reload", "-c", file)
    assert done.returncode == 1 and done.stderr.startswith("agentsim: nothing was changed: ")
    file.write_text("max_sessions: 7\n bad: yaml: here\n")
    done = agentsim("status", "-c", file)
    assert done.returncode == 1 and "bad.yaml, line 2: " in done.stderr and "sandbox      ok" in done.stdout


def test_doctor_goes_on_behind_bad_settings(stack, tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("max_sessions: many\n")
    done = subprocess.run([AGENTSIM, "doctor", "-c", file, "--json"], capture_output=True, encoding="utf-8", timeout=240, env=stack.env)
    report = json.loads(done.stdout)
    checks = {c["name"]: c for c in report["checks"]}
    assert done.returncode == 1 and not report["ok"]
    assert checks["settings"]["state"] == "bad" and 'AGENT_SIMULATOR_MAX_SESSIONS is "many"' in checks["settings"]["found"]
    assert checks["service"]["state"] == "ok" and "would refuse to start: the settings are bad" in report["sandbox"]


def test_doctor_names_what_is_missing(stack):
    done = subprocess.run([AGENTSIM, "doctor"], capture_output=True, encoding="utf-8",
                          env={**stack.env, "AGENT_SIMULATOR_PYTHON": "/nowhere/python"})
    assert done.returncode == 1
    assert "/nowhere/python" in done.stdout and "-> " in done.stdout
    assert done.stdout.splitlines()[-1] != "sandbox OK"


def test_a_session_is_listed_and_can_be_ended(stack, agentsim):
    session = stack.create(json.loads(fixture("hello_minimal").read_text()))
    listed = json.loads(agentsim("sessions", "--json").stdout)
    assert [s["sessionId"] for s in listed] == [session]
    assert session in agentsim("sessions").stdout
    assert agentsim("kill", "00000000-0000-4000-8000-000000000000").returncode == 1
    done = agentsim("kill", session)
    assert done.returncode == 0 and session in done.stdout
    assert json.loads(agentsim("sessions", "--json").stdout) == []


def test_a_chat_is_told_that_its_session_was_ended(stack, agentsim):
    chat = subprocess.Popen([AGENTSIM, "chat", "--url", f"http://127.0.0.1:{stack.port}", fixture("hello_minimal")],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=stack.env)
    wait_until(lambda: any(s["framesSent"] for s in json.loads(agentsim("sessions", "--json").stdout)), 60, "a greeting")
    assert agentsim("kill", "all").returncode == 0
    out, _err = chat.communicate(timeout=180)
    assert b"(the session is over: stopped" in out and chat.returncode == 0



def test_strangers_are_kept_out(stack):
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", AGENTSIM, "status"],
                          capture_output=True, encoding="utf-8", env=stack.env)
    assert done.returncode == 1 and "only root and" in done.stderr
