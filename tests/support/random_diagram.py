"""Random agent diagrams: whole request bodies, the same for the same seed.

    request = build(seed)                                   a diagram the reference gets right in every point
    request = build(seed, oddities={"text_breaks"})         with one thing more that is known to be difficult
    request = build(seed, oddities=ODDITIES, states=(20, 40))
    python -m tests.support.random_diagram SEED [ODDITY...|all]     prints one

Diagrams of build() are valid. broken_diagram.py makes invalid ones from them.
"""

from __future__ import annotations

import json
import random
import sys

from tests.support import loose_ends, random_text
from tests.support.random_parts import Parts
from tests.support.random_pieces import CONDITIONS, CONFIG_YAML, FILE_TYPES

# What build() can be asked for beyond the tame language. tests/compiler/reference_faults.py says what the reference
# makes of each.
ODDITIES = {
    "text_breaks": "line breaks of every kind in texts",
    "text_astral": "characters outside the basic plane in texts",
    "text_compatible": "characters that compatibility normalisation changes",
    "text_controls": "control characters",
    "text_code": "texts that look like Python, templates or YAML",
    "text_surrogates": "unpaired surrogates",
    "title_any": "titles with quotes, slashes, code",
    "state_names": "state names that are no identifiers, or Python's or the program's own",
    "intent_names": "the same for intents",
    "llm_names": "LLM names with capitals, punctuation, digits first",
    "rag_names": "RAG names that are no lower-case identifiers",
    "gui_ids": "GUI ids that are no lower-case identifiers",
    "skill_names": "skill names that look like paths",
    "placeholders": "placeholders with letters of any script, nested ones, ones of stored answers",
    "embedding_texts": "quotes and backslashes in embedding settings",
    "variable_texts": "quotes and backslashes in comparisons",
    "variable_types": "numbers, booleans and null as comparison values",
    "numbers": "texts, nan and infinities where numbers belong",
    "code_signatures": "custom code whose session parameter is annotated otherwise, or is not the only one",
    "code_mixed": "custom code among other actions",
    "object_replies": "file, image, table and plot replies",
    "gui_filters": "custom GUI events of one GUI",
    "condition_names": "condition functions of any name, with two parameters, with helpers",
    "two_conditions": "transitions with more than one condition",
    "oldest_spellings": "transitions as the oldest editors saved them",
    "intent_spellings": "intent references with blanks and other capitals",
    "global_context": "LLMs with a global context",
    "rag_history": "RAG stores with previous messages",
    "tool_descriptions": "tools whose description is not their docstring",
    "tool_helpers": "tools with helper functions",
    "skill_descriptions": "skills with descriptions, headings, front matter",
    "workspace_paths": "absolute and Windows workspace paths",
    "telegram": "the Telegram platform",
    "personalization": "a personalization mapping",
    "ollama_urls": "an Ollama LLM with its own base_url",
    "no_llm": "actions of an LLM without any LLM",
    "settings": "settings in sections and beside them, of other types, unknown ones",
    "loose_ends": "what compilers pass over: unknown ids and words, repeated and blank components, older lists",
    "shared_actions": "one action of several states, repeated and unknown ids",
}

EVENTS = (
    "ReceiveTextEvent",
    "ReceiveMessageEvent",
    "ReceiveJSONEvent",
    "ReceiveFileEvent",
    "DummyEvent",
    "WildcardEvent",
)


