"""A full service and clients that are willing to wait: Prefer: wait=N."""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import re
import time

from tests.support.stack import children_of, kill, wait_until

SETTINGS = {"AGENT_SIMULATOR_MAX_SESSIONS": "1", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "1", "AGENT_SIMULATOR_WORKERS": "1",
            "AGENT_SIMULATOR_DETACH_SECONDS": "20"}
PATH = "/besser_api/simulation/sessions"
SLEEPER = "import time\ntime.sleep(1000)\n"


def ask(stack, body, wait):
    return stack.request("POST", PATH, body, headers={"Prefer": f"wait={wait}"}, timeout=120)


def queue_length(stack):
    return int(re.search(r"^agentsim_queue_length (\d+)", stack.internal("GET", "/metrics").body.decode(), re.M).group(1))


def hang_up_later(stack, body, wait):
    """The request under way on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", stack.port)
    connection.request("POST", PATH, json.dumps(body), {"Content-Type": "application/json", "Prefer": f"wait={wait}"})
    return connection


def worker(stack):
    return stack.children("agentsim-fcgi")[0]


def test_whoever_waits_gets_the_place_while_the_only_worker_serves_others(stack, diagram):
    first = stack.create_program(SLEEPER)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ask, stack, diagram("hello_minimal"), 50)
        wait_until(lambda: queue_length(stack) == 1, 20, "it waits")
        assert stack.get("/health").status == 200 and stack.state(first).status == 404  # the worker is free
        assert not waits.done()
        assert stack.internal("DELETE", f"/sessions/{first}").status == 200
        reply = waits.result()
    assert reply.status == 200 and reply.headers["Preference-Applied"] == "wait=50"
    with stack.talk(reply.json()["sessionId"]) as talk:
        assert talk.reply()
    assert stack.end(reply.json()["sessionId"]).status == 200
    wait_until(lambda: stack.get("/health").status == 200 and waiting_children(stack) == 0, 10, "its process is gone")


def waiting_children(stack):
    """Processes that wait for a client: children of a worker that run the worker's program."""
    found = 0
    for pid in children_of(worker(stack)):
        with contextlib.suppress(OSError):  # it ends meanwhile
            found += b"agentsim-fcgi" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    return found


def test_a_wait_in_vain_ends_with_a_place_in_line_and_an_exact_retry_after(stack, diagram):
    first = stack.create_program(SLEEPER)
    started = time.monotonic()
    reply = ask(stack, diagram("hello_minimal"), 1)
    assert reply.status == 429 and reply.headers["Preference-Applied"] == "wait=1"
    assert 0.9 < time.monotonic() - started < 20
    body = reply.json()
    assert body["position"] == 1 and "number 1" in body["detail"]
    assert 800 < int(reply.headers["Retry-After"]) <= 900  # when the session's lifetime is over
    plain = stack.post(PATH, diagram("hello_minimal"))
    assert plain.status == 429 and "Preference-Applied" not in plain.headers and int(plain.headers["Retry-After"]) > 800
    stack.internal("DELETE", f"/sessions/{first}")


def test_a_client_that_goes_away_leaves_the_queue_and_no_session(stack, diagram):
    first = stack.create_program(SLEEPER)
    connection = hang_up_later(stack, diagram("hello_minimal"), 50)
    wait_until(lambda: queue_length(stack) == 1, 20, "it waits")
    connection.close()
    wait_until(lambda: queue_length(stack) == 0, 20, "it has left")
    stack.internal("DELETE", f"/sessions/{first}")
    stack.assert_clean()


def test_who_waits_outlives_the_worker(stack, diagram):
    first = stack.create_program(SLEEPER)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ask, stack, diagram("hello_minimal"), 50)
        wait_until(lambda: queue_length(stack) == 1, 20, "it waits")
        kill(worker(stack))
        wait_until(lambda: stack.get("/health").status == 200, 20, "a new worker")
        assert stack.internal("DELETE", f"/sessions/{first}").status == 200
        reply = waits.result()
    assert reply.status == 200
    assert stack.end(reply.json()["sessionId"]).status == 200


def test_a_killed_supervisor_is_told_to_who_waits(stack, diagram):
    first = stack.create_program(SLEEPER)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(ask, stack, diagram("hello_minimal"), 50)
        wait_until(lambda: queue_length(stack) == 1, 20, "it waits")
        kill(stack.children("agentsim-supervisor")[0])
        assert waits.result().status == 503
    wait_until(lambda: stack.internal("DELETE", f"/sessions/{first}").status == 200, 30, "the new supervisor has found the session and ends it")
    stack.assert_clean(30)
    wait_until(lambda: stack.sandbox() == "ok", 30, "the sandbox could be tried again")
