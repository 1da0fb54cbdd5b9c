"""Seeded changes of saved diagrams, such as editors, their users and years make: mutate(request, rng, count) gives a changed
copy and the names of the changes. Some make the diagram invalid.

    python -m tests.support.mutate_diagram SEED          # one as the tests use them
"""

from __future__ import annotations

import copy
import json
import pathlib
import random
import sys

from tests.support import random_text
from tests.support.random_parts import LEGACY_KINDS

FIXTURES = sorted((pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "diagrams").glob("*.json"))
STATES = ("AgentState", "AgentReasoningState")
NAMED = (*STATES, "AgentIntent", "AgentLLM", "AgentTool", "AgentSkill", "AgentWorkspace", "AgentRagElement")
ARCS = ("AgentStateTransition", "AgentStateTransitionInit")
LISTS = ("actions", "bodies", "fallbackActions", "fallbackBodies", "ownedElements")
BLOCKS = ("predefined", "custom")
# What refers to a component by its name, and in which members.
REFERENCES = {
    "AgentIntent": ("intentName", "conditionValue"),
    "AgentLLM": ("llm_name", "llmName", "llm", "default_llm_name"),
    "AgentRagElement": ("ragDatabaseName", "name"),
    "AgentGUI": ("guiId", "gui_id", "formGuiId", "guiEventGuiId"),
}
ODD_VALUES = (
    None, True, False, 0, 1, -1, 2.5, -0.0, 1e300, 10**15, -(10**18), "", " ", "\t\n", "0", "1", "false", "true", "3",
    " 7 ", "2.5", "1e3", "nan", "Infinity", "null", "None", [], {}, ["x"], {"a": 1}, "x", "{name}", "\u00a0", "é", "😀",
)  # fmt: skip
NAMES = ("class", "None", "agent", "x.y", "été", "e\u0301te\u0301", "ſtate", "状態", "😀", "a b", "a-b", "", " ", "9", "__name__",
         "fallback_intent", "İ", "ﬁ", "my_state", "a'b", 'a"b', "a\\", "a\nb", "a\u2028b", "Session", "print", "x" * 300)  # fmt: skip


def mutation(change):
    change.changes = True
    return change


