"""Downloads (6.6): profiles, languages, variations, configurations, and what lies beside the program."""

from __future__ import annotations

import copy
import json
import re

import pytest

from tests.compiler import compare, harness
from tests.compiler.test_programs import check_files

HOSTILE = (
    "it's",
    'a"b\\',
    "x\ny",
    "'''; raise SystemExit; '''",
    '"""',
    "{{7*7}}{% x %}",
    "\u2028\x85",
    "😀",
    "../../up",
    "def",
    "router",
    "a-b c",
    "\x0c#",
)


def state(name, *actions, **more):
    return {"type": "AgentState", "name": name, "actions": list(actions), **more}


def arc(source, target, **more):
    return {"type": "AgentStateTransition", "source": {"element": source}, "target": {"element": target}, **more}


def drawn(greeting="hello", **elements):
    """hub -> next on an intent, and back at once."""
    return {
        "type": "AgentDiagram",
        "elements": {
            "i": {"type": "StateInitialNode"},
            "s1": state("hub", "a1"),
            "s2": state("next", "a2"),
            "a1": {"actionType": "TextReplyAction", "name": greeting},
            "a2": {"actionType": "LLMReplyAction", "system_message": greeting},
            "t": {"type": "AgentIntent", "name": "go", "bodies": ["t1"]},
            "t1": {"name": f"go {greeting}"},
            "l": {"type": "AgentLLM", "name": "gpt4"},
            **elements,
        },
        "relationships": {
            "r0": arc("i", "s1"),
            "r1": arc("s1", "s2", predefined={"predefinedType": "when_intent_matched", "intentName": "go"}),
            "r2": arc("s2", "s1", predefined={"predefinedType": "auto"}),
        },
    }


def request(model=None, title="Guide", **config):
    return {"title": title, "generator": "agent", "model": model or drawn(), "config": config}


def profile(name, model=None, configuration=None, user_profile=None):
    entry = {"name": name, "user_profile": user_profile or {}, "configuration": configuration or {}}
    return {**entry, "agent_model": model} if model else entry


def download(asked, folder):
    """The files of a download, by the command line."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    run = harness.agentsim("generate", "--quiet", "--output", folder, "-", request=asked)
    assert run.status == harness.OK, run.said
    files = harness.files_of(folder)
    check_files(files, asked)
    return files


def refused(asked, tmp_path, *names):
    run = harness.agentsim("generate", "--output", tmp_path / "no", "-", request=asked)
    assert run.status == harness.REFUSED, run.said
    for name in names:
        assert name in run.said
    assert not (tmp_path / "no").exists()


def described(folder, dumper):
    dump = dumper.dump(folder)
    assert "error" not in dump, dump
    return dump


# ---- profiles


class Reference(harness.Lines):
    def __init__(self):
        super().__init__(harness.REFERENCE_PYTHON, "-m", "tests.compiler.reference_downloads")

    def download(self, asked, directory):
        return self.ask(json.dumps({"request": harness.to_json(asked), "out": str(directory)}))


@pytest.fixture(scope="module")
def reference_downloads(reference_environment):
    running = Reference()
    yield running
    running.close()


def comparable(dump):
    """Without what is each generator's own: the words around the JSON that an LLM is told, and the way that leads the
    router to the agent's own states, which only ours has [V21]."""

    def walk(value):
        if isinstance(value, dict):
            if "context_name" in value:
                value["context"] = json.loads(value["context"][value["context"].index("{") :])
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    dump = copy.deepcopy(dump)
    walk(dump)
    for one in dump["states"]:
        if one["name"] == "router_initial_state":
            one["transitions"] = [way for way in one["transitions"] if way["kind"] != "auto"]
    return dump


STYLES = [
    {},
    {"system": {"agentPlatform": "streamlit"}},
    {"agentPlatform": "telegram"},
    {"agentPlatform": "websocket"},
    {"modality": {"inputModalities": ["speech"], "outputModalities": ["speech"]}},
]


def program(folder):
    """The folder as agent_dump wants it: the one program in it."""
    for name in ("agent_model.py", "personalized_agent_model.py"):
        (folder / name).unlink(missing_ok=True)
    return folder


