"""Where a diagram holds text, and what a program looks like without its texts: for the proof that no text of a diagram can
change the structure of a program (7.9)."""

from __future__ import annotations

import ast
import copy

from tests.compiler.request_view import ACTION_OF_REPLY

RAW, CLEAN, TRIM, LABEL = "raw", "clean", "trim", "label"  # LABEL: nothing reads it
LINE, PART = "line", "part"  # one of several, with line breaks or commas between

# element type or kind of action -> key -> what becomes of the text
TEXTS = {
    "AgentIntentBody": {"name": CLEAN},
    "AgentIntent": {"intent_description": RAW},
    "AgentLLM": {"global_context": RAW},
    "AgentTool": {"description": RAW},
    "AgentSkill": {"description": RAW, "content": RAW},
    "AgentGUI": {"width": CLEAN},
    "AgentWorkspace": {"description": RAW},
    "AgentRagElement": {"embedding_base_url": RAW, "embedding_model": RAW, "llm_prompt": TRIM, "llmPrompt": TRIM},
    "AgentState": {"system_prompt": RAW, "fallback_message": RAW},
    "AgentReasoningState": {"system_prompt": RAW, "fallback_message": RAW},
    "Comments": {"name": RAW},
    "TextReplyAction": {"name": CLEAN},
    "LLMReplyAction": {
        "system_message": CLEAN,
        "llmPrompt": CLEAN,
        "customInputPrompt": RAW,
        "storeInSession": CLEAN,
        "name": LABEL,
    },
    "LLMChatAction": {"system_message": CLEAN, "llmPrompt": CLEAN, "storeInSession": CLEAN, "name": LABEL},
    "RAGReplyAction": {"prompt": CLEAN, "customInputPrompt": RAW, "storeInSession": CLEAN},
    "DBAction": {
        "dbSqlQuery": RAW,
        "dbCustomName": TRIM,
        "customInputPrompt": RAW,
        "storeInSession": CLEAN,
        "name": LABEL,
    },
    "WebCrawlLLMAction": {
        "initial_url": CLEAN,
        "base_url_prefix": CLEAN,
        "no_crawl_error_message": CLEAN,
        "system_message_prefix": CLEAN,
        "storeInSession": CLEAN,
        "name": LABEL,
    },
    "WebSocketReplyMarkdownAction": {"ws_message": CLEAN, "name": LABEL},
    "WebSocketReplyHTMLAction": {"ws_message": CLEAN, "name": LABEL},
    "WebSocketReplySpeechAction": {"ws_message": CLEAN, "name": LABEL},
    "WebSocketReplyOptionsAction": {"ws_options": LINE, "name": LABEL},
    "WebSocketReplyLocationAction": {"name": LABEL},
}
COMPARISON = {"variable": RAW, "targetValue": RAW}


def clean(text):
    """2.1 and 2.2: control characters go, halves of characters become U+FFFD."""
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return "".join(c for c in text if c in "\t\n\r" or not (ord(c) < 32 or ord(c) == 127))


SPACES = "\x1c\x1d\x1e\x1f\x85"


def becomes(text, how):
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return {
        RAW: whole,
        CLEAN: clean(text),
        TRIM: clean(whole.strip()),
        LABEL: "",
        LINE: whole.replace("\n", "").strip(),
        PART: whole.replace(",", "").strip(),
    }[how]


def written(text, how):
    """The text as it may stand in a field of that kind: one option, one type of file."""
    return text.replace({LINE: "\n", PART: ","}.get(how, "\0"), "")


def elements_of(request):
    model = request.get("model") or {}
    for place in (model.get("elements"), request.get("agentComponents"), model.get("components")):
        for key, element in (place or {}).items():
            if isinstance(element, dict):
                yield key, element


def text_fields(request):
    """[(object, key, how)] of every text that is there; objects belong to the request and may be written to."""
    found = []
    for _, element in elements_of(request):
        kind = element.get("actionType") or ACTION_OF_REPLY.get(element.get("replyType")) or element.get("type")
        for key, how in TEXTS.get(kind, {}).items():
            if isinstance(element.get(key), str) and element[key].strip():
                found.append((element, key, how))
        if kind == "AgentLLM":
            found += values_of(element.get("parameters"))
    for arc in ((request.get("model") or {}).get("relationships") or {}).values():
        for place in (arc, arc.get("predefined") or {}):
            block = place.get("conditionValue")
            if isinstance(place.get("fileType"), str) and place["fileType"].strip(" ,"):
                found.append((place, "fileType", PART))
            if isinstance(block, dict):
                found += [
                    (block, key, how)
                    for key, how in COMPARISON.items()
                    if isinstance(block.get(key), str) and block[key]
                ]
    return found


