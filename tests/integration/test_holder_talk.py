"""A holder by itself: what agent and browser say to each other."""
import json

from tests.support import wire
from tests.support.holder import memory_mb, server
from tests.support.wire import lines


def test_frames_pass_unchanged_both_ways_in_order(holder, control):
    holder.run(server(greet="ws.send('{\"greeting\": 1}')"))
    control.phase(wire.IS_READY)
    with holder.attach() as browser:
        browser.find(lambda f: f == {"greeting": 1})
        said = ['{"n": %d, "text": "é\\u0000 \U0001f600%s"}' % (i, "x" * (i * 37 % 5000)) for i in range(300)]
        for text in said:
            browser.say(text)
        assert [browser.frame() for _ in said] == said
    while not control.phase(wire.IS_READY)[0]:  # frames were counted before it was there
        pass


def test_frames_before_the_agent_is_ready_wait_for_it(holder):
    files = server(setup="time.sleep(1)")
    with holder.attach() as browser:
        browser.say('{"early": 1}')
        holder.run(files)
        browser.say('{"early": 2}')
        got = [f for f in browser.find(lambda f: f == {"early": 2}) if "early" in f]
    assert got == [{"early": 1}, {"early": 2}]


def test_the_key_of_the_conversation_is_the_session_and_stays_when_the_agent_closes(holder):
    holder.run(server(greet="ws.send('{\"key\": \"%s\"}' % ws.request.headers.get('X-Session-ID'))",
                      each="if m == 'close':\n    return\nws.send(m)"))
    with holder.attach() as browser:
        key = {"key": str(holder.session)}
        browser.find(lambda f: f == key)
        for n in range(3):
            browser.say("close")
            browser.find(lambda f: f == key)
            browser.say(json.dumps({"n": n}))
            browser.find(lambda f: f == {"n": n})


def test_what_was_said_behind_a_frame_that_made_the_agent_close_is_not_lost(holder):
    """As the runtime does: it closes on the first frame that it cannot read, and reads nothing of what came with it."""
    holder.run(server(each="time.sleep(0.1)\nif not m.startswith('{'):\n    return\nws.send(m)"))
    say = ['{"action":"user_message","message":%d}' % n for n in range(8)]
    with holder.attach() as browser:
        browser.find(lambda f: "starting at" in f.get("line", ""))
        browser.say(say[0])
        for bad, good in (("no JSON", say[1:4]), ("[1]", say[4:8])):
            browser.say(bad)
            for text in good:
                browser.say(text)
        heard = []
        while len(heard) < len(say):
            frame = browser.json()
            if "action" in frame:
                heard.append(frame["message"])
        assert heard == list(range(8))


def test_only_one_connection_exists_at_a_time(holder):
    holder.run(server(setup="count = [0]",
                      greet="count[0] += 1; ws.send('{\"now\": %d}' % count[0])",
                      each="if m == 'slow':\n    ws.socket.settimeout(None)\n    time.sleep(1.5)\n    count[0] -= 1\n    return"))
    with holder.attach() as browser:
        browser.find(lambda f: f == {"now": 1})
        browser.say("slow")
        assert browser.find(lambda f: "now" in f)[-1] == {"now": 1}


def test_states_are_told_before_the_line_that_shows_them(holder):
    prefix = "2026-01-31 12:00:00,123 - BESSER Agentic Framework - INFO - "
    said = [prefix + "[idle] Running body idle_body", prefix + "[odd] name] Running body f",
            prefix + "[idle] Running fallback body f", "glued" + prefix + "[two] Running body b", "x [near] Running body",
            "no brackets ] Running body"]
    holder.run({"agent.py": "".join(f"print({line!r})\n" for line in said)})
    with holder.attach() as browser:
        frames = browser.rest()
    shown = [f.get("line", "=" + f.get("state", "")) for f in frames if f["type"] != "error"]
    assert shown == ["=idle", said[0], "=odd] name", said[1], said[2], "=two", said[3], "=near", said[4], said[5]]
    assert {"type": "state_change", "state": "idle", "_source": "log_state"} in frames


def test_any_bytes_of_output_become_lines(holder):
    holder.run({"agent.py": "import os\nos.write(1, b'ok \\xff\\xc3(\\n\\xe2\\x82\\xac\\r\\n\\0\\x1b[0m\\n')\n"
                            "os.write(1, b'y' * 200000 + b'\\nlast without end')"})
    with holder.attach() as browser:
        got = lines(browser.rest())
    assert got[:3] == ["ok \ufffd\ufffd(", "\u20ac", "\0\x1b[0m"]
    assert [len(x) for x in got[3:-1]] == [65536, 65536, 65536, 200000 - 3 * 65536]
    assert got[-1] == "last without end"


def test_a_frame_of_fifteen_mebibytes_passes_and_one_of_seventeen_is_refused(holder):
    holder.run(server(each="ws.send('x' * int(m))"))
    with holder.attach() as browser:
        browser.say(str(15 << 20))
        while len(text := browser.frame()) < 1 << 20:
            pass
        assert text == "x" * (15 << 20)
        browser.say(str(17 << 20))
        assert "16 MiB" in browser.find(lambda f: f.get("type") == "error")[-1]["message"]
        browser.say("5")
        while (text := browser.frame()).startswith("{"):
            pass
        assert text == "xxxxx"
    assert memory_mb(holder.pid) < 100
