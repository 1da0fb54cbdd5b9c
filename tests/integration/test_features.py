"""Every feature of a drawn agent that needs a model, a database, a web site or a store, in conversations through the
whole chain. The model is tests/support/fake_llm.py, which does what a [[directive]] in the user's text says.

Each feature below is a function that talks; all that are asked for run four at a time, and each is a test of its own."""
import ast
import base64
import concurrent.futures
import contextlib
import http.server
import json
import pathlib
import re
import struct
import subprocess
import sys
import threading

import pytest

from tests.support import converse
from tests.support.draw import (
    Diagram, ask_database, code, crawl, llm, llm_chat, llm_reply, rag, rag_reply, reply_dataframe, reply_file, reply_image,
    reply_plotly, skill, speech, sql, text, tool, workspace)
from tests.support.fake_llm import tone
from tests.support.stack import BUILD, free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
# On the host's loopback, but not 127.0.0.1: that is what an agent serves to itself (NO_PROXY).
HOST, MODEL_PORT, WEB_PORT = "127.0.0.2", free_port(), free_port()
MODEL, OLLAMA, WEB = f"http://{HOST}:{MODEL_PORT}/v1", f"http://{HOST}:{MODEL_PORT}", f"http://{HOST}:{WEB_PORT}"
SETTINGS = {"AGENT_SIMULATOR_EGRESS": "allow", "AGENT_SIMULATOR_EGRESS_ALLOW": f"{HOST}:{MODEL_PORT},{HOST}:{WEB_PORT}",
            "AGENT_SIMULATOR_MAX_SESSIONS": "6", "AGENT_SIMULATOR_MAX_SESSIONS_PER_ACTOR": "6"}
DATABASE = "db:\n  sql:\n    - db1:\n        dialect: sqlite\n        database: shop.db\n"

FEATURES = {}


def feature(function):
    FEATURES[function.__name__] = function
    return function


# ---- the world of the agents ----------------------------------------------------------------------------------------

class Pages(http.server.BaseHTTPRequestHandler):
    site = {"/": '<h1>Bikes</h1><a href="/city">city</a> <a href="/race#top">race</a> <a href="http://else.example/">x</a>',
            "/city": '<p>City bikes cost 10.</p><a href="/deep">deep</a>', "/race": "<p>Race bikes cost 20.</p>",
            "/deep": "<p>Nobody comes here.</p>"}

    def do_GET(self):
        page = self.site.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write((page or "no").encode())

    def log_message(self, *_args):
        pass


class World:
    def __init__(self, stack, log):
        self.stack, self.log = stack, log

    @contextlib.contextmanager
    def talk(self, diagram, **more):
        """A conversation with the drawn agent; more members of the request."""
        session = self.stack.create(diagram.request(**more))
        try:
            with self.stack.talk(session) as talk:
                talk.session = session
                yield talk
        finally:
            self.stack.end(session)

    @contextlib.contextmanager
    def talk_with(self, diagram, folder, env, **more):
        """The same with variables in the agent's environment: what the browser's surface does not offer."""
        subprocess.run([BUILD / "bin" / "agentsim", "generate", "--session", "--quiet", "--output", folder, "-"], check=True,
                       input=json.dumps(diagram.request(**more)), text=True)
        read = lambda name: (folder / name).read_text(encoding="utf-8")  # noqa: E731
        session = self.stack.create_program(read("agent.py"), read("config.yaml"), env)
        try:
            with self.stack.talk_inside(session) as talk:
                yield talk
        finally:
            self.stack.internal("DELETE", f"/sessions/{session}")

    def asked(self, words):
        """Requests to the model that contain the words, as JSON text."""
        entries = [json.loads(line) for line in self.log.read_text().split("\n")[:-1]]  # another talk's may just be written
        return [e for e in entries if words in json.dumps(e, ensure_ascii=False)]


