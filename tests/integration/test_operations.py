"""What an operator sees and steers: counters, readiness, reload, drain, the audit lines."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

from tests.support.stack import BUILD, ROOT, TOKEN, Stack, wait_until

GREETER = {"title": "greeter", "model": json.loads((ROOT / "tests/golden/greeter.json").read_text())["model"]}


def agentsim(stack, *words, timeout=60):
    return subprocess.run([BUILD / "bin" / "agentsim", *words], capture_output=True, encoding="utf-8", timeout=timeout,
                          env={k: v for k, v in stack.env.items()}, cwd=ROOT)


def metrics(stack):
    """name{labels} -> value, after a check of the text format line by line."""
    reply = stack.internal("GET", "/metrics")
    assert reply.status == 200 and reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    values, typed = {}, set()
    for line in reply.body.decode().splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in typed, f"{name} twice"
            typed.add(name)
        elif not line.startswith("# HELP "):
            match = re.fullmatch(r'([a-z_]+)(\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})? (\d+(?:\.\d+)?)', line)
            assert match, line
            assert re.sub(r"_(bucket|sum|count)$", "", match[1]) in typed or match[1] in typed, line
            values[match[1] + (match[2] or "")] = float(match[3])
    return values


@pytest.fixture(scope="module")
def stack():
    with Stack(file="rate_limit_max_requests: 1000\n", AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS=None) as s:
        yield s


def test_counters_follow_a_session_from_start_to_end(stack):
    before = metrics(stack)
    session = stack.create(GREETER)
    with stack.talk(session) as talk:
        talk.say("hello")
        talk.reply()
        now = metrics(stack)
        assert now['agentsim_sessions{state="ATTACHED"}'] == 1
        assert now["agentsim_browsers"] == 1
        assert now["agentsim_slots"] == 5 and now["agentsim_slots_free"] == 4
        assert now["agentsim_relay_frames_to_agents_total"] == before["agentsim_relay_frames_to_agents_total"] + 1
        assert now["agentsim_relay_bytes_to_browsers_total"] > before["agentsim_relay_bytes_to_browsers_total"]
    assert stack.end(session).status == 200
    after = metrics(stack)
    started = 'agentsim_starts_total{surface="public",outcome="started"}'
    assert after[started] == before[started] + 1
    assert after["agentsim_ready_seconds_count"] == before["agentsim_ready_seconds_count"] + 1
    assert after['agentsim_ends_total{reason="stopped"}'] == before['agentsim_ends_total{reason="stopped"}'] + 1
    assert after['agentsim_rpc_seconds_count{request="create"}'] >= 1
    assert after["agentsim_workers_running"] == after["agentsim_workers"] == 2
    assert after["agentsim_sandbox_ok"] == 1


def test_browsers_that_come_and_give_way_are_counted_with_what_they_say(stack):
    def moved(before):
        now = metrics(stack)
        return [now[f"agentsim_{name}_total"] - before[f"agentsim_{name}_total"]
                for name in ("attached", "taken_over", "relay_frames_to_agents", "relay_bytes_to_agents")]

    session = stack.create(GREETER)
    before = metrics(stack)
    with stack.talk(session) as first:
        first.reply()
        assert moved(before) == [1, 0, 0, 0]
        with stack.talk(session) as second:
            second.ws.send(said := json.dumps({"action": "user_message", "message": "hello, wörld"}, ensure_ascii=False))
            second.reply()
            assert moved(before) == [2, 1, 1, len(said.encode())]
    wait_until(lambda: not stack.state(session).json()["attached"], 10, "the second has left")
    with stack.talk(session):
        assert moved(before)[:2] == [3, 1]
    stack.end(session)


def post_from(stack, address, path):
    connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60, source_address=(address, 0))
    with contextlib.closing(connection):
        connection.request("POST", path, json.dumps(GREETER), {"Content-Type": "application/json"})
        return connection.getresponse().status


def test_each_limit_counts_for_itself_and_actors_are_counted_once():
    with Stack(file="rate_limit_max_requests: 1000\n", AGENT_SIMULATOR_RATE_LIMIT_MAX_REQUESTS=None, AGENT_SIMULATOR_MAX_SESSIONS="2",
               AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR="1") as own:
        def limited():
            now = metrics(own)
            return [now[f'agentsim_limited_total{{limit="{name}"}}'] for name in ("rate", "owner_cap", "capacity")]

        start, check = "/besser_api/simulation/sessions", "/besser_api/simulation/validate"
        assert metrics(own)["agentsim_rate_actors"] == 0
        session = own.create(GREETER)
        assert metrics(own)["agentsim_rate_actors"] == 1 and limited() == [0, 0, 0]
        assert post_from(own, "127.0.0.1", start) == 429
        assert limited() == [0, 1, 0] and metrics(own)["agentsim_rate_actors"] == 1
        own.create_program("import time\ntime.sleep(600)\n")
        assert post_from(own, "127.0.0.2", start) == 429
        assert limited() == [0, 1, 1] and metrics(own)["agentsim_rate_actors"] == 2
        own.set_file("rate_limit_max_requests: 1\n")
        assert agentsim(own, "reload").returncode == 0
        assert post_from(own, "127.0.0.3", check) == 200 and post_from(own, "127.0.0.3", check) == 429
        assert limited() == [1, 1, 1] and metrics(own)["agentsim_rate_actors"] == 3
        own.end(session)


def test_every_start_has_one_end_with_its_reason(stack):
    """Also where the holder is killed, or goes with its session before it can tell."""
    before = metrics(stack)
    killed = stack.create(GREETER)
    with stack.talk(killed) as talk:
        talk.reply()
        for pid in stack.session_processes():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it goes along with the one before
                if b"agentsim-holder" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)
    waits, dies = stack.create(GREETER), stack.create_program("raise SystemExit(3)")
    wait_until(lambda: stack.state(waits).json()["state"] == "ready", 20, "the agent is ready")
    stack.end(waits)

    def ends():
        now = metrics(stack)
        return {name.split('"')[1]: now[name] - before[name] for name in now
                if name.startswith("agentsim_ends_total") and now[name] > before[name]}

    wait_until(lambda: sum(ends().values()) == 3, 20, f"three ends: {ends()}")
    assert ends() == {"signaled": 1, "stopped": 1, "start-failed": 1}
    stack.internal("DELETE", f"/sessions/{dies}")
    wait_until(lambda: metrics(stack)["agentsim_slots_free"] == 5, 20, "all places are free")
    assert ends() == {"signaled": 1, "stopped": 1, "start-failed": 1}


def test_buckets_never_fall(stack):
    values = metrics(stack)
    series = [v for k, v in values.items() if k.startswith("agentsim_ready_seconds_bucket")]
    assert series == sorted(series) and series[-1] == values["agentsim_ready_seconds_count"]


@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/readyz"])
def test_the_operators_pages_are_not_public_and_want_the_token(stack, path):
    assert stack.get(path).status == 404
    assert stack.internal("GET", path, token="wrong").status == 401
    assert stack.internal("GET", path).status == 200


def test_a_bad_value_is_refused_as_a_whole_and_nothing_changes(stack):
    stack.set_file("rate_limit_max_requests: 2\nsession_lifetime_seconds: 0\n")
    done = agentsim(stack, "reload")
    assert done.returncode == 1 and "SESSION_LIFETIME_SECONDS" in done.stderr, done
    for _ in range(3):
        assert stack.post("/besser_api/simulation/validate", GREETER).status == 200


def test_what_needs_a_restart_is_refused_by_name(stack):
    stack.set_file("rate_limit_max_requests: 2\nmax_sessions: 7\nworkers: 3\n")
    env = dict(stack.env)
    for name in ("AGENT_SIMULATOR_MAX_SESSIONS", "AGENT_SIMULATOR_WORKERS"):
        assert name in env  # the environment wins, so these two do not differ
    assert agentsim(stack, "reload").returncode == 0
    stack.set_file("rate_limit_max_requests: 1000\nmemory_mb: 512\nlog: json\n")
    done = agentsim(stack, "reload")
    assert done.returncode == 1 and "AGENT_SIMULATOR_MEMORY_MB" in done.stderr and "restart" in done.stderr, done
    assert "AGENT_SIMULATOR_LOG" not in done.stderr


def test_a_reload_changes_the_limit_without_a_pause_and_keeps_conversations(stack):
    stack.set_file("rate_limit_max_requests: 1000\n")
    assert agentsim(stack, "reload").returncode == 0
    session = stack.create(GREETER)
    with stack.talk(session) as talk:
        talk.say("hello")
        talk.reply()
        workers = stack.children("agentsim-fcgi")
        supervisor = stack.children("agentsim-supervisor")
        stack.set_file("rate_limit_max_requests: 1\nrate_limit_window_seconds: 3600\n")
        done = agentsim(stack, "reload")
        assert done.returncode == 0, done
        assert stack.get("/health").status == 200
        wait_until(lambda: not set(workers) & set(stack.children("agentsim-fcgi")), 20, "workers start anew")
        assert stack.children("agentsim-supervisor") == supervisor
        reply = stack.post("/besser_api/simulation/validate", GREETER)
        assert reply.status == 429 and int(reply.headers["Retry-After"]) > 3000
        talk.say("hello again")
        talk.reply()
    stack.set_file("rate_limit_max_requests: 1000\n")
    os.kill(stack.keeper.pid, signal.SIGHUP)  # the same by a signal
    wait_until(lambda: stack.post("/besser_api/simulation/validate", GREETER).status == 200, 20, "the limit is wide again")
    stack.end(session)


def test_a_reload_lets_other_pages_read_the_errors_of_nginx_too(stack):
    def origin_allowed(path):
        return stack.get(path, headers={"Origin": "https://new.example"}).headers["Access-Control-Allow-Origin"]

    assert origin_allowed("/nothing") is None and origin_allowed("/besser_api/") is None
    stack.set_file("rate_limit_max_requests: 1000\ncors_origins: https://new.example\n")
    assert agentsim(stack, "reload").returncode == 0
    for path in ("/nothing", "/besser_api/"):
        wait_until(lambda path=path: origin_allowed(path) == "https://new.example", 20, f"{path} says so")
    stack.set_file("rate_limit_max_requests: 1000\n")
    assert agentsim(stack, "reload").returncode == 0
    wait_until(lambda: origin_allowed("/nothing") is None, 20, "not any more")


def test_a_drained_service_takes_no_sessions_and_waits_for_the_last(stack):
    session = stack.create(GREETER)
    drain = subprocess.Popen([BUILD / "bin" / "agentsim", "drain", "--timeout", "60"], env=stack.env, cwd=ROOT,
                             stdout=subprocess.PIPE, encoding="utf-8")
    assert drain.stdout.readline() == "no new sessions are taken\n"
    assert drain.stdout.readline() == "1 session left\n"
    refused = stack.post("/besser_api/simulation/sessions", GREETER)
    assert refused.status == 503 and "no new sessions" in refused.json()["detail"]
    assert stack.internal("GET", "/readyz").status == 503
    assert metrics(stack)["agentsim_draining"] == 1
    assert stack.end(session).status == 200
    assert drain.wait(90) == 0 and "no session is left" in drain.stdout.read()
    assert agentsim(stack, "status").returncode == 1
    assert agentsim(stack, "drain", "--undo").returncode == 0
    assert stack.internal("GET", "/readyz").status == 200
    stack.end(stack.create(GREETER))


def test_a_drain_that_takes_too_long_says_how_many_are_left(stack):
    session = stack.create(GREETER)
    done = agentsim(stack, "drain", "--timeout", "1")
    assert done.returncode == 1 and "1 session is left after 1 s" in done.stderr
    agentsim(stack, "drain", "--undo")
    stack.end(session)


def test_who_started_attached_and_ended_is_on_record(stack):
    session = stack.create(GREETER)
    with stack.talk(session) as talk:
        talk.say("hello")
        talk.reply()
    stack.end(session)

    def on_record():
        return [l for l in stack.log_text().splitlines() if " audit: " in l and f"session={session}" in l]

    wait_until(lambda: "session is gone, reason " in on_record()[-1], 10, "its end is told")
    lines = on_record()
    words = [re.sub(r".* actor=\S+ ", "", l) for l in lines]
    assert words[0].startswith("session starts in slot ")
    assert words[1] == "browser attached" and "browser left" in words
    assert any(w.startswith("session is ended, reason stopped") for w in words)
    assert words[-1].startswith("session is gone, reason ")
    assert all("actor=ip:127.0.0.1 " in l for l in lines)


def test_no_text_of_a_stranger_starts_a_line(stack):
    stack.post("/besser_api/simulation/validate", {"title": "x\n2026-01-01T00:00:00.000Z forged[1] audit: all is well",
                                                  "model": {"type": "AgentDiagram", "elements": {"a\nforged": 1}}})
    stack.get("/besser_api/x%0a2026-01-01T00:00:00.000Z%20forged[1]%20audit:%20x")
    for line in stack.log_text().splitlines():
        assert not line.startswith("2026-01-01T00:00:00.000Z forged"), line


def test_json_lines_are_json_and_carry_their_fields():
    with Stack(AGENT_SIMULATOR_LOG="json") as s:
        session = s.create(GREETER)
        s.end(session)
        records = [json.loads(line) for line in s.log_text().splitlines() if line.startswith("{")]
        audit = [r for r in records if r["level"] == "audit" and r.get("session") == session]
        assert audit and {"time", "program", "pid", "actor", "message"} <= set(audit[0])


def test_the_token_is_in_no_line(stack):
    assert TOKEN not in stack.log_text()