@pytest.mark.parametrize("config", STYLES, ids=str)
def test_profiles_become_what_the_reference_makes_of_them(config, dumper, reference_downloads, tmp_path):
    plain = {"outputModalities": ["text"], "agentStyle": "formal"}
    mapping = [
        profile("kids", drawn("hi"), {"outputModalities": ["speech"]}),
        profile("Night shift-workers", drawn("good evening"), plain),
    ]
    asked = request(**config, personalizationMapping=mapping)
    answer = reference_downloads.download(asked, tmp_path / "theirs")
    assert answer.get("ok"), answer
    download(asked, tmp_path / "ours")
    theirs = described(program(tmp_path / "theirs"), dumper)
    ours = described(program(tmp_path / "ours"), dumper)
    assert ours["agent"]["persist_sessions"]
    found = compare.differences(comparable(theirs), comparable(ours))
    assert not found, compare.show(found)
    names = [entry["name"] for entry in json.loads((tmp_path / "theirs" / "user_profiles.json").read_text())]
    assert [entry["name"] for entry in json.loads((tmp_path / "ours" / "user_profiles.json").read_text())] == names


@pytest.mark.parametrize("config", [*STYLES, {"intentRecognitionTechnology": "classical"}], ids=str)
def test_one_agent_becomes_what_the_reference_makes_of_it(config, dumper, reference_downloads, tmp_path):
    asked = request(**config)
    answer = reference_downloads.download(asked, tmp_path / "theirs")
    assert answer.get("ok"), answer
    download(asked, tmp_path / "ours")
    theirs = described(program(tmp_path / "theirs"), dumper)
    found = compare.differences(theirs, described(program(tmp_path / "ours"), dumper))
    assert not found, compare.show(found)


def settled(dump, user_profile, start=None):
    """Where an agent comes to rest, by the transitions that need no message."""
    states = {one["name"]: one for one in dump["states"]}
    here = start or next(name for name, one in states.items() if one["initial"])
    for _ in range(20):
        for way in states[here]["transitions"]:
            matches = way["kind"] == "variable" and way["variable"] == "user_profile" and way["target"] == user_profile
            if matches or way["kind"] == "auto":
                here = way["to"]
                break
        else:
            return here
    pytest.fail(f"the agent never rests: {user_profile}, {here}")


def test_every_profile_is_led_to_its_states_from_wherever_it_is(dumper, tmp_path):
    """[V21] and a profile without a model of its own, which lives in the agent's."""
    mapping = [profile("kids", drawn("hi")), profile("guests"), profile("crew", drawn("ahoy"))]
    download(request(personalizationMapping=mapping), tmp_path)
    dump = described(tmp_path, dumper)
    homes = {None: "hub", "stranger": "hub", "guests": "hub", "kids": "hub_kids", "crew": "hub_crew"}
    for name, home in homes.items():
        assert settled(dump, name) == home
        for before in ("hub", "hub_kids", "hub_crew"):
            known = name in ("kids", "guests", "crew")
            assert settled(dump, name, before) == (home if known else before)


def test_a_profile_brings_what_its_model_needs(dumper, tmp_path):
    own = drawn(
        "ahoy",
        s1=state("hub", "a1", "code", "gui"),
        code={"actionType": "CustomCodeAction", "name": "def f(session):\n    import os\n    session.reply(os.name)"},
        gui={"actionType": "GUIReplyAction", "guiId": "form"},
        form={"type": "AgentGUI", "gui_id": "form"},
        l={"type": "AgentLLM", "name": "own", "provider": "ollama"},
        a2={"actionType": "LLMReplyAction", "llm_name": "own"},
        x={"type": "AgentSkill", "name": "tone", "content": "be kind", "description": "d"},
        w={"type": "AgentRagElement", "name": "Menu", "llm_name": "own"},
    )
    own["relationships"]["r3"] = arc(
        "s1",
        "s2",
        transitionType="custom",
        custom={"event": "None", "condition": ["def condition_3_1(session):\n    return False"]},
    )
    mapping = [profile("crew", own, {"content": {"adaptContentToUserProfile": True}}, {"age": 30, "of": [1.5, None]})]
    files = download(request(personalizationMapping=mapping), tmp_path)
    dump = described(tmp_path, dumper)
    assert {llm["name"] for llm in dump["llms"]} == {"gpt4", "own"}
    assert [rag["llm"] for rag in dump["rags"]] == ["own"]
    assert "menu/README.txt" in files and "guis/form.py" in files and "skills/tone.md" in files
    start = next(one for one in dump["states"] if one["name"] == "hub_crew")
    calls = [call[0] for call in start["body"]["bare"]["calls"]]
    assert calls[:4] == ["llm.add_user_context", "llm.add_user_context", "reply", "reply"]
    told = start["body"]["bare"]["calls"]
    assert [told[0][1]["context_name"], told[1][1]["context_name"]] == ["agent_configuration", "user_profile"]
    assert '"age": 30' in told[1][1]["context"]