@pytest.fixture(scope="module")
def world(stack, tmp_path_factory):
    log = tmp_path_factory.mktemp("model") / "requests"
    log.touch()
    model = subprocess.Popen([sys.executable, ROOT / "tests" / "support" / "fake_llm.py", "--host", HOST,
                              "--port", str(MODEL_PORT), "--log", log], stdout=subprocess.PIPE, text=True)
    assert "listening" in model.stdout.readline()
    web = http.server.ThreadingHTTPServer((HOST, WEB_PORT), Pages)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield World(stack, log)
    web.shutdown()
    web.server_close()
    model.terminate()
    model.wait(60)


@pytest.fixture(scope="module")
def outcomes(request, world, tmp_path_factory):
    wanted = [i.callspec.params["name"] for i in request.session.items if i.path == request.path]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        yield {name: pool.submit(FEATURES[name], world, tmp_path_factory.mktemp("feature")) for name in wanted}


def hub(title, *parts, greeting="ready", act=()):
    """An agent that greets, and does the same for every message."""
    d = Diagram(title, *parts)
    start, work = d.state("start", *([text(greeting)] if greeting else [])), d.state("work", *act)
    d.go(start, work, "when_no_intent_matched")
    d.go(work, work, "when_no_intent_matched")
    return d


def fast(**parameters):
    return llm("fast", base_url=MODEL, **parameters)


def output(talk, words):
    """Waits for a line of the agent's output that contains the words."""
    seen = [f for f in talk.frames if words in f.get("line", "")]
    return seen[0] if seen else talk.until(lambda f: words in f.get("line", ""))


def error_output(talk):
    return [f["line"] for f in talk.frames if "Traceback" in f.get("line", "") or "ERROR" in f.get("line", "")]


# ---- answers of a model ---------------------------------------------------------------------------------------------

@feature
def llm_replies(world, _folder):
    d = hub("Replies", fast(), greeting=None, act=[
        code("session.set('name', 'Ada')"),
        llm_reply(),
        llm_reply("Be kind to {name}.", fill=True, prompt="[[system]]"),
        llm_reply("Be kind to {name}.", prompt="[[system]]"),
        llm_reply(prompt="[[say {name} wrote {user_message}]]", store="said", send=False),
        text("kept: {said}", fill=True)])
    with world.talk(d) as talk:
        talk.say("hi")
        assert [talk.reply() for _ in range(4)] == [
            "LLM: hi", "Be kind to Ada.", "Be kind to {name}.", "kept: Ada wrote hi"]


@feature
def llm_reply_without_a_message(world, _folder):
    d = Diagram("Greeter", fast())
    d.state("start", llm_reply("Greet.", store="said"), text("({said})", fill=True))
    with world.talk(d) as talk:
        assert [talk.reply(), talk.reply()] == ["LLM: ", "(LLM: )"]


@feature
def llm_settings_reach_the_model(world, _folder):
    d = hub("Settings", {**fast(temperature=0.25, stop=["a", "é'\""], seed=7), "global_context": "You sell bikes."},
            act=[llm_reply(prompt="[[system]] for settings")])
    with world.talk(d) as talk:
        talk.reply()
        talk.say("x")
        assert talk.reply() == "You sell bikes."
    sent = world.asked("for settings")[0]["request"]
    assert (sent["model"], sent["temperature"], sent["stop"], sent["seed"]) == ("fast", 0.25, ["a", "é'\""], 7)
    assert "base_url" not in sent and "api_key" not in sent


@feature
def llm_chat_has_no_history_without_a_monitoring_database(world, _folder):
    d = hub("Chat", fast(), act=[llm_chat("Chat as a pirate.", store="said"), text("[{said}]", fill=True)])
    with world.talk(d) as talk:
        talk.reply()
        talk.say("ahoy")
        assert [talk.reply(), talk.reply()] == ["LLM: ", "[LLM: ]"]
    assert [m["role"] for m in world.asked("Chat as a pirate.")[0]["request"]["messages"]] == ["system"]