class Mutator:
    def __init__(self, request, rng):
        self.request, self.rng, self.serial = request, rng, 0

    # ---- places ----------------------------------------------------------------------------------------------------
    @property
    def model(self):
        return self.request.get("model") if isinstance(self.request.get("model"), dict) else {}

    def maps(self):
        found = [self.model.get("elements"), self.model.get("components"), self.request.get("agentComponents")]
        return [item for item in found if isinstance(item, dict)]

    def elements(self, *types):
        return [
            item
            for place in self.maps()
            for item in place.values()
            if isinstance(item, dict) and (not types or item.get("type") in types)
        ]

    def arcs(self):
        found = self.model.get("relationships")
        return [item for item in found.values() if isinstance(item, dict)] if isinstance(found, dict) else []

    def pick(self, items):
        return self.rng.choice(list(items)) if items else None

    def key(self):
        self.serial += 1
        return f"added{self.serial}"

    def add(self, element):
        key = self.key()
        place = self.pick(self.maps())
        if place is None:
            return None
        place[key] = {"id": key, **element}
        return key

    def ids(self, *types):
        return [
            key
            for place in self.maps()
            for key, item in place.items()
            if isinstance(item, dict) and item.get("type") in types
        ]

    def objects(self):
        """Everything that has members: elements, relationships, their blocks, settings."""
        found = self.elements() + self.arcs()
        found += [arc[block] for arc in self.arcs() for block in BLOCKS if isinstance(arc.get(block), dict)]
        found += [
            block["conditionValue"] for block in found if isinstance(block.get("conditionValue"), dict)
        ]
        return [item for item in found if item]

    def settings(self):
        config = self.request.get("config")
        found = [config] if isinstance(config, dict) else []
        return found + [item for item in (found[0].values() if found else ()) if isinstance(item, dict)]

    # ---- changes of single values ----------------------------------------------------------------------------------
    def change_member(self, choose):
        place = self.pick(self.objects())
        keys = [key for key in place or () if key not in ("id", "type", "source", "target", "element")]
        if keys:
            key = self.pick(keys)
            place[key] = choose(place[key])

    @mutation
    def odd_value(self):
        self.change_member(lambda old: copy.deepcopy(self.pick(ODD_VALUES)))

    @mutation
    def null_value(self):
        self.change_member(lambda old: None)

    @mutation
    def number_as_text(self):
        def choose(old):
            if isinstance(old, bool):
                return str(old).lower()
            return str(old) if isinstance(old, (int, float)) else old

        for _ in range(4):
            self.change_member(choose)

    @mutation
    def blank_text(self):
        self.change_member(lambda old: self.pick(("", " ", "\n", "\t \u3000")) if isinstance(old, str) else old)

    @mutation
    def wild_text(self):
        self.change_member(lambda old: random_text.wild(self.rng) if isinstance(old, str) else old)

    @mutation
    def padded_text(self):
        self.change_member(lambda old: f" {old}\t" if isinstance(old, str) else old)

    @mutation
    def other_case(self):
        self.change_member(lambda old: old.swapcase() if isinstance(old, str) else old)

    @mutation
    def drop_member(self):
        place = self.pick(self.objects())
        if place:
            del place[self.pick(place)]

    @mutation
    def odd_setting(self):
        place = self.pick(self.settings())
        if not place:
            self.request["config"] = place = {"agentPlatform": "websocket", "llm": {}, "outputModalities": []}
        place[self.pick(place)] = copy.deepcopy(self.pick(ODD_VALUES))

    @mutation
    def drop_setting(self):
        place = self.pick(self.settings())
        if place:
            del place[self.pick(place)]

    @mutation
    def own_file(self):
        self.request["configYaml"] = self.pick(
            (None, 5, "", "null", "text", "- 1", "a: [", "platforms: 5", "platforms:\n  websocket:\n    port: 1\n", "a: &x 1\nb: *y")
        )

    @mutation
    def unknown_members(self):
        for item in self.objects():
            if self.rng.random() < 0.3:
                item.update(bounds={"x": -3, "y": 1e6}, owner=None, highlight="#fff", entities=[{"name": "x"}], params={})

    # ---- names -----------------------------------------------------------------------------------------------------
    @mutation
    def rename(self):
        item = self.pick(self.elements(*NAMED))
        if item is not None:
            item["name"] = self.pick(NAMES)

    @mutation
    def rename_alike(self):
        items = self.elements(*NAMED)
        if len(items) > 1:
            one, other = self.rng.sample(items, 2)
            name = other.get("name")
            one["name"] = self.pick((name, name.upper(), f" {name}")) if isinstance(name, str) else name

    @mutation
    def rename_everywhere(self):
        """With all that refers to it, as an editor does."""
        kind = self.pick(REFERENCES)
        item = self.pick(self.elements(kind))
        key = "gui_id" if kind == "AgentGUI" else "name"
        if item is None or not isinstance(item.get(key), str):
            return
        old, new = item[key], self.pick(NAMES) + self.pick(("", "_2"))
        item[key] = new
        for place in self.objects() + self.settings():
            for member in REFERENCES[kind]:
                if place.get(member) == old and place.get("type") in (None, "AgentStateBody", *STATES) + ARCS:
                    place[member] = new

    # ---- order, places, ids ----------------------------------------------------------------------------------------
    @mutation
    def shuffle(self):
        for key in ("elements", "components", "relationships"):
            if isinstance(self.model.get(key), dict):
                items = list(self.model[key].items())
                self.rng.shuffle(items)
                self.model[key] = dict(items)

    @mutation
    def move_components(self):
        """Where other versions of the editor keep them."""
        model = self.request.setdefault("model", {})
        if not isinstance(model, dict) or not isinstance(model.get("elements"), dict):
            return
        parts = {**(self.request.pop("agentComponents", None) or {}), **(model.pop("components", None) or {})}
        where = self.pick(("components", "agentComponents", "elements"))
        if where == "elements":
            model["elements"].update(parts)
        elif where == "components":
            model["components"] = parts
        else:
            self.request["agentComponents"] = parts

    @mutation
    def drop_element(self):
        place = self.pick([item for item in self.maps() if item])
        if place:
            del place[self.pick(place)]

    @mutation
    def drop_arc(self):
        arcs = self.model.get("relationships")
        if isinstance(arcs, dict) and arcs:
            del arcs[self.pick(arcs)]

    @mutation
    def copy_element(self):
        item = self.pick(self.elements())
        if item:
            self.add({key: copy.deepcopy(value) for key, value in item.items() if key != "id"})

    def lists(self):
        return [item[key] for item in self.elements() for key in LISTS if isinstance(item.get(key), list)]

    @mutation
    def dangling_id(self):
        found = self.pick(self.lists())
        if found is not None:
            found.insert(self.rng.randint(0, len(found)), self.pick(("nowhere", "", None, 5, True)))

    @mutation
    def shared_id(self):
        found, ids = self.pick(self.lists()), self.ids("AgentStateBody", "AgentIntentBody", "AgentStateFallbackBody", *STATES)
        if found is not None and ids:
            found.insert(self.rng.randint(0, len(found)), self.pick(ids))

    @mutation
    def reorder_list(self):
        found = self.pick(self.lists())
        if found:
            self.rng.shuffle(found)

    @mutation
    def owners(self):
        for item in self.elements():
            draw = self.rng.random()
            if draw < 0.3:
                item.pop("owner", None)
            elif draw < 0.5:
                item["owner"] = self.pick(("nowhere", None, 5, self.pick(self.ids(*STATES))))

    # ---- states and transitions ------------------------------------------------------------------------------------
    @mutation
    def swap_ends(self):
        arc = self.pick(self.arcs())
        if arc:
            arc["source"], arc["target"] = arc.get("target"), arc.get("source")

    @mutation
    def move_end(self):
        arc, ids = self.pick(self.arcs()), self.ids(*STATES, "StateInitialNode", "Comments", "AgentIntent", "AgentLLM")
        if arc:
            arc[self.pick(("source", "target"))] = {"element": self.pick(ids + ["nowhere", None])}

    @mutation
    def second_start(self):
        start, target = self.add({"type": "StateInitialNode", "name": ""}), self.pick(self.ids(*STATES))
        if start and isinstance(self.model.get("relationships"), dict):
            self.model["relationships"][self.key()] = {
                "type": self.pick(ARCS),
                "source": {"element": start},
                "target": {"element": target},
            }

    @mutation
    def copy_arc(self):
        arc = self.pick(self.arcs())
        if arc and isinstance(self.model.get("relationships"), dict):
            self.model["relationships"][self.key()] = copy.deepcopy(arc)

    @mutation
    def other_kind(self):
        arc = self.pick(self.arcs())
        if arc is None:
            return
        kind = self.pick(
            ("when_intent_matched", "when_no_intent_matched", "when_file_received", "when_form_submitted", "auto", "",
             "when_variable_operation_matched", "custom_transition", "later")  # fmt: skip
        )
        self.pick((arc, arc.setdefault("predefined", {}) or arc)).update(predefinedType=kind)
        arc["transitionType"] = self.pick(("predefined", "predefined", "custom", "", None))

    @mutation
    def other_action(self):
        item = self.pick(self.elements("AgentStateBody", "AgentStateFallbackBody"))
        if item:
            item["actionType"] = self.pick((*LEGACY_KINDS, "", "NoSuchAction", None))

    @mutation
    def other_type(self):
        item = self.pick(self.elements())
        if item:
            item["type"] = self.pick((*NAMED, "AgentGUI", "Comments", "StateInitialNode", "AgentStateBody", "Class", "", None))

    @mutation
    def reasoning(self):
        item = self.pick(self.elements("AgentState"))
        if item:
            item.update(stateType="reasoning", max_steps=self.pick((None, 0, 1, "4", 2.9, 10**18)))

    @mutation
    def older_spelling(self):
        for item in self.elements():
            for new, old in (("actions", "bodies"), ("fallbackActions", "fallbackBodies")):
                if new in item and self.rng.random() < 0.5:
                    item[old] = item.pop(new)
            if item.get("actionType") in LEGACY_KINDS and self.rng.random() < 0.5:
                item["replyType"] = LEGACY_KINDS[item.pop("actionType")]
            if item.get("type") == "AgentIntent" and "bodies" in item and self.rng.random() < 0.5:
                item["ownedElements"] = item.pop("bodies")
        for arc in self.arcs():
            block = arc.get("predefined")
            if isinstance(block, dict) and arc.get("transitionType") != "custom" and self.rng.random() < 0.5:
                arc.update(arc.pop("predefined"))
            block = arc.get("custom")
            if isinstance(block, dict) and arc.get("transitionType") == "custom" and self.rng.random() < 0.5:
                block = arc.pop("custom")
                arc.update(customEvent=block.get("event"), customConditions=block.get("condition"))

    # ---- additions -------------------------------------------------------------------------------------------------
    @mutation
    def comments(self):
        ids = self.ids(*STATES, "AgentIntent", "AgentLLM", "Comments", "AgentStateBody", "StateInitialNode")
        for _ in range(self.rng.randint(1, 4)):
            key = self.add({"type": "Comments", "name": self.pick(("note", "", " ", "é\n😀", None, 5))})
            for _ in range(self.rng.randint(0, 3)):
                ends = [{"element": key}, {"element": self.pick(ids)}]
                self.rng.shuffle(ends)
                if isinstance(self.model.get("relationships"), dict):
                    self.model["relationships"][self.key()] = {"type": "Link", "source": ends[0], "target": ends[1]}

    @mutation
    def same_sentences(self):
        body = self.add({"type": "AgentIntentBody", "name": self.pick(("hello", "é", "", None, 5))})
        for item in self.elements("AgentIntent"):
            if isinstance(item.get("bodies"), list):
                item["bodies"] += [body, body]

    @mutation
    def entities(self):
        self.add({"type": "AgentEntity", "name": "city", "entries": ["a"]})
        for item in self.elements("AgentIntent"):
            item.update(parameters=[{"name": "p", "entity": "city"}], entities=["city"])

    @mutation
    def lonely_parts(self):
        for kind in NAMED[2:]:
            if self.rng.random() < 0.3:
                self.add({"type": kind, "name": self.pick(("extra_1", "", None)), "code": "def extra_1():\n    pass\n",
                          "content": "c", "path": "p", "description": "d"})  # fmt: skip