def test_names_of_profiles_states_and_intents_stay_apart(dumper, tmp_path):
    base = drawn(s1=state("hub_kids", "a1"), s2=state("router_initial_state", "a2"))
    mapping = [profile("kids", drawn()), profile("a b", drawn("1")), profile("a-b", drawn("2")), profile("kids")]
    download(request(base, personalizationMapping=mapping), tmp_path)
    dump = described(tmp_path, dumper)
    names = [one["name"] for one in dump["states"]]
    assert len(set(names)) == len(names) == 9
    assert settled(dump, None) == "hub_kids" and settled(dump, "kids") == "hub_kids_2"
    assert settled(dump, "a b") == "hub_a_b" and settled(dump, "a-b") == "hub_a_b_2"
    assert set(dump["agent"]["configurations"]) == {"kids", "a_b", "a_b_2", "kids_2"}


def test_names_of_profiles_are_only_texts(dumper, tmp_path):
    mapping = [profile(name, drawn(name), {name: name}, {name: [name]}) for name in HOSTILE]
    files = download(request(personalizationMapping=mapping), tmp_path)
    assert set(files) == {"Guide.py", "agent_model.py", "config.yaml", "readme.txt", "user_profiles.json"}
    dump = described(tmp_path, dumper)
    configurations = dump["agent"]["configurations"].values()
    assert sorted(configurations, key=str) == sorted(({name: name} for name in HOSTILE), key=str)
    for name in HOSTILE:
        assert settled(dump, name) == "hub_" + re.sub("[ -]", "_", name)
    written = json.loads(files["user_profiles.json"])
    assert written == [{"name": name, "user_profile": {name: [name]}} for name in HOSTILE]