@feature
def actions_choose_their_model(world, _folder):
    d = hub("Choice", llm("a", base_url=MODEL), llm("GPT-4o", base_url=MODEL), llm("meta/Llama 3", base_url=MODEL), act=[
        llm_reply(prompt="which of three: first"),
        llm_reply(prompt="which of three: second", llm_name="GPT-4o"),
        llm_reply(prompt="which of three: third", llm_name="meta/Llama 3")])
    with world.talk(d, config={"default_llm_name": "a"}) as talk:
        talk.reply()
        talk.say("x")
        assert [talk.reply()[-5:] for _ in range(3)] == ["first", "econd", "third"]
    assert [r["request"]["model"] for r in world.asked("which of three")] == ["a", "GPT-4o", "meta/Llama 3"]


@feature
def an_agent_survives_a_model_that_fails(world, _folder):
    d = hub("Failing", fast(), llm("far", base_url="http://127.0.0.3:9/v1"), act=[llm_reply(), text("after")])
    other = d.state("other", llm_reply(llm_name="far"), text("not said"))
    d.on(list(d.elements)[3], other, "ReceiveJSONEvent")
    with world.talk(d) as talk:
        talk.reply()
        talk.say("[[status 400]]")
        output(talk, "asked to fail with 400")
        talk.say("[[junk]] and on")
        assert [talk.reply(), talk.reply()] == ["this is not JSON", "after"]


# ---- intents --------------------------------------------------------------------------------------------------------

def desk(*parts, **reply):
    d = Diagram("Desk", *parts)
    hours = d.intent("opening_hours", "when are you open", "opening hours")
    renew = d.intent("renew", "renew my book", intent_description="to keep a book longer")
    start = d.state("start", text("Hello"), fallback=[text("Pardon?")])
    for intent, answer in ((hours, "9 to 18"), (renew, "Renewed")):
        there = d.state(intent + "_state", text(answer))
        d.go(start, there, "when_intent_matched", intentName=intent)
        d.go(there, start)
    other = d.state("other", llm_reply(**reply))
    d.go(start, other, "when_no_intent_matched")
    d.go(other, start)
    return d


def ask_the_desk(talk):
    assert talk.reply() == "Hello"
    for question, answer in (("when are you open", "9 to 18"), ("please renew my book", "Renewed"),
                             ("[[intent opening_hours]] Öffnungszeiten?", "9 to 18"),
                             ("[[junk]] {'x': \"y\"}", "this is not JSON"),
                             ("[[say No idea]] what about dragons", "No idea")):
        talk.say(question)
        assert [talk.reply(), talk.reply()] == [answer, "Hello"], question


# All whose address a diagram can set. Not among them: anthropic (the environment decides, see below), huggingface_api and
# replicate (fixed addresses), huggingface (a local model).
PROVIDERS = ("openai", "ollama", "mistral", "deepseek", "google", "meta", "qwen", "xai", "groq", "together", "openrouter")


def intents_by(provider):
    def talk_to(world, _folder):
        with world.talk(desk(llm("model-" + provider, provider, base_url=OLLAMA if provider == "ollama" else MODEL))) as talk:
            ask_the_desk(talk)
        asked = world.asked(f'"model-{provider}"')
        assert len(asked) == 7
        assert asked[0]["request"].get("response_format") == {"type": "json_object"}

    return talk_to


for each in PROVIDERS:
    FEATURES["intents_by_" + each] = intents_by(each)


@feature
def intents_by_anthropic(world, folder):
    d = desk(llm("claude", "anthropic", max_tokens=100))
    with world.talk_with(d, folder, {"ANTHROPIC_BASE_URL": OLLAMA}) as talk:
        ask_the_desk(talk)


