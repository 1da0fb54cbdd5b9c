"""Where the reference is known to be wrong, one row a fault: the rule of the contract that says so, in which diagrams it
shows, and which differences it explains. A difference that no row explains is a fault of ours, or a new row.

Rules: Vn and Dn of sections 10 and 11 of the agent diagram contract; "11" is the table at its end; 2.2 the section;
BAF: the framework itself fails, whatever program calls it.
"""

from __future__ import annotations

import dataclasses
import json
import keyword
import math
import re
import unicodedata
from collections.abc import Callable

LOAD = "(load)"


@dataclasses.dataclass(frozen=True)
class Fault:
    rule: str
    what: str
    shows: Callable  # View -> bool: can this diagram have it?
    explains: Callable  # (path, reference's value, ours) -> bool
    refusal: str = ""  # instead, or besides: pattern of the error with which the reference refuses or dies
    samples: tuple = ()  # oddities of random_diagram that make it


def pattern(expression):
    compiled = re.compile(expression)
    return lambda path, theirs, ours: bool(compiled.search(path))


def load(path, _theirs, _ours):
    return path == LOAD


def anything(_path, _theirs, _ours):
    return True


IN_BODY = r"\.(body|fallback)(\.|$)"
in_body = pattern(IN_BODY)


def load_or_body(path, theirs, ours):
    return load(path, theirs, ours) or in_body(path, theirs, ours)


def breaks_line(text):
    return len((text + "x").splitlines()) > 1 or "\r" in text


def folded(text):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text))


def changed_by_folding(text):
    return folded(text) != unicodedata.normalize("NFC", text)


def same_when_folded(_path, theirs, ours):
    """Also inside a longer text: a prompt that has been joined with an answer."""
    return isinstance(theirs, str) and isinstance(ours, str) and folded(theirs) == folded(ours)


def broken_characters(_path, theirs, ours):
    return isinstance(theirs, str) and theirs == f"<half characters>{ours}"


def is_odd_identifier(name):
    """Not what the random diagrams call things that may be Python variables unchanged."""
    return not re.fullmatch(r"(state|intent|llm|rag|gui|skill)_[a-z]+_[0-9]+", name)


def safe(name):
    text = re.sub(r"_+", "_", re.sub(r"\W", "_", name)).strip("_").lower() or "unnamed"
    return text + "_" if keyword.iskeyword(text) else text


def wrong_llm_variable(name):
    """Declared under one name and used under another, or under no identifier at all, or one that means something else."""
    declared, used = safe(name), re.sub(r"[-. ]", "_", name)
    return declared != used or not declared.isidentifier() or is_odd_identifier(name.replace("-", "_"))


def is_odd_gui(gui_id):
    return is_odd_identifier(safe(gui_id)) or safe(gui_id) != gui_id or changed_by_folding(gui_id)


PLACEHOLDER = re.compile(r"\{(\w+)\}")


def is_awkward_template(text):
    names = PLACEHOLDER.findall(text)
    spoken = [name for name in names if name == "user_message"]
    return (
        any(not name.isascii() for name in names)
        or (spoken and len(set(names)) > 1)
        or "rag_out" in text
        or any(name.startswith("answer") or name.startswith("rag_out") for name in names)
        or "{x{" in text
        or "{{" in text
    )


def is_not_finite(value):
    if isinstance(value, float):
        return not math.isfinite(value)
    try:
        return isinstance(value, str) and not math.isfinite(float(value))
    except ValueError:
        return False


def plain_signature(code):
    return re.search(r"def \w+\(session: Session\):", code) is not None


def function_names(source):
    return re.findall(r"^def (\w+)\(", source, re.M)


def condition_is_found(source):
    """Under its number, which condition_1_1 of the random diagrams often is not, and with one parameter."""
    return re.match(r"def condition_(?!1_1\()\d+_\d+\(session\):", source) is not None


def target_as_text(path, theirs, ours):
    return path.endswith(".target") and theirs in (str(ours), str(float(ours or 0)))


def text_target(value):
    return isinstance(value, str)


def mapping_of(view):
    return isinstance(view.config.get("personalizationMapping"), list)


def is_ours_better_gui(path, theirs, ours):
    return ".event" in path or ".condition" in path