WRONG = [
    ([1], "personalizationMapping[0]"),
    ([profile("a"), None], "personalizationMapping[1]"),
    ([profile("a"), {"name": "b"}], "personalizationMapping[1]"),
    ([{"user_profile": None}], "personalizationMapping[0]"),
    ([{"user_profile": "old"}], "[0].user_profile"),
    ([{"user_profile": {}, "configuration": []}], "[0].configuration"),
    ([{"user_profile": {}, "configuration": {"x": float("inf")}}], "[0].configuration"),
    ([{"user_profile": {}, "name": 5}], "[0].name"),
    ([{"user_profile": {}, "agent_model": "m"}], "[0].agent_model"),
    ([profile("a"), profile("b", {"elements": {"s": {"type": "AgentState", "name": "a-b"}}})], "[1].agent_model"),
    ([profile("a", drawn(a2={"actionType": "LLMReplyAction", "llm_name": "nobody"}))], "nobody"),
    ({"a": 1}, "array"),
    ([profile(str(number)) for number in range(101)], "100"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_mappings_are_refused_by_their_index(number, tmp_path):
    mapping, named = WRONG[number]
    refused(request(personalizationMapping=mapping), tmp_path, named)
    refused(request(personalizationMapping=mapping, configurations=[{"configuration": {}}]), tmp_path, named)


def test_sessions_and_verdicts_keep_the_drawn_agent(dumper, tmp_path):
    """[V21]"""
    asked = request(personalizationMapping=[profile("kids", drawn("hi")), {"name": "no profile"}])
    assert harness.generate(asked, tmp_path).status == harness.OK
    dump = described(tmp_path, dumper)
    assert [one["name"] for one in dump["states"]] == ["hub", "next"]
    assert dump["states"][0]["initial"] and set(dump["agent"]["configurations"]) == {"kids", "no_profile"}
    assert harness.verdict(asked).status == harness.OK


# ---- several programs


def folders(files):
    return sorted({path.split("/")[0] for path in files if "/" in path})


def test_languages_are_folders(dumper, reference_downloads, tmp_path):
    targets = ["french", "pt-BR", "zh_Hant"]
    asked = request(languages={"source": "English", "target": targets}, configurations=[{"configuration": {}}])
    files = download(asked, tmp_path / "ours")
    assert folders(files) == sorted(["default", *targets]) and all("/" in path for path in files)
    answer = reference_downloads.download(asked, tmp_path / "theirs")
    assert folders(answer["files"]) == folders(files)
    for name in ("default", *targets):
        theirs = tmp_path / "theirs" / name
        (theirs / f"agent_model_{name}.py").unlink()
        found = compare.differences(described(theirs, dumper), described(tmp_path / "ours" / name, dumper))
        assert not found, compare.show(found)


@pytest.mark.parametrize(
    "target",
    ["../x", "a", "", "fr/..", "x" * 33, "fr-", "fr-123456789", "fr-a-b-c-d-e", "fr ", "français", "Default", 5, None],
)
def test_languages_that_could_be_paths_are_refused(target, tmp_path):
    refused(request(languages={"target": ["de", target]}), tmp_path, "config.languages.target[1]")


def test_more_wrong_languages(tmp_path):
    refused(request(languages={"target": ["fr", "FR"]}), tmp_path, "FR")
    refused(request(languages={"target": "fr"}), tmp_path, "config.languages.target")
    many = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(101)]
    refused(request(languages={"target": many}), tmp_path, "100")


def test_variations_stand_beside_the_base(dumper, tmp_path):
    entries = [
        {"name": "Young riders", "model": drawn("hi"), "config": {"agentPlatform": "telegram"}},
        {"name": "young/riders", "model": drawn("ho")},
        7,
        {"name": "empty", "model": {}},
        {"model": drawn("hey")},
        {"name": "skills", "model": drawn("tone")},
    ]
    skill = {"type": "AgentSkill", "name": "tone", "content": "be kind", "description": "d"}
    asked = request(baseModel=drawn("base", x=skill), variations=entries, configurations=[{"configuration": {}}])
    files = download(asked, tmp_path)
    assert folders(files) == ["Young_riders", "skills", "skills_2", "variation_5", "young_riders_2"]
    replies = {"": "base", "Young_riders": "hi", "young_riders_2": "ho", "variation_5": "hey", "skills_2": "tone"}
    for folder, reply in replies.items():
        assert reply.encode() in files[f"{folder}/Guide.py".lstrip("/")]
    assert b"use_telegram_platform" in files["Young_riders/Guide.py"] and b"telegram" not in files["Guide.py"]


def test_configurations_stand_beside_the_base(dumper, tmp_path):
    entries = [
        {"name": "t", "configuration": {"agentPlatform": "telegram", "configurations": [1]}},
        {"name": "no configuration"},
        {"configuration": {"modality": {"outputModalities": ["speech"]}}},
        {"name": "..", "configuration": {"default_llm_name": "b"}},
    ]
    two = drawn(m={"type": "AgentLLM", "name": "b"})
    files = download(request(two, agentPlatform="websocket", default_llm_name="gpt4", configurations=entries), tmp_path)
    assert folders(files) == ["configuration_3", "t", "unnamed"]
    assert b"use_ui=True" in files["Guide.py"] and b"use_telegram" in files["t/Guide.py"]
    assert b"reply_speech" in files["configuration_3/Guide.py"]
    assert b"default_llm = llm_b" in files["unnamed/Guide.py"] and b"default_llm = llm_gpt4" in files["t/Guide.py"]


def test_findings_say_which_program_they_are_of(tmp_path):
    bad = drawn(s1=state("a b"))
    refused(request(baseModel=bad, variations=[]), tmp_path, "config.baseModel.elements.s1")
    refused(request(baseModel=drawn(), variations=[{"model": bad}]), tmp_path, "config.variations[0].model.elements.s1")
    refused(request(baseModel=drawn(), variations=[{"model": "m"}]), tmp_path, "config.variations[0].model")
    refused(request(baseModel=drawn(), variations=[{"name": 5, "model": drawn()}]), tmp_path, "config.variations[0]")
    mapping = {"personalizationMapping": [{"name": "kids"}]}
    refused(
        request(configurations=[{"configuration": {}}, {"configuration": mapping}]),
        tmp_path,
        "config.configurations[1].configuration.personalizationMapping[0]",
    )


def test_a_variation_may_have_profiles(dumper, tmp_path):
    mapping = {"personalizationMapping": [profile("kids", drawn("hi"))]}
    variation = {"name": "v", "model": drawn(), "config": mapping}
    files = download(request(baseModel=drawn(), variations=[variation]), tmp_path)
    assert "v/user_profiles.json" in files and "user_profiles.json" not in files
    assert settled(described(tmp_path / "v", dumper), "kids") == "hub_kids"


# ---- beside the program


def test_what_only_sessions_forbid_is_downloaded(tmp_path):
    model = drawn(
        s1=state("hub", "code"),
        code={"actionType": "CustomCodeAction", "name": "def f(session):\n    import subprocess"},
        tool={"type": "AgentTool", "name": "f", "description": "d", "code": "import os\ndef f():\n    return eval('')"},
        work={"type": "AgentWorkspace", "name": "w", "path": "../shared", "description": "d"},
    )
    model["relationships"]["r3"] = arc(
        "s1",
        "s2",
        transitionType="custom",
        custom={"event": "None", "condition": ["def c(session):\n    import os\n    return bool(os.name)"]},
    )
    files = download(request(model), tmp_path / "ours")
    assert b"import subprocess" in files["Guide.py"] and b"'../shared'" in files["Guide.py"]
    assert harness.generate(request(model), tmp_path / "session").status == harness.REFUSED


@pytest.mark.parametrize("config, warned, told", (
    ({"presentation": {"agentStyle": "formal", "sentenceLength": "original"}, "userProfileModel": {"age": 8}},
     ["config.presentation.agentStyle", "config.userProfileModel"], {"readme.txt": "agentStyle, userProfileModel"}),
    ({"language": "german", "agentStyle": "of no program", "configurations": [{"name": "short", "configuration": {"sentenceLength": "concise"}}]},
     ["config.language", "config.configurations[0].configuration.language", "config.configurations[0].configuration.sentenceLength"],
     {"readme.txt": "language", "short/readme.txt": "language, sentenceLength"}),
), ids=("one", "several"))
def test_settings_that_ask_for_other_texts_are_named_where_they_have_no_effect(config, warned, told, tmp_path):
    """In what the command says, and in the readme.txt of each program."""
    run = harness.agentsim("generate", "--output", tmp_path / "out", "-", request=request(**config))
    assert run.status == harness.OK, run.said
    assert re.findall(r"^warning (\S+): .*as drawn$", run.said, re.M) == warned, run.said
    files = harness.files_of(tmp_path / "out")
    assert {path: text.decode().splitlines()[-1] for path, text in files.items() if path.endswith("readme.txt")} == told


TITLES = ("../../up", "config", "readme.txt", "tools", "calendar", "a/b\\c", "é😀", "x" * 300, ".")


@pytest.mark.parametrize("title", TITLES)
def test_names_of_files_are_safe_and_the_readme_knows_them(title, tmp_path):
    rags = ("Menu", "menu", "../x", "skills", "guis", "vector_store", "readme.txt", "user_profiles.json")
    model = drawn(**{f"g{n}": {"type": "AgentRagElement", "name": name} for n, name in enumerate(rags)})
    files = download(request(model, title=title), tmp_path / "in" / "here")
    assert {path.name for path in tmp_path.iterdir()} == {"in"} and len(list((tmp_path / "in").iterdir())) == 1
    (name,) = [path for path in files if path.endswith(".py") and path != "agent_model.py"]
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.]*\.py", name) and len(name) <= 120
    assert f"python {name}\n" in files["readme.txt"].decode()
    notes = [path for path in files if path.endswith("/README.txt")]
    assert len({path.lower() for path in notes}) == len(rags) and all(path.count("/") == 1 for path in notes)
    assert not {"skills/README.txt", "guis/README.txt", "vector_store/README.txt"} & set(notes)