@feature
def intents_by_another_model_than_the_default(world, _folder):
    d = desk(llm("writer", base_url=MODEL), llm("judge", base_url=MODEL))
    with world.talk(d, config={"system": {"llm": {"name": "judge"}}}) as talk:
        ask_the_desk(talk)
    asked = [r["request"]["model"] for r in world.asked("what about dragons")]
    assert [m for m in asked if m in ("writer", "judge")] == ["judge", "writer"]


# ---- no model at all ------------------------------------------------------------------------------------------------

@feature
def actions_that_lack_a_model(world, _folder):
    d = hub("Without", rag("docs", embedding_provider="ollama", embedding_base_url=OLLAMA), act=[
        text("before"), llm_reply(store="said"), llm_chat(), ask_database(), rag_reply("docs"), text("after"),
        crawl(WEB + "/", run_crawl=True), text("end")])
    with world.talk(d, configYaml=DATABASE) as talk:
        talk.reply()
        for word in ("one", "two"):
            talk.say(word)
            assert [talk.reply() for _ in range(3)] == ["before", "after", "end"]
        for kind in ("reply", "chat", "database question", "answer from documents", "answer from web pages"):
            assert "State work: " in output(talk, f"there is no LLM for this {kind}")["line"]


@feature
def intents_without_a_model(world, _folder):
    d = Diagram("Lost")
    hello = d.intent("hello", "hello there")
    start, there = d.state("start", text("?"), fallback=[text("Pardon?")]), d.state("there", text("Hello!"))
    d.go(start, there, "when_intent_matched", intentName=hello)
    with world.talk(d) as talk:
        assert talk.reply() == "?"
        for _ in range(2):
            talk.say("hello there")
            assert talk.reply() == "Pardon?"


# ---- databases ------------------------------------------------------------------------------------------------------

@feature
def databases_in_sql(world, _folder):
    d = hub("Stock", act=[
        sql("CREATE TABLE bike (name text, days int)", send=False),
        sql("INSERT INTO bike VALUES ('city', 3), ('räce ''x''', 5)"),
        sql("SELECT name, days FROM bike ORDER BY days", store="rows"),
        sql("SELECT count(*) FROM bike"),
        sql("SELECT name FROM bike WHERE days > 4", dbOperation="select"),
        sql("SELECT name, days FROM bike WHERE days < 4"),
        sql("SELECT name FROM bike WHERE days > 10"),
        sql("DELETE FROM bike", dbOperation="select"),
        sql("UPDATE bike SET days = 1", dbOperation="update"),
        sql("SELECT name FROM bike", dbSelectionType="custom", dbCustomName="nowhere"),
        sql(" \n"),
        text("rows: {rows}", fill=True)])
    with world.talk(d, configYaml=DATABASE) as talk:
        talk.reply()
        talk.say("go")
        said = [talk.reply() for _ in range(11)]
        assert said[0] == "2"
        rows = [{"name": "city", "days": 3}, {"name": "räce 'x'", "days": 5}]
        assert json.loads(said[1]) == rows
        assert said[2:4] == ["2", "räce 'x'"]
        assert json.loads(said[4]) == rows[0]
        assert said[5:9] == ["None", "None", "2", "None"]
        assert "SQL" in said[9]
        assert json.loads(said[10].removeprefix("rows: ")) == rows


@feature
def databases_in_words(world, _folder):
    d = hub("Words", fast(), llm("careful", base_url=MODEL), act=[
        ask_database(store="said"), ask_database(dbOperation="select", llm_name="careful", prompt="again: {user_message}"),
        text("[{said}]", fill=True)])
    start = list(d.elements)[0]
    d.elements[start]["type"], d.elements[start]["actionType"] = "AgentStateBody", "DBAction"
    d.elements[start].update(dbQueryMode="sql", dbSqlQuery="CREATE TABLE bike (name text)", storeInSession="made")
    with world.talk(d, configYaml=DATABASE) as talk:
        talk.reply()
        for question, first, second in (
                ("add one [[sql INSERT INTO bike VALUES ('city')]]", "1", "None"),
                ("count [[sql SELECT count(*) FROM bike]]", "1", "1"),
                ("nonsense [[sql SELECT wheels FROM car]]", "None", "None")):
            talk.say(question)
            asked = f"LLM: Question: {question}\nDatabase result: "
            assert talk.reply() == asked + first
            assert talk.reply() == f"LLM: Question: again: {question}\nDatabase result: {second}"
            assert talk.reply() == f"[{asked}{first}]"


