"""Intents and free answers by a language model: the example with a small model server on this machine."""
import pathlib
import re
import subprocess
import sys

import pytest

from tests.support.stack import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The model server listens on the host's loopback: agents reach it because it is listed, through the proxy. Not 127.0.0.1,
# which NO_PROXY keeps for what an agent serves to itself.
PORT = free_port()
SETTINGS = {"AGENT_SIMULATOR_EGRESS": "allow", "AGENT_SIMULATOR_EGRESS_ALLOW": f"127.0.0.2:{PORT}"}


@pytest.fixture(scope="module")
def model():
    server = subprocess.Popen([sys.executable, ROOT / "tests" / "support" / "fake_llm.py", "--host", "127.0.0.2", "--port", str(PORT)],
                              stdout=subprocess.PIPE, text=True)
    address = re.search(r"http://\S+", server.stdout.readline()).group(0)
    yield address
    server.terminate()
    server.wait(60)


def test_example_library_desk(stack, diagram, model):
    request = diagram("library_desk_llm")
    request["model"]["components"]["llm"]["parameters"]["base_url"] = model
    session = stack.create(request)
    with stack.talk(session) as talk:
        assert talk.reply() == "Library desk here, how can I help?"
        talk.say("when are you open")
        assert talk.reply() == "We open from 9 to 18, on Sunday we are closed."
        assert talk.reply() == "Library desk here, how can I help?"
        talk.say("please renew my book")
        assert talk.reply() == "Please type your card number."
        talk.say("4711")
        assert talk.reply() == "Renewed for four weeks: card 4711."
        talk.until(lambda f: f.get("message") == "Library desk here, how can I help?")
        talk.say("Do dragons exist? [[say Only in our fantasy section.]]")
        assert talk.reply() == "Only in our fantasy section."
    stack.end(session)
