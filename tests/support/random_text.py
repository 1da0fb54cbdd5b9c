"""Random texts and names for diagrams, from a seeded random.Random.

tame(rng)     what the reference generator gets right in every field: words of many scripts, quotes, backslashes
wild(rng)     anything a browser can send: line breaks of every kind, controls, astral characters, code
field(rng)    a long mixture for the property tests: every character that may matter, none left out for long
"""

from __future__ import annotations

import keyword

WORDS = (
    "hello",
    "Berlin",
    "ticket",
    "naïve",
    "grüße",
    "привет",
    "世界",
    "سلام",
    "ολα",
    "42",
    "it's",
    'say "no"',
    "50%",
    "a\\b",
    "\\n",
    "C:\\temp",
    "<b>x</b>",
    "&amp;",
    "#1",
    "a;b",
    "$(id)",
    "(yes)",
    "[no]",
    "*",
    "e=mc",
    "--",
    "../x",
    "no\u0301n",
    "end\\",
    "'",
    '"',
    "''",
    "%s",
    "%(x)d",
    "{",
    "}",
    "{}",
    "{0}",
    "{{7*7}}",
    "{% x %}",
    "{# c #}",
)

LINE_BREAKS = ("\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
CONTROLS = tuple(chr(c) for c in range(1, 32)) + ("\x7f", "\x80", "\x9f", "\xa0", "\xad")
ASTRAL = ("😀", "𝒳", "🇫🇷", "👩\u200d🚀", "\U0010ffff", "𐏿")
COMPATIBLE = ("²", "½", "…", "™", "ﬁ", "Ａ", "①", "K", "Ω")
ODD = ("\ufeff", "\u200b", "\u202e", "\ufffd", "\uffff", "\u0301", "\ud7ff", "\ue000", "İ", "ß", "ſ", "ŉ")
CODE = (
    "'''",
    '"""',
    "'); import os; ('",
    "\\'",
    "\\\\'",
    "\\",
    "\\\\",
    "\\x",
    "\\u12",
    "\\N{DIGIT ONE}",
    "f'{x}'",
    "b'",
    "\n    raise\n",
    "\ndef f():\n    pass\n",
    "# no",
    "'''\nagent = 1\n'''",
    "__import__('os')",
    "{user_message}",
    "{name}",
    "{{name}}",
    "}}",
    "{%",
    "%}",
    "${x}",
    "`id`",
    "\\\n",
    "'\\\n'",
    "-->",
    "]]>",
    ": - ?",
    "&a *a",
    "!!x",
    "---\n",
)

NAMES = (
    "hub",
    "greeting",
    "ask_name",
    "order",
    "help",
    "done",
    "Menu",
    "state_1",
    "x",
    "_",
    "zustand",
    "café",
    "état",
    "ночь",
    "終わり",
)
PROGRAM_NAMES = (
    "agent",
    "platform",
    "Session",
    "session",
    "default_llm",
    "self",
    "print",
    "__name__",
    "ic_config",
    "operator",
    "json",
    "os",
    "logging",
    "Agent",
    "list",
    "str",
    "isinstance",
    "stt",
    "tts",
    "crawl_website",
    "RAG",
    "nlp",
    "body_hub",
    "state_hub",
    "intent_x",
    "condition_1_1",
    "reply",
    "text",
    "logger",
    "main",
    "comparison",
    "fill",
)
NOT_IDENTIFIERS = (
    "a.b",
    "1st",
    "9",
    "what?",
    "it's",
    'a"b',
    "a/b",
    "a\\b",
    "a\nb",
    "a\rb",
    "a\tb",
    "a:b",
    "a#b",
    "(x)",
    "[y]",
    "a,b",
    "a=1",
    "*",
    "😀",
    "a\u2028b",
    "a\x0cb",
    "a\x01b",
    "../x",
    "a;b",
    "{x}",
    "%d",
    "‿",
    "a\x85b",
)


def tame(rng, words=6):
    return " ".join(rng.choice(WORDS[:26]) for _ in range(rng.randint(1, words)))


def plain(rng, words=4):
    """Letters and blanks of ASCII only."""
    return " ".join(
        rng.choice(("good", "day", "ticket", "Where", "is", "it", "please", "no", "thanks", "two"))
        for _ in range(rng.randint(1, words))
    )


def wild(rng, parts=8):
    pools = (WORDS, LINE_BREAKS, CONTROLS, ASTRAL, COMPATIBLE, ODD, CODE)
    return "".join(rng.choice(rng.choice(pools)) for _ in range(rng.randint(1, parts)))


def field(rng, length=40):
    """One hostile text: pieces of every pool and some code points from anywhere."""
    parts = []
    for _ in range(rng.randint(1, length)):
        draw = rng.random()
        if draw < 0.25:
            parts.append(rng.choice("'\"\\\n\r{}%#"))
        elif draw < 0.45:
            parts.append(rng.choice(rng.choice((LINE_BREAKS, CONTROLS, ASTRAL, ODD))))
        elif draw < 0.7:
            parts.append(rng.choice(CODE))
        elif draw < 0.85:
            parts.append(rng.choice(WORDS))
        else:
            code = rng.choice((rng.randint(1, 0x2FF), rng.randint(0x2000, 0x30FF), rng.randint(1, 0x10FFFF)))
            parts.append(chr(code) if not 0xD800 <= code < 0xE000 else "\ufffd")
    return "".join(parts)


def name(rng, taken, kind, odd=False):
    """A new name that the name rule accepts (no blank, no hyphen); `taken` holds case-folded names and grows."""
    while True:
        if odd:
            pool = rng.choice((keyword.kwlist, PROGRAM_NAMES, NOT_IDENTIFIERS, NAMES))
            found = rng.choice(pool) + rng.choice(("", "", "", str(rng.randint(1, 99)), rng.choice(ASTRAL)))
            found = found.replace(" ", "").replace("-", "_")
        else:
            found = f"{kind}_{rng.choice(('hub', 'greet', 'ask', 'order', 'help', 'done'))}_{rng.randint(1, 9999)}"
        if found.strip() and found.strip().casefold() not in taken:
            taken.add(found.strip().casefold())
            return found