# ---- the web --------------------------------------------------------------------------------------------------------

@feature
def web_pages(world, _folder):
    d = Diagram("Reader", fast())
    early = d.state("early", crawl(WEB + "/", run_crawl=False, no_crawl_error_message="Nothing read yet."), text("not said"))
    read = d.state("read", crawl(WEB + "/", max_depth=1, max_pages=9, system_message_prefix="Pages: ", store="said"))
    again = d.state("again", code("session.set('name', 'Ada')"),
                    crawl(WEB + "/", run_crawl=False, system_message_prefix="For {name}: ",
                          systemMessagePrefixUseSessionVars=True))
    part = d.state("part", crawl(WEB + "/", base_url_prefix=WEB + "/race", crawl_format="html"), text("done"))
    gone = d.state("gone", crawl("http://127.0.0.3:9/", max_pages=1), text("still here"))
    for source, target in ((early, read), (read, again), (again, part), (part, gone)):
        d.go(source, target, "when_no_intent_matched")
    with world.talk(d) as talk:
        assert talk.reply() == "Nothing read yet."
        found = []
        for prefix in ("Pages: ", "For Ada: "):
            talk.say("[[system]]")
            said = talk.reply()
            assert said.startswith(prefix)
            found.append(ast.literal_eval(said.removeprefix(prefix)))
        assert found[0] == found[1]
        assert sorted(found[0]) == [WEB, WEB + "/city", WEB + "/race"]
        assert "City bikes cost 10." in found[0][WEB + "/city"] and "<p>" not in str(found[0])
        talk.say("[[system]]")
        said = talk.reply()
        assert "<p>Race bikes cost 20.</p>" in said and "City bikes" not in said
        assert talk.reply() == "done"
        talk.say("[[say no pages]]")
        assert [talk.reply(), talk.reply()] == ["no pages", "still here"]


# ---- reasoning ------------------------------------------------------------------------------------------------------

def thinker(*parts, **members):
    d = Diagram("Thinker", fast(), *parts)
    think = d.reasoning("think", **members)
    d.go(think, think, "when_no_intent_matched")
    return d


def answer(talk):
    """The final text of one round of reasoning, and the kinds of its steps."""
    kinds, said = [], None
    while said is None or (kinds and kinds[-1] != "reasoning_finished"):
        frame = talk.until(lambda f: f.get("action") in ("agent_reply_str", "agent_reply_reasoning_step"))
        if frame["action"] == "agent_reply_str":
            said = frame["message"]
        else:
            kinds.append(frame["message"]["kind"])
    return said, kinds


@feature
def reasoning_with_tools(world, _folder):
    d = thinker(
        tool("add", '''
            FACTOR = 1

            def helper(x):
                return x * FACTOR

            def add(a: int, b: int = 4) -> int:
                return helper(a) + b
            ''', "Adds two numbers"),
        tool("fail", "def fail(why: str):\n    raise ValueError('no ' + why)\n", "Fails"),
        tool("spell", "def spell(word: str) -> str:\n    '''Spells.'''\n    return '-'.join(word)\n"),
        max_steps=6)
    with world.talk(d) as talk:
        answer(talk)  # a reasoning state that is the first one reasons on connecting
        talk.say('[[tool add {"a": 3}]][[tool spell {"word": "bike"}]]')
        said, kinds = answer(talk)
        assert said == "LLM: b-i-k-e"
        assert kinds.count("tool_result") == 2 and kinds[0] == "reasoning_started" and "llm_tool_calls" in kinds
        talk.say('[[tool add {"a": 3}]]')
        assert answer(talk)[0] == "LLM: 7"
        talk.say('[[tool fail {"why": "luck"}]]')
        assert "no luck" in answer(talk)[0]
        talk.say("[[tool nothing {}]]")
        assert "nothing" in answer(talk)[0]
        talk.say("[[status 400]]")
        assert "ERROR" in answer(talk)[0]
        talk.say("[[say fine]]")
        assert answer(talk)[0] == "fine"
    offered = {t["function"]["name"]: t["function"] for t in world.asked("tool spell")[0]["request"]["tools"]}
    assert {"add", "fail", "spell", "add_tasks"} <= set(offered) and "helper" not in offered
    assert offered["add"]["description"] == "Adds two numbers" and offered["spell"]["description"].startswith("Spells")
    assert set(offered["add"]["parameters"]["required"]) == {"a"}


