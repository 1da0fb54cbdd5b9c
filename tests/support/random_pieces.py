"""Pieces that random diagrams are put together from: code, designs of GUIs, settings."""

PROVIDERS = (
    "openai",
    "huggingface",
    "huggingface_api",
    "replicate",
    "ollama",
    "mistral",
    "deepseek",
    "google",
    "meta",
    "anthropic",
    "qwen",
    "xai",
    "groq",
    "together",
    "openrouter",
)

FILE_TYPES = (
    "pdf",
    "TXT",
    "json",
    "csv",
    "xml",
    "png",
    "jpg",
    "JPEG",
    "gif",
    "mp3",
    "mp4",
    "application/zip",
    "image/webp",
    "odt",
)

# NAME and SIGNATURE are replaced. Nothing here waits, prints or leaves the session.
CUSTOM_CODE = (
    "def NAME(SIGNATURE):\n    session.reply('from code')\n",
    "def NAME(SIGNATURE):\n    count = (session.get('count') or 0)\n    session.set('count', 1)\n    session.reply(str(type(count)))",
    "def NAME(SIGNATURE):\n\t'''A docstring: it's fine'''\n\tfor n in range(3):\n\t\tsession.reply(f'{n}')\n",
    "def NAME(SIGNATURE):\n    import json as j, math\n    session.reply(j.dumps({'pi': round(math.pi, 2)}))\n",
    "def NAME(SIGNATURE):\n    text = '''two\n    lines'''\n    platform.reply_markdown(session, text)\n",
    "def NAME(SIGNATURE):\n    raise ValueError('on purpose')\n",
    "def NAME(SIGNATURE):\n    pass  # nothing to do\n",
    "def NAME(SIGNATURE):\n    if session.get('name') is None:\n        session.reply('who?')\n        return\n    session.reply(session.get('name'))\n",
)

CONDITIONS = (
    "def NAME(session):\n    return True\n",
    "def NAME(session):\n    return session.get('age') is not None\n",
    "def NAME(session):\n    return 'good' in (session.event.message or '')",
    "def NAME(session):\n    return session.get('nothing') > 3\n",
    "def NAME(session):\n    '''it's \"quoted\"'''\n    return False\n",
)

# Source and the first line of the docstring, which is what the reference shows to an LLM.
TOOLS = (
    ('def TOOL(a: int, b: int = 2) -> int:\n    """Adds two numbers."""\n    return a + b\n', "Adds two numbers."),
    ('def TOOL(text: str) -> str:\n    """Text in capitals"""\n    return text.upper()', "Text in capitals"),
    (
        'import math\n\n\ndef TOOL(radius: float) -> float:\n    """Area of a circle"""\n    return math.pi * radius ** 2\n',
        "Area of a circle",
    ),
)

_PAGE = {
    "pages": [
        {
            "id": "p1",
            "name": "Home",
            "frames": [
                {
                    "component": {
                        "type": "wrapper",
                        "components": [
                            {
                                "type": "text",
                                "attributes": {"id": "t1"},
                                "components": [{"type": "textnode", "content": "Hello"}],
                            },
                            {"tagName": "button", "type": "button", "attributes": {"id": "b1"}, "content": "Send"},
                        ],
                    }
                }
            ],
        }
    ]
}

GUI_MODELS = (None, {}, _PAGE)

CONFIG_YAML = (
    "",
    "nlp:\n  language: fr\n  intent_threshold: 0.7\n",
    "platforms:\n  websocket:\n    host: 0.0.0.0\n    port: 9000\n    streamlit:\n      port: 1\n",
    "# a comment\ndb:\n  sql:\n    - db1:\n        dialect: sqlite\n        database: a.db\n    - db2:\n        dialect: postgresql\n"
    "        host: h\n        port: 1\n        database: d\n        username: u\n        password: p\n",
    "agent:\r\n  check_transitions_delay: 2\r\n",
    "db: {sql: [{db1: {dialect: sqlite, file: 'x.db'}}]}\nextra: [1, 2.5, true, null, 'text', 2020-01-01]\n",
)