FAULTS = (
    Fault(
        "V1",
        "a line break in a text ends the literal it is pasted into",
        lambda v: any(breaks_line(text) for text in v.texts),
        load,
        samples=("text_breaks", "text_controls", "text_code"),
    ),
    Fault(
        "V1",
        "characters outside the basic plane become two halves",
        lambda v: any(ord(c) > 0xFFFF for text in v.texts for c in text),
        broken_characters,
        samples=("text_astral",),
    ),
    Fault(
        "V27",
        "compatibility normalisation changes texts",
        lambda v: any(changed_by_folding(text) for text in v.texts),
        same_when_folded,
        samples=("text_compatible", "text_astral", "text_controls"),
    ),
    Fault(
        "2.2",
        "half a character is an internal error",
        lambda v: re.search("[\ud800-\udfff]", json.dumps(v.request, ensure_ascii=False)),
        anything,
        refusal="UnicodeEncodeError",
        samples=("text_surrogates",),
    ),
    Fault(
        "V1",
        "the title is pasted into a literal and a comment",
        lambda v: re.search(r"['\\\n\r]", v.request["title"]),
        lambda path, *_: path in (LOAD, "agent.name"),
        samples=("title_any",),
    ),
    Fault(
        "V11",
        "the title is a file name",
        lambda v: re.search(r"[./\\]", v.request["title"]),
        load,
        refusal="FileNotFoundError|NotADirectoryError|IsADirectoryError",
        samples=("title_any",),
    ),
    Fault(
        "V2",
        "state names are variables of the program",
        lambda v: any(is_odd_identifier(name) for name in v.names("AgentState", "AgentReasoningState")),
        anything,
        samples=("state_names",),
    ),
    Fault(
        "V2",
        "intent names are variables of the program",
        lambda v: any(is_odd_identifier(name) for name in v.names("AgentIntent")),
        anything,
        samples=("intent_names",),
    ),
    Fault(
        "V12",
        "an LLM is declared under one variable and used under another",
        lambda v: any(wrong_llm_variable(name) for name in v.names("AgentLLM")),
        load_or_body,
        samples=("llm_names",),
    ),
    Fault(
        "V1",
        "an LLM's name becomes two halves",
        lambda v: any(ord(c) > 0xFFFF for name in v.names("AgentLLM") for c in name),
        lambda path, *_: path == "llms" or broken_characters(path, *_),
        samples=("llm_names",),
    ),
    Fault(
        "V27",
        "an LLM's name is normalised, references to it are not always",
        lambda v: any(unicodedata.normalize("NFKD", name) != name for name in v.names("AgentLLM")),
        lambda path, *_: in_body(path, *_) or re.match(r"ic\.|rags|llms|states\[.*\.reasoning", path),
        refusal="not registered|LLM",
        samples=("llm_names",),
    ),
    Fault(
        "V1",
        "RAG names are pasted into the program and into paths",
        lambda v: any(is_odd_identifier(name) for name in v.names("AgentRagElement")),
        anything,
        samples=("rag_names",),
    ),
    Fault(
        "V2",
        "GUI ids are variables of the program",
        lambda v: any(is_odd_gui(gui) for gui in v.values("gui_id")),
        load_or_body,
        refusal="both map to",
        samples=("gui_ids",),
    ),
    Fault(
        "V1",
        "a GUI's id becomes two halves",
        lambda v: any(ord(c) > 0xFFFF for gui in v.values("gui_id") for c in gui),
        broken_characters,
        samples=("gui_ids",),
    ),
    Fault(
        "V27",
        "a GUI's id is cleaned, references to it are not always",
        lambda v: any(
            re.search(r"[\x00-\x1f\x7f]", gui) or changed_by_folding(gui) or gui != gui.strip()
            for gui in v.values("gui_id")
        ),
        lambda path, *_: path.endswith(".form") or ".event" in path,
        samples=("gui_ids",),
    ),
    Fault(
        "V11",
        "skill names are file names",
        lambda v: any(re.search(r"[./\\:]", name) for name in v.names("AgentSkill")),
        pattern(r"^skills"),
        refusal="FileNotFoundError|OSError",
        samples=("skill_names",),
    ),
    Fault(
        "D4",
        "placeholders: one after the other, not with every letter, objects instead of answers",
        lambda v: any(is_awkward_template(text) for text in v.templates),
        in_body,
        samples=("placeholders",),
    ),
    Fault(
        "V1",
        "embedding settings are pasted into literals",
        lambda v: any(re.search(r"['\\\n]", text) for text in v.values("embedding_base_url", "embedding_model")),
        lambda path, *_: path == LOAD or ".embedding" in path,
        samples=("embedding_texts",),
    ),
    Fault(
        "V1",
        "comparisons are pasted into literals",
        lambda v: any(
            re.search(r"['\\\n]", str(value)) for arc, block in v.arcs for value in comparison_of(arc, block)
        ),
        lambda path, *_: path == LOAD or ".transitions" in path,
        samples=("variable_texts",),
    ),
    Fault(
        "V7",
        "comparison values become texts",
        lambda v: any(not isinstance(value, str) for arc, block in v.arcs for value in comparison_of(arc, block)[1:]),
        target_as_text,
        samples=("variable_types",),
    ),
    Fault(
        "V18",
        "texts such as nan become names, infinite numbers an internal error",
        lambda v: any(is_not_finite(value) for value in v.values(*NUMBERS)),
        lambda path, *_: in_body(path, *_) or path.startswith("rags"),
        refusal="OverflowError|NaN|nan",
        samples=("numbers",),
    ),
    Fault(
        "V4",
        "custom code needs one exact signature",
        lambda v: any(not plain_signature(action["name"]) for action in v.actions_of("CustomCodeAction")),
        load,
        samples=("code_signatures",),
    ),
    Fault(
        "V5",
        "of custom code among other actions one piece survives",
        lambda v: any(
            len(body) > 1 and any(v.kind(action) == "CustomCodeAction" for action in body) for body in v.bodies
        ),
        load_or_body,
        samples=("code_mixed", "shared_actions"),
    ),
    Fault(
        "V8",
        "file, image, table and plot replies use names that nothing defines",
        lambda v: v.actions_of(*(f"WebSocketReply{kind}Action" for kind in ("File", "Image", "Dataframe", "Plotly"))),
        in_body,
        samples=("object_replies",),
    ),
    Fault(
        "V17",
        "the GUI of a custom GUI event does not count",
        lambda v: any(block.get("guiEventGuiId") for _, block in v.arcs),
        is_ours_better_gui,
        samples=("gui_filters",),
    ),
    Fault(
        "V3",
        "conditions are looked for under a numbered name and with one parameter",
        lambda v: any(not condition_is_found(source) for items in v.conditions for source in items),
        lambda path, *_: path == LOAD or ".condition" in path,
        samples=("condition_names",),
    ),
    Fault(
        "BAF",
        "two conditions on one transition: a class that is not imported",
        lambda v: any(len(items) > 1 for items in v.conditions),
        load,
        samples=("two_conditions",),
    ),
    Fault(
        "11",
        "the oldest spellings of transitions are not read",
        lambda v: any("condition" in arc or ("variable" in arc and "operator" in arc) for arc, _ in v.arcs),
        lambda path, *_: ".transitions" in path,
        samples=("oldest_spellings",),
    ),
    Fault(
        "V20",
        "references to intents with blanks or other capitals",
        lambda v: any(
            name not in v.names("AgentIntent") for _, block in v.arcs for name in [block.get("intentName")] if name
        ),
        load,
        samples=("intent_spellings",),
    ),
    Fault(
        "V13",
        "an LLM's global context is dropped",
        lambda v: any(v.values("global_context")),
        lambda path, *_: path.endswith(".global_context"),
        samples=("global_context",),
    ),
    Fault(
        "V24",
        "RAG stores do not hear of the session",
        lambda v: any(v.values("num_previous_messages", "numPreviousMessages")),
        lambda path, *_: path.endswith(".history"),
        samples=("rag_history",),
    ),
    Fault(
        "V14",
        "a tool's description is dropped",
        lambda v: v.of_type("AgentTool"),
        lambda path, *_: re.fullmatch(r"tools\[.*\]\.description", path),
        samples=("tool_descriptions",),
    ),
    Fault(
        "D3",
        "helper functions become tools",
        lambda v: any("def helper" in code for code in v.values("code")),
        pattern(r"^tools"),
        samples=("tool_helpers",),
    ),
    Fault(
        "V15",
        "a skill's name and description are dropped",
        lambda v: any(
            element.get("description") or re.match(r"\s*(#|---)", element["content"])
            for element in v.of_type("AgentSkill")
        ),
        pattern(r"^skills"),
        samples=("skill_descriptions",),
    ),
    Fault(
        "V10",
        "absolute workspaces are created in one place and opened in another",
        lambda v: any(re.match(r"[/\\]|[A-Za-z]:", path) for path in v.values("path")),
        load,
        samples=("workspace_paths",),
    ),
    Fault(
        "V9",
        "Telegram in a session",
        lambda v: "telegram" in (v.config.get("agentPlatform"), (v.config.get("system") or {}).get("agentPlatform")),
        lambda path, *_: path.startswith("platforms") or in_body(path, *_),
        samples=("telegram",),
    ),
    Fault(
        "V21",
        "a personalization mapping replaces the agent by a router",
        mapping_of,
        lambda path, *_: re.search(
            r"^states$|\.transitions$|\.initial$|^platforms|^agent\.(persist_sessions|configurations)", path
        ),
        samples=("personalization",),
    ),
    Fault(
        "V1",
        "an Ollama base_url is pasted into config.yaml",
        lambda v: any("base_url" in (element.get("parameters") or {}) for element in v.of_type("AgentLLM")),
        lambda path, *_: path == LOAD or path.startswith("config"),
        samples=("ollama_urls",),
    ),
    Fault(
        "11",
        "an action of an LLM without any LLM ends the body",
        lambda v: not v.of_type("AgentLLM"),
        in_body,
        samples=("no_llm",),
    ),
)


