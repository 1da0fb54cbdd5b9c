"""What agents do with models, tools and reasoning, told by what a user sees: each test draws an agent,
talks to its program under the framework, and writes the conversation down as it is to be (tricky.py)."""

from __future__ import annotations

import json

import pytest

from tests.compiler.talks import file_frame
from tests.compiler.tricky import RESET, WAKE, answers, reasoning, variables, words
from tests.support.draw import Diagram, code, llm, llm_reply, rag, rag_reply, skill, text, tool, workspace


def test_a_tool_that_ends_the_program_is_a_tool_that_fails(talk, model):
    d = Diagram("Leaves", llm("fast", base_url=model.url), tool("leave", "def leave() -> str:\n    exit()\n", "Leaves"))
    hub = d.state("hub", text("hub"))
    d.go(hub, reasoning(d), "when_no_intent_matched")
    heard = answers(talk(d, "[[tool leave {}]]", "still there?"))
    assert heard[1] == ["LLM: ERROR: SystemExit: None"] and heard[2] == ["LLM: still there?"], heard
    assert "'leave' raised SystemExit" in talk.said


@pytest.mark.parametrize("name", ("think", "hub", "agent", "print", "tool", "load_tool", "json"))
def test_tools_that_are_called_like_states_and_other_things(name, talk, model):
    d = Diagram("Tools", llm("fast", base_url=model.url), tool(name, f"def {name}(word: str) -> str:\n    return word[::-1]\n", "Turns"),
                skill("hub", "Be kind."), workspace("think", "hub"))
    hub = d.state("hub", text("hub"))
    d.go(hub, reasoning(d), "when_no_intent_matched")
    heard = answers(talk(d, f'[[tool {name} {{"word": "abc"}}]]', f'[[tool {name} {{"word": "xy"}}]] and on'))
    assert heard == [["hub"], ["LLM: cba"], ["LLM: yx"]]


# ---- what a model says -------------------------------------------------------------------------------------------------
def test_an_answer_that_is_kept_decides_where_to_go(talk, model):
    d = Diagram("Decides", llm("fast", base_url=model.url))
    hub = d.state("hub", text("?"), fallback=[text("never")])
    ask = d.state("ask", llm_reply(store="mood", send=False))
    yes, no = d.state("yes", text("yes: {mood}", fill=True)), d.state("no", text("no: {mood}", fill=True))
    d.go(hub, ask, "when_no_intent_matched")
    d.go(ask, yes, "when_variable_operation_matched", conditionValue={"variable": "mood", "operator": "==", "targetValue": "good"})
    d.go(ask, no)
    assert words(talk(d, "[[say good]]", RESET, "[[say {mood}]]")) == [["?"], ["yes: good"], ["?"], ["no: {mood}"]]


@pytest.mark.parametrize("threshold,answer", ((0.4, "hours"), (0.9, "?")))
def test_an_intent_is_as_sure_as_the_settings_want(threshold, answer, talk, model):
    d = Diagram("Sure", llm("fast", base_url=model.url))
    hours = d.intent("hours", "when are you open")
    hub = d.state("hub", fallback=[text("?")])
    d.go(hub, d.state("told", text("hours")), "when_intent_matched", intentName=hours)
    assert words(talk(d, "when open", configYaml=f"nlp:\n  intent_threshold: {threshold}\n")) == [[], [answer]]


@pytest.mark.parametrize("score,answer", (
    ("0.9", "hours"), (" 90 %", "hours"), (1, "hours"), (True, "hours"), ("0.1", "?"), ("nan", "?"), ("very sure", "?"), ("", "?"),
    (None, "?"), ({"score": 0.9}, "?")))
def test_a_score_is_a_number_however_the_model_writes_it(score, answer, talk, model):
    d = Diagram("Sure", llm("fast", base_url=model.url))
    hours = d.intent("hours", "when are you open")
    hub = d.state("hub", fallback=[text("?")])
    d.go(hub, d.state("told", text("hours")), "when_intent_matched", intentName=hours)
    assert words(talk(d, f"when [[score {json.dumps(score)}]]")) == [[], [answer]]


def test_a_fallback_may_ask_a_model(talk, model):
    d = Diagram("Asks", llm("fast", base_url=model.url))
    hub = d.state("hub", fallback=[text("hm, {user_message}", fill=True), llm_reply("For {name}.", fill=True, store="said"),
                                   text("<{said}>", fill=True)])
    d.on(hub, hub, "ReceiveFileEvent")
    assert words(talk(d, variables(name="Ada"), "[[system]]")) == [[], [], ["hm, [[system]]", "For Ada.", "<For Ada.>"]]


def test_a_prompt_of_a_store_may_name_variables(talk, model):
    d = Diagram("Prompted", llm("fast", base_url=model.url),
                rag("pumps", embedding_provider="ollama", embedding_base_url=model.url.removesuffix("/v1")))
    d.state("hub", code("session.set('tone', 'kindly')\npumps.add_text('The valve is red.', {'source': 'x'})"),
            rag_reply("pumps", prompt="{tone}, what is red?", **{"promptUseSessionVars": True}),
            {**rag_reply("pumps"), "prompt": "Answer {tone}.", "promptUseSessionVars": True},
            {**rag_reply("pumps"), "prompt": "Answer {tone}."})
    said = [message["answer"] for _, message in talk(d)[0][1:]]
    assert "kindly, what is red?" in said[0] and "Answer kindly." in said[1] and "Answer {tone}." in said[2]
    assert all("The valve is red." in answer for answer in said)


# ---- reasoning ---------------------------------------------------------------------------------------------------------
def test_a_reasoning_state_asks_its_own_model_and_is_left_like_any_other(talk, model):
    d = Diagram("Thinks", llm("first", base_url=model.url), llm("deep", base_url=model.url + "/../nowhere"),
                llm("own", base_url=model.url))
    think = d.reasoning("think", llm_name="own", stream_steps=False, enable_task_planning=False)
    d.go(think, d.state("left", text("left")), "when_variable_operation_matched",
         conditionValue={"variable": "done", "operator": "==", "targetValue": True})
    d.go(think, d.state("by_file", text("file")), "when_file_received")
    d.go(think, think, "when_no_intent_matched")
    heard = answers(talk(d, "[[say fine]]", variables(done=True), WAKE, RESET, {"send": file_frame("a/b")}))
    assert heard[1:] == [["fine"], [], ["left"], heard[0], ["file"]] and len(heard[0]) == 1


def test_reasoning_goes_on_by_itself_to_the_next_state(talk, model):
    d = Diagram("Passes", llm("fast", base_url=model.url))
    hub, think = d.state("hub", text("hub")), d.reasoning("think", stream_steps=False)
    d.go(hub, think, "when_no_intent_matched")
    d.go(think, d.state("after", text("after {user_message}", fill=True)))
    assert answers(talk(d, "[[say thought]]")) == [["hub"], ["thought", "after [[say thought]]"]]