@feature
def reasoning_with_skills_and_workspaces(world, _folder):
    d = thinker(skill("safety", "Always mention gloves.", "Rules"), workspace("notes", "notes"),
                workspace("drawings", "./archive/drawings", writable=False), system_prompt="You repair bikes.")
    with world.talk(d) as talk:
        answer(talk)
        talk.say("[[system]]")
        said, _ = answer(talk)
        assert "You repair bikes." in said and "Always mention gloves." in said and "drawings" in said
        talk.say('[[tool write_file {"relative_path": "a/b.txt", "content": "tighten é", "workspace": "notes"}]]'
                 '[[tool read_file {"relative_path": "a/b.txt", "workspace": "notes"}]]')
        assert "tighten é" in answer(talk)[0]
        assert [f for f in world.stack.files(talk.session)["files"] if f["path"] == "notes/a/b.txt"][0]["content"] == "tighten é"
        talk.say('[[tool write_file {"relative_path": "x", "content": "y", "workspace": "drawings"}]]')
        answer(talk)
        talk.say('[[tool read_file {"relative_path": "../../agent.py", "workspace": "notes"}]]')
        assert "new_workspace" not in answer(talk)[0]
        paths = [f["path"] for f in world.stack.files(talk.session)["files"]]
        assert "archive/drawings/x" not in paths


@feature
def reasoning_with_a_plan(world, _folder):
    d = thinker(max_steps=5, fallback_message="I give up.")
    with world.talk(d) as talk:
        answer(talk)
        talk.say('[[tool add_tasks {"descriptions": ["look", "tell"]}]][[tool complete_task {"task_id": 1, "result": "seen"}]]'
                 '[[tool skip_task {"task_id": 2, "reason": "no"}]][[say planned]]')
        said, kinds = answer(talk)
        assert said == "planned"
        assert [k for k in kinds if k.startswith("task")] == ["task_added", "task_completed", "task_skipped"]
        talk.say('[[tool add_tasks {"descriptions": ["never done"]}]]')
        said, kinds = answer(talk)
        assert said == "I give up." and "pushback" in kinds and kinds.count("max_steps") == 1


@feature
def reasoning_without_plan_and_steps(world, _folder):
    d = thinker(tool("one", "def one() -> int:\n    return 1\n", "One"), enable_task_planning=False, stream_steps=False)
    with world.talk(d) as talk:
        answer(talk)
        talk.say("[[tool one {}]] quietly")
        assert answer(talk) == ("LLM: 1", [])
    names = [t["function"]["name"] for t in world.asked("quietly")[0]["request"]["tools"]]
    assert "one" in names and "add_tasks" not in names


# ---- stores of documents --------------------------------------------------------------------------------------------

def fill(d, store):
    """Puts documents into the store when the agent starts to talk, by custom code in its first state."""
    start = next(e for e in d.elements.values() if e["type"] == "AgentState")
    start["actions"] = [d.put(code(f"""
        for sentence in ('The pump runs at 40 bar.', 'The valve is red.', 'Seals are of rubber.'):
            {store}.add_text(sentence, {{'source': 'manual'}})
        session.reply('filled')
        """))]


