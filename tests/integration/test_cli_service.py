"""The operator's and the talker's commands against the whole running service."""

import json
import subprocess

import pytest

from tests.support.stack import BUILD, ROOT, wait_until

AGENTSIM = BUILD / "bin" / "agentsim"


@pytest.fixture
def agentsim(stack):
    def run(*words, text="", timeout=90):
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
    assert report["ok"] and {c["name"] for c in report["checks"]} >= {"namespaces", "bubblewrap", "runtime", "service"}
    assert not [c for c in report["checks"] if c["state"] == "bad"]


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
    out, _err = chat.communicate(timeout=60)
    assert b"(the session is over: stopped" in out and chat.returncode == 0



def test_strangers_are_kept_out(stack):
    done = subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", AGENTSIM, "status"],
                          capture_output=True, encoding="utf-8", env=stack.env)
    assert done.returncode == 1 and "only root and" in done.stderr