def is_longer(_path, theirs, ours):
    """A body that went on where the reference's ended."""
    return isinstance(theirs, list) and isinstance(ours, list) and len(ours) > len(theirs)


def uses_message(view):
    return view.actions_of("LLMReplyAction", "RAGReplyAction", "DBAction", "WebCrawlLLMAction") or any(
        "{user_message}" in text for text in view.templates
    )


def lacks_falsy(theirs, ours):
    """The one text is the other without some of its false values."""
    parts = re.split(r"(0\.0|0|False)", ours)
    return re.fullmatch("".join(f"(?:{re.escape(part)}){'?' * (number % 2)}" for number, part in enumerate(parts)), theirs)


# For probes without a message and with variables that are false.
QUIET_FAULTS = (
    Fault(
        "V6",
        "without a message the body ends",
        uses_message,
        lambda path, theirs, ours: path.endswith(".raises")
        and ours == "(missing)"
        or is_longer(path, theirs, ours)
        or (
            in_body(path, theirs, ours)
            and theirs is not None
            and ours is not None
            and theirs != "(nothing)"
            and "calls" not in path
        ),
    ),
    Fault(
        "D4",
        "variables that are 0 or False are shown as nothing",
        lambda v: any(PLACEHOLDER.search(text) for text in v.templates),
        lambda path, theirs, ours: in_body(path, theirs, ours) and lacks_falsy(str(theirs), str(ours)),
    ),
)

NUMBERS = (
    "max_depth",
    "max_pages",
    "k",
    "bm25_weight",
    "num_previous_messages",
    "ws_latitude",
    "ws_longitude",
    "ws_audio_speed",
)


def comparison_of(arc, block):
    """[variable, target] of a comparison, in whichever place it is written; [] for other transitions."""
    for place in (block.get("conditionValue"), arc):
        if isinstance(place, dict) and "operator" in place:
            return [place.get("variable"), place.get("targetValue")]
    return []


def rows_for(oddities):
    """The faults that diagrams with these oddities can have."""
    return [fault for fault in FAULTS if set(fault.samples) & set(oddities)]


def explained(view, difference, faults=FAULTS):
    """The row that explains a difference between the programs, None when it is news."""
    return next((fault for fault in faults if fault.shows(view) and fault.explains(*difference)), None)


def explained_refusal(view, answer, faults=FAULTS):
    """The same for a diagram that the reference refuses, or dies of, and that is valid."""
    said = f"{answer['error']}: {answer['message']}"
    return next(
        (fault for fault in faults if fault.refusal and fault.shows(view) and re.search(fault.refusal, said)), None
    )