class Builder(Parts):
    """One diagram while it grows. Members of JSON objects are written in the order they are drawn."""

    def __init__(self, seed, oddities, states, legacy):
        self.rng = random.Random(seed)
        self.oddities = frozenset(oddities)
        unknown = self.oddities - set(ODDITIES)
        if unknown:
            raise ValueError(f"unknown oddities: {sorted(unknown)}")
        self.legacy = legacy
        self.count = self.rng.randint(*states)
        self.taken = set()
        self.elements, self.components, self.relationships = {}, {}, {}
        self.llms, self.rags, self.guis, self.intents, self.states = [], [], [], [], []
        self.variables = ["name", "age", "city", "total"]
        self.arcs_created = self.functions = self.ids = 0

    # ---- dice ------------------------------------------------------------------------------------------------------
    def odd(self, name, chance=0.5):
        return name in self.oddities and self.rng.random() < chance

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, items):
        return self.rng.choice(list(items))

    def new_id(self, kind):
        self.ids += 1
        return f"{kind}{self.ids}"

    def member(self, element, key, value, chance=0.5):
        """Sets a member, sometimes: an absent one means the default."""
        if self.chance(chance):
            element[key] = value

    def text(self, words=6):
        """A text for a field that the reference cleans and quotes."""
        text = random_text.tame(self.rng, words)
        pools = {
            "text_breaks": random_text.LINE_BREAKS,
            "text_astral": random_text.ASTRAL,
            "text_compatible": random_text.COMPATIBLE,
            "text_controls": random_text.CONTROLS,
            "text_code": random_text.CODE,
            "text_surrogates": ("\ud83d", "\ude00", "x\udfffy"),
        }
        for oddity, pool in pools.items():
            if self.odd(oddity, 0.3):
                at = self.rng.randint(0, len(text))
                text = text[:at] + self.pick(pool) + text[at:]
        return text

    def plain(self):
        """A text for a field that the reference pastes as it is."""
        return random_text.plain(self.rng)

    def template(self):
        """A text with placeholders, and whether they count."""
        words = self.text(3)
        for _ in range(self.rng.randint(0, 3)):
            words += " {" + self.pick(self.variables) + "}" + random_text.plain(self.rng, 1)
        if self.odd("placeholders"):
            words += " " + self.pick(
                ("{größe}", "{имя}", "{{name}}", "{rag_out}", "{user_message} {slot}", "{a b} {} {x{age}}")
            )
        if self.chance(0.3):
            words += " {user_message}"
        return words, self.chance(0.6)

    def name(self, kind, oddity):
        return random_text.name(self.rng, self.taken, kind, self.odd(oddity))

    def number(self, value):
        """An integer, sometimes spelled otherwise."""
        if self.odd("numbers"):
            return self.pick(
                (None, str(value), f" {value} ", f"{value}.7", "many", "nan", True, value + 0.9, [], {}, 1e400, "٣")
            )
        return value

    def real(self, value):
        if self.odd("numbers"):
            return self.pick(
                (None, str(value), "nan", "inf", "-Infinity", "1e5", "x", True, [], 1e400, "1_0", " 2.5 ")
            )
        return value

    # ---- states ----------------------------------------------------------------------------------------------------
    def add_state(self):
        key = self.new_id("s")
        name = self.name("state", "state_names")
        self.elements[key] = {
            "id": key,
            "type": "AgentState",
            "name": name,
        }  # before its actions: order is model order
        if self.llms and self.chance(0.15):
            element = self.reasoning_state()
            if self.chance(self.legacy):
                element["type"] = "AgentReasoningState"
            else:
                element["stateType"] = "reasoning"
        else:
            legacy = self.chance(self.legacy)
            element = {"bodies" if legacy else "actions": self.actions(key)}
            self.member(element, "stateType", "standard")
            if self.chance(0.4):
                element["fallbackBodies" if legacy else "fallbackActions"] = self.actions(key)
                self.member(element, "fallbackBodyEnabled", self.pick((True, False)), 0.4)
        self.elements[key].update(element)
        self.states.append(key)

    def reasoning_state(self):
        element = {}
        self.member(element, self.pick(("llm_name", "llm")), self.pick((None, "", self.pick(self.llms))))
        self.member(element, "max_steps", self.pick((None, 3, "12", 4.0)))
        self.member(element, "enable_task_planning", self.pick((None, True, False)))
        self.member(element, "stream_steps", self.pick((None, True, False)))
        self.member(element, "system_prompt", self.pick((None, "", self.text())))
        self.member(element, "fallback_message", self.pick((None, "", self.text())))
        return element

    # ---- transitions -----------------------------------------------------------------------------------------------
    def predefined(self, arc, kind, **fields):
        """In the block of today, or flat as before."""
        fields = {"predefinedType": kind, **fields}
        if kind != "when_variable_operation_matched" and self.chance(self.legacy):
            arc.update(fields)
            self.member(arc, "transitionType", "predefined")
        else:
            arc.update(transitionType="predefined", predefined=fields)

    def intent_arc(self, arc, unused):
        name = unused.pop(self.rng.randrange(len(unused)))
        if self.odd("intent_spellings"):
            name = self.pick((f" {name} ", name.upper(), f"\t{name.swapcase()}\n"))
        if self.odd("oldest_spellings"):
            arc.update(condition="when_intent_matched", conditionValue=name)
        else:
            self.predefined(arc, "when_intent_matched", intentName=name)

    def variable_arc(self, arc):
        value = self.pick(("10", "Berlin", "", "it is"))
        if self.odd("variable_types"):
            value = self.pick((10, 2.5, True, False, None, -1, 1e20, 9007199254740991))
        if self.odd("variable_texts"):
            value = self.pick(("it's", 'a"b', "\\", "\n", "'); x(); ('"))
        name = self.pick(("it's", "a\\", "x\ny", 'q"')) if self.odd("variable_texts") else self.pick(self.variables)
        fields = {"variable": name, "operator": self.pick(("<", "<=", "==", ">=", ">", "!=")), "targetValue": value}
        if self.odd("oldest_spellings"):
            arc.update(predefinedType="when_variable_operation_matched", **fields)
        else:
            self.predefined(arc, "when_variable_operation_matched", conditionValue=fields)

    def file_arc(self, arc):
        types = ", ".join(self.pick(FILE_TYPES) for _ in range(self.rng.randint(0, 3)))
        self.predefined(arc, "when_file_received", fileType=types)

    def form_arc(self, arc):
        self.predefined(arc, "when_form_submitted", formGuiId=self.pick(self.guis + [""]))

    def none_arc(self, arc):
        if self.chance(0.3):
            return  # no kind at all means the same
        self.predefined(arc, "when_no_intent_matched")

    def custom_arc(self, arc, number):
        conditions = []
        for index in range(self.rng.randint(0, 3 if self.odd("two_conditions") else 1)):
            name = f"condition_{number}_{index + 1}"
            if self.odd("condition_names"):
                name = self.pick(("is_late", "condition_1_1", "agent", "f", "check"))
                source = self.pick(CONDITIONS)
                if self.chance(0.3):
                    source = source.replace("(session)", "(session, params)")
                if self.chance(0.3):
                    source = (
                        f"def helper(x):\n    return bool(x)\n\n\n{source}"
                        if self.chance(0.5)
                        else f"{source}\n\n\ndef helper(x):\n    return bool(x)\n"
                    )
            else:
                source = self.pick(CONDITIONS)
            conditions.append(source.replace("NAME", name))
        event = self.pick(EVENTS + ("None", "") if conditions else EVENTS)
        arc["transitionType"] = "custom"
        fields = {"event": event, "condition": conditions}
        if self.odd("gui_filters"):
            fields.update(event="GUIEvent", guiEventGuiId=self.pick(self.guis + ["elsewhere"]))
        if self.chance(self.legacy):
            arc.update({"customEvent": fields.pop("event"), "customConditions": fields.pop("condition"), **fields})
        else:
            arc["custom"] = fields

    def add_arcs(self):
        """Transitions of every state, numbered as the contract numbers conditions: in the order they are created."""
        number = 0
        for source in self.states:
            unused = list(self.intents)
            for _ in range(self.rng.randint(0, 4)):
                arc = self.arc(source, self.pick(self.states))
                number += 1
                makers = [
                    lambda: self.variable_arc(arc),
                    lambda: self.file_arc(arc),
                    lambda: self.form_arc(arc),
                    lambda: self.none_arc(arc),
                    lambda: self.custom_arc(arc, number),
                ]
                if unused:
                    makers += [lambda: self.intent_arc(arc, unused)] * 3
                self.pick(makers)()
            if self.chance(0.2):
                self.predefined(self.arc(source, self.pick(self.states)), "auto")
                number += 1
        self.arcs_created = number

    def arc(self, source, target, kind="AgentStateTransition"):
        key = self.new_id("r")
        self.relationships[key] = {
            "id": key,
            "type": kind,
            "source": {"element": source, "direction": "Right"},
            "target": {"element": target, "direction": "Left"},
        }
        return self.relationships[key]

    def add_comments(self):
        for _ in range(self.rng.randint(0, 2)):
            key = self.new_id("n")
            self.elements[key] = {"id": key, "type": "Comments", "name": self.text()}
            if self.chance(0.6):
                ends = [key, self.pick(self.states)]
                self.rng.shuffle(ends)
                self.arc(*ends, kind="Link")

    # ---- the whole -------------------------------------------------------------------------------------------------
    def config(self):
        flat = {}
        self.member(flat, "agentPlatform", self.pick(("websocket", "streamlit", "other")), 0.3)
        self.member(flat, "intentRecognitionTechnology", self.pick(("llm-based", "classical", "other")), 0.3)
        self.member(flat, "inputModalities", self.pick((["text"], ["text", "Speech"], [])), 0.3)
        self.member(flat, "outputModalities", self.pick((["text"], ["speech"], [])), 0.3)
        self.member(
            flat, "llm", {"provider": "openai", self.pick(("name", "model")): self.pick(self.llms + ["gpt-9"])}, 0.3
        )
        self.member(flat, "agentStyle", "formal", 0.2)
        if self.odd("telegram"):
            flat["agentPlatform"] = "telegram"
        if self.odd("settings", 1):
            return self.odd_config(flat)
        config = flat
        if self.chance(0.4):
            config = {
                "system": {k: flat[k] for k in ("agentPlatform", "intentRecognitionTechnology", "llm") if k in flat},
                "modality": {k: flat[k] for k in ("inputModalities", "outputModalities") if k in flat},
                "presentation": {"agentLanguage": "original", "agentStyle": "original"},
            }
        if self.odd("personalization"):
            config["personalizationMapping"] = [
                {
                    "name": "kids",
                    "user_profile": {"age": 9},
                    "configuration": {"outputModalities": self.pick((["speech"], ["text"]))},
                }
            ]
        self.member(config, "default_llm_name", self.pick(self.llms + ["nobody", "", None]), 0.4)
        self.member(config, "language", self.pick(("none", "french", "", "martian")), 0.2)
        return config

    def odd_config(self, flat):
        config = {key: value for key, value in flat.items() if self.chance(0.5)}
        for section, keys in (
            ("system", ("agentPlatform", "agentPlatformUseStreamlit", "intentRecognitionTechnology", "llm")),
            ("modality", ("inputModalities", "outputModalities")),
            ("presentation", ("agentStyle", "avatar")),
            ("behavior", ("responseTiming",)),
            ("content", ("adaptContentToUserProfile",)),
        ):
            values = {
                "agentPlatform": ("websocket", "streamlit", "", None, "Telegram"),
                "agentPlatformUseStreamlit": (True, 1, "yes", False),
                "intentRecognitionTechnology": ("classical", "Classical", None),
                "llm": ({}, {"name": ""}, {"model": "m'x"}, {"name": "y"}),
                "inputModalities": (["SPEECH"], [], None),
                "outputModalities": (["Speech", "text"], ["Text"], []),
            }
            block = {key: self.pick(values.get(key, ("x", None, 5))) for key in keys if self.chance(0.5)}
            if self.chance(0.6):
                config[section] = block if self.chance(0.8) else self.pick((None, "x", 5, [], True))
        self.member(config, "default_llm_name", self.pick(self.llms + [" padded ", 5, ["x"], "  "]), 0.5)
        self.member(config, "language", self.pick(("None", "FRENCH", 5, None, ["french"], "")), 0.5)
        self.member(config, "source_language", self.pick(("german", 5, None)), 0.3)
        self.member(config, "unknown", {"a": [1, None]}, 0.5)
        return config

    def request(self):
        title = self.plain()
        if self.odd("title_any", 0.8):
            title = self.pick(
                ("it's", 'a"b', "../up", "a/b", "x\ny", "'); raise SystemExit; ('", "\\", "😀", "a.b", "   ")
            ) + str(self.ids)
        for count, add in ((3, self.add_llm), (4, self.add_intent), (2, self.add_rag), (2, self.add_gui)):
            least = 1 if add == self.add_llm and "no_llm" not in self.oddities and self.chance(0.7) else 0
            for _ in range(self.rng.randint(least, count)):
                if add != self.add_llm or not self.odd("no_llm", 0.9):
                    add()
        self.add_reasoning_parts()
        for _ in range(self.count):
            self.add_state()
        initial = self.new_id("i")
        self.elements[initial] = {"id": initial, "type": "StateInitialNode", "name": ""}
        self.arc(initial, self.pick(self.states), self.pick(("AgentStateTransitionInit", "AgentStateTransition")))
        self.add_arcs()
        self.add_comments()
        if self.odd("loose_ends", 1):
            loose_ends.tie(self)
        elif self.chance(0.3):
            self.shuffle_relationships()
        return self.layout(title)

    def shuffle_relationships(self):
        """Arcs of different states may be mixed: only the order within one state counts (and numbers conditions)."""
        if any("custom" in arc or "customConditions" in arc for arc in self.relationships.values()):
            return
        groups = {}
        for key, arc in self.relationships.items():
            groups.setdefault(arc["source"]["element"], []).append((key, arc))
        mixed = []
        while groups:
            source = self.pick(sorted(groups))
            mixed.append(groups[source].pop(0))
            if not groups[source]:
                del groups[source]
        self.relationships = dict(mixed)

    def layout(self, title):
        """Components where today's editor puts them, or older ones did."""
        model = {
            "type": "AgentDiagram",
            "version": "3.0.0",
            "size": {"width": 800, "height": 600},
            "elements": self.elements,
            "relationships": self.relationships,
        }
        request = {"title": title, "model": model}
        where = "components" if not self.chance(self.legacy) else self.pick(("elements", "agentComponents", "mixed"))
        if where == "components":
            model["components"] = self.components
        elif where == "elements":
            model["elements"] = {**self.components, **self.elements}
        elif where == "agentComponents":
            request["agentComponents"] = self.components
        else:
            keys = list(self.components)
            half = self.rng.randint(0, len(keys))
            request["agentComponents"] = {key: self.components[key] for key in keys[:half]}
            model["components"] = {key: self.components[key] for key in keys[half:]}
            for key in keys[half : half + 2]:  # an older version of it, which does not count
                request["agentComponents"][key] = {"type": "AgentLLM", "name": "outdated", "provider": "nobody"}
        config = self.config()
        if config or self.chance(0.5):
            request["config"] = config
        if self.chance(0.2):
            request["configYaml"] = self.pick(CONFIG_YAML)
        elif self.odd("settings"):
            request["configYaml"] = self.pick((None, 5, {"a": 1}, []))
        return request


def build(seed, oddities=(), states=(1, 6), legacy=0.3):
    """A valid request. legacy: share of what is spelled as older editors did."""
    return Builder(seed, oddities, states, legacy).request()


def main(argv):
    oddities = ODDITIES if "all" in argv[2:] else argv[2:]
    print(json.dumps(build(int(argv[1]), oddities), indent=1))


if __name__ == "__main__":
    main(sys.argv)