def pdf(words):
    """A PDF file of one page."""
    page = f"BT /F1 12 Tf 72 720 Td ({words}) Tj ET"
    parts = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
             "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
             f"<</Length {len(page)}>>stream\n{page}\nendstream", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    out, offsets = "%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj{part}endobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    return (f"{out}xref\n0 6\n0000000000 65535 f \n{table}trailer<</Size 6/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF\n").encode()


@feature
def documents_with_ollama(world, _folder):
    d = hub("Manual", fast(), rag("pumps", embedding_provider="ollama", embedding_base_url=OLLAMA, k=1, llm_prompt="Be exact."),
            act=[rag_reply("pumps", store="said"), rag_reply("pumps", send=False, store="x", prompt="Seals?"),
                 text("said: {said}", fill=True)])
    fill(d, "pumps")
    with world.talk(d) as talk:
        assert talk.reply() == "filled"
        talk.say("which colour is the valve")
        frame = talk.until(lambda f: "action" in f)
        assert frame["action"] == "agent_reply_rag"
        message = frame["message"]
        assert [x["content"] for x in message["docs"]] == ["The valve is red."]
        assert message["question"] == "which colour is the valve"
        assert message["answer"].startswith("LLM: Be exact.") and "Context: The valve is red." in message["answer"]
        assert talk.reply() == "said: " + message["answer"]
        assert error_output(talk) == [] and not [f for f in talk.frames if "Deprecat" in f.get("line", "")]


@feature
def documents_sent_by_the_user(world, _folder):
    d = Diagram("Upload", fast(), rag("Own_papers", embedding_provider="ollama", embedding_base_url=OLLAMA, use_hybrid_rag=True,
                                      bm25_weight=0.3, k=1))
    start = d.state("start", text("Send a file."))
    taken = d.state("taken", code("""
        session.reply(str(own_papers.add_file(session.event.file)) + ' of ' + session.event.file.name)
        """))
    ask = d.state("ask", rag_reply("Own_papers", prompt="{user_message}"))
    d.go(start, taken, "when_file_received")
    d.go(taken, taken, "when_file_received")
    d.go(taken, ask, "when_no_intent_matched")
    d.go(ask, ask, "when_no_intent_matched")
    with world.talk(d) as talk:
        assert talk.reply() == "Send a file."
        for name, kind, content in (("torque.txt", "text/plain", "Bolt M8 needs 25 Nm.\n".encode()),
                                    ("paint.pdf", "application/pdf", pdf("Frames are painted green."))):
            talk.send("user_file", json.dumps({"name": name, "type": kind, "base64": base64.b64encode(content).decode()}))
            assert talk.reply() == f"1 of {name}"
        for question, found in (("M8 torque?", "Bolt M8 needs 25 Nm."), ("how are frames painted", "Frames are painted green."),
                                ("M8", "Bolt M8 needs 25 Nm.")):
            talk.say(question)
            frame = talk.until(lambda f: f.get("action") == "agent_reply_rag")
            assert "Context: " + found in frame["message"]["answer"]


@feature
def documents_with_openai(world, folder):
    d = hub("Museum", fast(), rag("catalogue", k=1), act=[rag_reply("catalogue")])
    fill(d, "catalogue")
    env = {"OPENAI_BASE_URL": MODEL, "OPENAI_API_KEY": "k"}
    with world.talk_with(d, folder, env) as talk:
        assert talk.reply() == "filled"
        talk.say("how many bar has the pump")
        frame = talk.until(lambda f: "action" in f)
        assert "Context: The pump runs at 40 bar." in frame["message"]["answer"]