MUTATIONS = tuple(name for name, made in vars(Mutator).items() if getattr(made, "changes", False))


def tame(request):
    """Names as random_diagram gives them, so that the reference has no trouble with any."""
    changed = Mutator(copy.deepcopy(request), random.Random(0))
    kinds = {"AgentIntent": "intent", "AgentLLM": "llm", "AgentRagElement": "rag", "AgentGUI": "gui"}
    for kind, word in kinds.items():
        key = "gui_id" if kind == "AgentGUI" else "name"
        names = {}
        for item in changed.elements(kind):
            if isinstance(item.get(key), str) and item[key].strip():
                names.setdefault(item[key], f"{word}_of_{len(names) + 1}")
                item[key] = names[item[key]]
        for place in changed.objects() + changed.settings():
            for member in REFERENCES[kind]:
                if isinstance(place.get(member), str) and place.get("type") not in (*NAMED[2:], "AgentIntentBody", "AgentGUI"):
                    if member != "name" or place.get("actionType") == "RAGReplyAction":
                        place[member] = names.get(place[member], place[member])
                elif kind == "AgentLLM" and place.get("type") == "AgentRagElement" and isinstance(place.get(member), str):
                    place[member] = names.get(place[member], place[member])
    names = {}
    for item in changed.elements(*STATES):
        if isinstance(item.get("name"), str) and item["name"].strip():
            names.setdefault(item["name"], f"state_of_{len(names) + 1}")
            item["name"] = names[item["name"]]
    return changed.request


def mutate(request, rng, count=3, names=MUTATIONS):
    mutator = Mutator(copy.deepcopy(request), rng)
    done = [rng.choice(names) for _ in range(count)]
    for name in done:
        getattr(mutator, name)()
    return mutator.request, done


def of_seed(seed, paths=None, tamed=0.7):
    """(name of a fixture, the changed request, the changes). tamed: the share of those that get plain names first."""
    rng = random.Random(seed)
    path = rng.choice(paths or FIXTURES)
    request = json.loads(path.read_text(encoding="utf-8"))
    if rng.random() < tamed:
        request = tame(request)
    changed, done = mutate(request, rng, rng.randint(1, 4))
    return path.stem, changed, done


def main(argv):
    name, changed, done = of_seed(int(argv[1]))
    print(name, *done, file=sys.stderr)
    print(json.dumps(changed, indent=1))


if __name__ == "__main__":
    main(sys.argv)
