"""The agents' interpreter by itself: what is in it, what it loads, and that an agent runs on it."""
import ast
import contextlib
import os
import pathlib
import re
import stat
import subprocess
import textwrap

import pytest

from tests.support import converse
from tests.support.stack import free_port, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = pathlib.Path("/opt/agentsim/runtime")
PYTHON = str(RUNTIME / "bin" / "python")
LOCK = ROOT / "docker" / "runtime" / "requirements.lock"
NOBODY = 65534
HEAVY = ["aiohttp", "cv2", "dateparser", "langchain_core", "nltk", "numpy", "pandas", "plotly", "sqlalchemy", "streamlit",
         "telegram"]


def run(program, cwd, *, full=False, wrapper=(), **settings):
    """Runs a Python program as a user who owns nothing but cwd; the finished process."""
    os.chown(cwd, NOBODY, NOBODY)
    command = [*wrapper, PYTHON, "-c", textwrap.dedent(program)]
    who = {} if wrapper else {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    env = {"PATH": "/usr/bin:/bin", "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    if full:
        env["AGENTSIM_FULL_IMPORT"] = "1"
    return subprocess.run(command, cwd=cwd, env=env | settings, capture_output=True, text=True, timeout=300, **who)


def printed(program, cwd, **how):
    """What the program printed, a Python literal."""
    done = run(program, cwd, **how)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


@pytest.fixture
def work(tmp_path):
    for folder in [tmp_path, *tmp_path.parents][:4]:
        folder.chmod(folder.stat().st_mode | 0o011)
    return tmp_path


def test_it_holds_exactly_what_the_lock_lists(work):
    locked = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", LOCK.read_text(), re.M))
    found = printed(
        """
        from importlib.metadata import distributions
        print({d.name.lower().replace("_", "-"): d.version for d in distributions()})
        """, work)
    assert found == locked


def test_big_things_that_no_agent_needs_are_absent(work):
    names = ["pyarrow", "torch", "tensorflow", "transformers", "altair", "pydeck", "PIL", "pip", "setuptools", "librosa",
             "onnxruntime", "kubernetes", "grpc", "opentelemetry"]
    assert printed(f"import importlib.util as u; print([n for n in {names} if u.find_spec(n)])", work) == []


def test_all_of_it_is_roots_and_readable_and_compiled():
    sources = 0
    for folder, _dirs, files in os.walk(RUNTIME.resolve()):
        for name in [".", *files]:
            status = os.lstat(os.path.join(folder, name))
            assert status.st_uid == 0, (folder, name)
            if not stat.S_ISLNK(status.st_mode):
                assert status.st_mode & 0o022 == 0 and status.st_mode & 0o004, (folder, name)
        sources += sum(n.endswith(".py") for n in files) if "/baf/core" in folder else 0
        if folder.endswith("/baf/core"):
            assert {n[:-3] for n in files if n.endswith(".py")} <= {
                n.split(".")[0] for n in os.listdir(os.path.join(folder, "__pycache__"))}
    assert sources > 10


def test_starting_the_framework_leaves_the_heavy_parts_alone(work):
    program = f"""
        import sys, logging
        from baf.core import agent
        print([n for n in {HEAVY} if n in sys.modules], [n for n, v in vars(agent).items() if type(v).__name__ == "Late"])
        """
    done = run(program, work)
    loaded, late = done.stdout.strip().split("] [")
    assert loaded == "[", done.stdout
    assert ast.literal_eval("[" + late) == [
        "DBHandler", "MonitoringDB", "TelegramPlatform", "GitHubPlatform", "GitLabPlatform", "A2APlatform"]
    assert done.stderr == ""


def test_one_variable_gives_the_framework_as_it_was_made(work):
    loaded = printed(f"import baf.core.agent, sys; print([n for n in {HEAVY} if n in sys.modules])", work, full=True)
    assert loaded == HEAVY


def test_each_stand_in_hands_over_to_the_real_thing(work):
    # The table of agentsim_lean decides what is looked at: a new row is covered at once.
    assert printed(
        """
        import importlib, sys
        import agentsim_lean as lean
        importlib.import_module("baf.core.agent")
        importlib.import_module("baf.platforms.websocket.websocket_platform")
        wrong, seen = [], 0
        for name, table in lean.LATE.items():
            module = importlib.import_module(name)
            for bound, value in list(vars(module).items()):
                if type(value) is not lean.Late:
                    continue
                seen += 1
                real = importlib.import_module(value._source)
                for part in value._names:
                    real = lean.named(real, part)
                if value._real() is not real or (vars(module)[bound] is not real and value._holder):
                    wrong.append((name, bound))
        print((seen >= sum(len(t) for t in lean.LATE.values()) - 2, wrong))
        """, work) == (True, [])


def test_stand_ins_answer_as_classes_do(work):
    assert printed(
        """
        from baf.core import agent, session
        late = session.DataFrame
        before = isinstance(3, late)          # nothing can be one yet
        import sys
        quiet = "pandas" not in sys.modules
        import pandas
        class Mine(late): pass
        print((before, quiet, isinstance(pandas.DataFrame(), late), issubclass(Mine, late), Mine.__mro__[1] is pandas.DataFrame,
               session.DataFrame is pandas.DataFrame))
        """, work) == (False, True, True, True, True, True)


def test_platforms_that_load_late_still_work(work):
    assert printed(
        """
        from baf.core.agent import Agent
        from baf.platforms.github.github_platform import GitHubPlatform
        from baf.library.transition.events.github_webhooks_events import GitHubEvent, StarCreated
        agent = Agent("a")
        print((type(agent.use_github_platform()) is GitHubPlatform, isinstance(StarCreated(), GitHubEvent)))
        """, work) == (True, True)


SESSION = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "bwrap",
           "--unshare-user", "--unshare-pid", "--unshare-net", "--disable-userns", "--ro-bind", "/usr", "/usr",
           "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/opt", "/opt",
           "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]


def test_a_confined_agent_tokenizes_without_asking_the_network(work):
    # Inside, files of root belong to nobody, and there is neither route nor resolver.
    where = ["--bind", str(work), "/tmp/work", "--chdir", "/tmp/work", "--setenv", "HOME", "/tmp/work"]
    done = run(
        """
        from baf.core.agent import Agent
        from baf.nlp.preprocessing.text_preprocessing import tokenize
        print([tokenize("Two bikes. Please!", "en"), tokenize("Zwei Räder. Bitte!", "de")])
        """, work, wrapper=[*SESSION, *where])
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout) == [["two", "bikes", "please"], ["zwei", "räder", "bitte"]]
    assert "nltk" not in done.stderr and "Warning" not in done.stderr


def test_a_confined_agent_keeps_documents_in_stores(work):
    # Both kinds of store, with no network: what finds documents is local, and nothing is fetched.
    where = ["--bind", str(work), "/tmp/work", "--chdir", "/tmp/work", "--setenv", "HOME", "/tmp/work"]
    done = run(
        """
        from types import SimpleNamespace
        from baf.nlp.rag.rag import RAG, HybridRAG
        from langchain_community.embeddings import FakeEmbeddings
        from langchain_community.vectorstores import Chroma
        from langchain_text_splitters import RecursiveCharacterTextSplitter
        import os, tiktoken

        agent = SimpleNamespace(nlp_engine=SimpleNamespace())
        found = []
        for number in range(4):
            store = (RAG, HybridRAG)[number % 2](
                agent=agent, llm_name="", splitter=RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100),
                vector_store=Chroma(embedding_function=FakeEmbeddings(size=8), persist_directory=f"vector_store/{number}"))
            for text in ("the pump is blue", "the valve is red"):
                store.add_text(text, {"source": "manual"})
            found.append(sorted(d.page_content for d in store.run_retrieval("which colour is the valve", k=2)))
        assert len(os.listdir("/proc/self/task")) < 40
        print([found, tiktoken.encoding_for_model("text-embedding-ada-002").encode("hello world")])
        """, work, wrapper=[*SESSION, *where])
    assert done.returncode == 0, done.stderr
    found, tokens = ast.literal_eval(done.stdout)
    assert found == [["the pump is blue", "the valve is red"]] * 4
    assert tokens == [15339, 1917]
    assert "Warning" not in done.stderr


def test_speech_at_another_speed_keeps_its_pitch(work):
    assert printed(
        """
        import numpy as np
        from baf.platforms.websocket import websocket_platform
        tone = np.sin(2 * np.pi * 440 * np.arange(48000) / 24000).astype(np.float32)
        out = []
        for rate in (0.5, 1.7, 2):
            other = websocket_platform.librosa.effects.time_stretch(tone, rate=rate)
            peak = np.fft.rfftfreq(len(other), 1 / 24000)[abs(np.fft.rfft(other)).argmax()]
            out.append((len(other), bool(abs(peak - 440) < 2), str(other.dtype), bool(0.5 < other.std() < 0.8)))
        print(out)
        """, work) == [(n, True, "float32", True) for n in (96000, 28235, 24000)]


AGENT = '''
import logging
from baf.core.agent import Agent
from baf.core.session import Session
from baf.exceptions.logger import logger
from baf.library.transition.events.base_events import ReceiveTextEvent

agent = Agent("runtime_test")
agent.load_properties("config.yaml")
platform = agent.use_websocket_platform(use_ui=False)
database = agent.use_db_handler()
start, talk = agent.new_state("start", initial=True), agent.new_state("talk")

def greet(session: Session):
    session.reply("Hello from the runtime")

def answer(session: Session):
    wish = session.event.message
    if wish == "table":
        import pandas
        platform.reply_dataframe(session, pandas.DataFrame({"bike": ["city", "race"], "days": [1, 2]}))
    elif wish == "plot":
        import plotly.graph_objects as go
        platform.reply_plotly(session, go.Figure(go.Bar(x=[1], y=[2])))
    elif wish == "image":
        import numpy
        platform.reply_image(session, numpy.zeros((4, 4, 3), numpy.uint8))
    elif wish == "database":
        database.query("shop", "create table bike (name text)")
        database.insert("shop", "insert into bike values ('city')")
        session.reply(str(database.select("shop", "select name from bike")))

start.set_body(greet)
talk.set_body(answer)
start.when_event(ReceiveTextEvent()).go_to(talk)
talk.when_event(ReceiveTextEvent()).go_to(talk)
agent.run()
'''
CONFIG = """
platforms: {websocket: {host: 127.0.0.1, port: %d}}
agent: {check_transitions_delay: 5}
db: {sql: {shop: {dialect: sqlite, file: shop.db}}}
"""


@contextlib.contextmanager
def running(work, port):
    (work / "agent.py").write_text(AGENT)
    (work / "config.yaml").write_text(CONFIG % port)
    os.chown(work, NOBODY, NOBODY)
    with open(work / "output", "wb") as output:
        process = subprocess.Popen([PYTHON, "agent.py"], cwd=work, stdout=output, stderr=output, user=NOBODY, group=NOBODY,
                                   extra_groups=[], env={"PATH": "/usr/bin:/bin", "HOME": str(work)})
    text = lambda: (work / "output").read_text(errors="replace")  # noqa: E731
    try:
        wait_until(lambda: "WebSocketPlatform starting" in text() or process.poll() is not None, 60, "the agent listens")
        assert process.poll() is None, text()
        yield text
    finally:
        process.kill()
        process.wait()


def test_an_agent_greets_and_sends_every_kind_of_reply(work):
    port = free_port()
    said = lambda text, action, **what: {  # noqa: E731
        "send": {"action": "user_message", "message": text}, "expect": [{"action": action, **what}], "quiet_s": 0}
    scenario = {"timeout_s": 90, "steps": [
        {"expect": [{"action": "agent_reply_str", "message": "Hello from the runtime"}], "quiet_s": 0},
        said("table", "agent_reply_dataframe",
             message_json={"bike": {"0": "city", "1": "race"}, "days": {"0": 1, "1": 2}}),
        said("plot", "agent_reply_plotly", message_has={"data": [{"type": "bar"}]}),
        said("image", "agent_reply_image", message_re="/9j/.*"),
        said("database", "agent_reply_str", message="city"),
    ]}
    with running(work, port) as text:
        assert converse.play(f"ws://127.0.0.1:{port}", scenario) is None, text()