@feature
def documents_of_an_empty_or_unknown_store(world, _folder):
    d = hub("Empty", fast(), rag("pumps", embedding_provider="ollama", embedding_base_url=OLLAMA, use_hybrid_rag=True),
            act=[rag_reply("pumps"), rag_reply("something else", prompt="Where?"), text("after")])
    with world.talk(d) as talk:
        talk.reply()
        talk.say("x")
        assert [talk.reply()["docs"], talk.reply()["docs"], talk.reply()] == [[], [], "after"]


# ---- speech ---------------------------------------------------------------------------------------------------------

def sound(frame):
    """Seconds of an audio reply."""
    assert frame["action"] == "agent_reply_audio"
    meta = frame["message"]["metadata"]
    assert meta["dtype"] == "float32" and meta["sample_rate"] == 24000
    data = base64.b64decode(frame["message"]["audio_data_base64"])
    assert len(data) == 4 * meta["shape"][0]
    samples = struct.unpack(f"<{len(data) // 4}f", data)
    assert 0.1 < max(samples) < 1
    return len(samples) / 24000


@feature
def speech_in_and_out(world, folder):
    d = hub("Radio", fast(), act=[text("one"), text("two"), llm_reply(prompt="[[say three]]"), speech("four", 2.0)])
    env = {"OPENAI_BASE_URL": MODEL, "OPENAI_API_KEY": "k"}
    speaks = {"modality": {"inputModalities": ["speech"], "outputModalities": ["text", "speech"]}}
    with world.talk_with(d, folder, env, config=speaks) as talk:
        own = lambda: talk.until(lambda f: "action" in f)  # noqa: E731
        assert own()["message"] == "ready" and round(sound(own()), 2) == 0.2
        talk.send("user_voice", base64.b64encode(tone()).decode())
        heard = own()
        assert heard["action"] == "user_message" and re.fullmatch(r"audio of \d+ bytes", heard["message"])
        assert [own()["message"] for _ in range(3)] == ["one", "two", "three"]
        assert [round(sound(own()), 2) for _ in range(3)] == [0.2, 0.1, 0.2]
    spoken = [r["request"]["input"] for r in world.asked("gpt-4o-mini-tts")]
    assert spoken == ["ready", "three", "four", "one two"]


# ---- replies of objects ---------------------------------------------------------------------------------------------

@feature
def objects_in_session_variables(world, _folder):
    d = hub("Objects", act=[
        reply_file(), reply_image(), reply_dataframe(), reply_plotly(), text("nothing yet"),
        code("""
            import numpy
            import pandas
            import plotly.graph_objects as go
            from baf.core.file import File
            session.set('reply_file_obj', File(file_name='a.txt', file_type='text/plain', file_data=b'content'))
            session.set('reply_image_arr', numpy.zeros((4, 4, 3), numpy.uint8))
            session.set('reply_df', pandas.DataFrame({'bike': ['city', 'race']}))
            session.set('reply_plot', go.Figure(go.Bar(x=[1], y=[2])))
            """),
        reply_file(), reply_image(), reply_dataframe(), reply_plotly(),
        code("for name in ('reply_file_obj', 'reply_image_arr', 'reply_df', 'reply_plot'):\n    session.delete(name)")])
    with world.talk(d) as talk:
        talk.reply()
        talk.say("go")
        assert talk.reply() == "nothing yet"
        frames = [talk.until(lambda f: "action" in f) for _ in range(4)]
        assert [f["action"].removeprefix("agent_reply_") for f in frames] == ["file", "image", "dataframe", "plotly"]
        file, image, table, plot = (converse.decoded(f["message"]) for f in frames)
        assert file["name"] == "a.txt" and base64.b64decode(file["base64"]) == b"content"
        assert base64.b64decode(image)[:3] == b"\xff\xd8\xff"
        assert table == {"bike": {"0": "city", "1": "race"}}
        assert plot["data"][0]["type"] == "bar"
        output(talk, "reply_plot is not set")


@pytest.mark.parametrize("name", FEATURES)
def test_feature(outcomes, name):
    outcomes[name].result()