def values_of(parameters):
    """The texts of a model's parameters, however deep."""
    items = parameters.items() if isinstance(parameters, dict) else enumerate(parameters if isinstance(parameters, list) else ())
    found = []
    for key, value in items:
        found += [(parameters, key, RAW)] if isinstance(value, str) and value else values_of(value)
    return found


# ---- programs without texts ----------------------------------------------------------------------------------------
def constants(source):
    """The strings of a program, in order, and its tree without them as a text."""
    tree, found = ast.parse(source), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
            node.value = ""
    return found, ast.dump(tree)


class Renamed(Exception):
    """Two programs are not the same up to names."""


def same_up_to_names(one, two):
    """Whether two programs differ in nothing but texts and a one-to-one renaming of variables. Aliases for user code
    come and go with the names they have, so those lines are left out."""
    there, back = {}, {}

    def match(a, b):
        if there.setdefault(a, b) != b or back.setdefault(b, a) != a:
            raise Renamed(f"{a} and {b}")

    def walk(a, b, field=None):
        if type(a) is not type(b):
            raise Renamed(f"{ast_text(a)} and {ast_text(b)}")
        if isinstance(a, ast.Constant) and isinstance(a.value, str):
            return
        if isinstance(a, ast.AST):
            for name in a._fields:
                walk(getattr(a, name, None), getattr(b, name, None), name)
        elif isinstance(a, list):
            if len(a) != len(b):
                raise Renamed(f"{len(a)} and {len(b)} of {field}: {ast_text(a)[:500]} and {ast_text(b)[:500]}")
            for left, right in zip(a, b):
                walk(left, right, field)
        elif field in ("id", "name", "asname", "module") and isinstance(a, str):
            match(a, b)
        elif field != "kind" and a != b:  # attributes, keywords of calls, numbers
            raise Renamed(f"{field}: {a!r} and {b!r}")

    walk(without_aliases(ast.parse(one)), without_aliases(ast.parse(two)))


def without_aliases(tree):
    tree.body = [
        node
        for node in tree.body
        if not (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Name)
        )
    ]
    return tree


def ast_text(node):
    return (
        ast.dump(node)
        if isinstance(node, ast.AST)
        else "[" + ", ".join(map(ast_text, node)) + "]" if isinstance(node, list) else repr(node)
    )


# ---- names ---------------------------------------------------------------------------------------------------------
NAMED = ("AgentState", "AgentReasoningState", "AgentIntent", "AgentLLM", "AgentRagElement", "AgentGUI", "AgentSkill")
REFERENCES = {
    "AgentLLM": ("llm_name", "llm", "llmName", "default_llm_name"),
    "AgentRagElement": ("ragDatabaseName",),
    "AgentGUI": ("guiId", "gui_id", "formGuiId", "guiEventGuiId"),
    "AgentIntent": ("intentName",),
}


def named_elements(request):
    """[(element, key of its name)] of those that have a name of their own: repeated ones are skipped by the rules."""
    found = [
        (element, "gui_id" if element["type"] == "AgentGUI" else "name")
        for _, element in elements_of(request)
        if element.get("type") in NAMED
    ]
    found = [(element, key) for element, key in found if isinstance(element.get(key), str) and element[key].strip()]
    names = [(element["type"], element[key].strip()) for element, key in found]
    return [item for item, name in zip(found, names) if names.count(name) == 1]


def rename(request, index, name):
    """The request with its index-th named element called otherwise, wherever it is meant."""
    request = copy.deepcopy(request)
    element, key = named_elements(request)[index]
    old, keys = element[key], REFERENCES.get(element["type"], ())
    element[key] = name
    if element["type"] not in ("AgentState", "AgentReasoningState", "AgentIntent"):
        name = clean(name.strip())  # what the others are called once they are read
    by_label = element["type"] == "AgentRagElement"

    def walk(value):
        if isinstance(value, dict):
            if (
                by_label
                and value.get("actionType") == "RAGReplyAction"
                and not value.get("ragDatabaseName")
                and value.get("name") == old
            ):
                value["name"] = name
            for member, item in value.items():
                if member in keys and isinstance(item, str) and item.strip().casefold() == old.strip().casefold():
                    value[member] = name
                elif member == "conditionValue" and element["type"] == "AgentIntent" and item == old:
                    value[member] = name
                else:
                    walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(request)
    return request


def is_refused_name(name):
    """The name rule (2.3)."""
    return not name.strip() or " " in name or "-" in name
