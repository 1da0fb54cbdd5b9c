"""What the console keeps for a reload of its tab: no diagram that holds a key."""
import json

from tests.support.stack import ROOT

RANDOM = "aB3dE5gH7jK9mN1pQ3sT5vW7"  # no key of anybody
SECRETS = [
    {"openai_api_key": "sk-1"}, {"config": {"dbPassword": "hunter"}}, {"api_key": 123456}, {"apiKeys": ["abc"]}, {"HF_TOKEN_2": "abc"},
    {"clientSecret": "s"}, {"headers": {"authorization": f"Bearer {RANDOM}"}},
    "nlp:\n  openai:\n    api_key: 'sk-1'\n", "nlp: {openai: {api_key: abcdef}}", "db:\n- password: hunter # mine\n", "password:  hunter\n",
    '{"openai_api_key": "sk-1"}', '{\\"openai_api_key\\": \\"sk-1\\"}', "def f(session):\n    token = 'abc'\n", 'os.environ["API_KEY"] = "abc"',
    'f(api_key="abc")', "f(password = b'abc')", "{'secret' => 'abc'}", f"client = Client(key='{RANDOM}')", "export OPENAI_API_KEY=abc",
    "HUGGINGFACEHUB_API_TOKEN=abc", "https://x.example/?access_token=abc&a=1", "postgres://ada:pass@db.example:5432/x", "redis://:pass@localhost",
    f"curl -H 'Authorization: Bearer {RANDOM}'", f"my key is sk-{RANDOM}.", f"sk-proj-{RANDOM}", f"hf_{RANDOM}", f"r8_{RANDOM}", f"gsk_{RANDOM}",
    f"ghp_{RANDOM}", f"github_pat_{RANDOM}", f"glpat-{RANDOM}", f"xoxb-1-{RANDOM}", "AKIA" + "A1" * 8, "AIza" + RANDOM + RANDOM, f"xai-{RANDOM}",
    "123456789:" + "aB3-_" * 7, f"eyJhbGciOiJI.eyJzdWIiOiIx.{RANDOM}", "-----BEGIN RSA PRIVATE KEY-----\nMII",
]
ORDINARY = [
    {"agentLanguage": "english", "maxTokens": 4096, "max_tokens": 4096, "num_tokens": "many", "tokenizer": "bpe"}, {"api_key": ""}, {"api_key": "YOUR-API-KEY"},
    {"password": None, "token": False, "secret": {}, "api_key": "<key>"}, {"type": "password", "name": "password", "label": "Your password"},
    "nlp:\n  openai:\n    api_key: YOUR-API-KEY\n  region: US\n", "db: {password: ~}", "api_key: ${OPENAI_API_KEY}", "token: null",
    "Please type your password: it has to be long.", "The token: a small coin.", "What is a secret?", "Password:", "Passwords: are they safe?", "Secret: nobody knows it",
    "def f(session):\n    token = session.get('token')\n    password = ask()\n", "def f(token: str, key: int): pass", 'os.environ["API_KEY"]', "if token == 'x y': pass",
    "f(api_key=key)", "sorted(rows, key='name')", 'dict(key="a-rather-long-name-of-something")', "max_tokens=4096", "input_max_num_tokens: 15",
    "https://x.example:8080/a@b", "mailto:ada@x.example", "postgres://localhost:5432/x", "postgres://{user}:{password}@db", "see http://x.example: ask ada@x.example",
    "the bearer of responsibilities and duties", "basic understanding", "risk-averse-people-like-this", "task-1", "sk-learn is a library", "sk-",
    "hf_hub_download", "12:30 - 13:45", "<input type=\"password\" name=\"password\" placeholder=\"Password\">", "The key: 'A' opens the door", "hello", "",
    "token, token; token? token! (token)", "Bearer", "eyJ is how they begin", "tokens: 4096", "0" * 64, "e3f71fd1-eda4-42fc-901c-da140fc1ff44",
]


WITH_KEYS = {"library_desk_llm", "config_yaml_ollama_quoting"}  # each has an api_key


def judged(page, values, made="value"):
    return page.evaluate("async (values) => { const { holdsSecret } = await import('/js/secrets.js');"
                         f" return values.map((value) => holdsSecret({{ model: {{ deep: [{made}] }} }})); }}", values)


def test_whatever_looks_like_a_key_is_seen(console):
    missed = [value for value, seen in zip(SECRETS, judged(console, SECRETS), strict=True) if not seen]
    assert not missed


def test_ordinary_words_and_code_are_no_keys(console):
    taken = [value for value, seen in zip(ORDINARY, judged(console, ORDINARY), strict=True) if seen]
    assert not taken


def test_a_megabyte_of_anything_is_judged_at_once(console):
    """Each of these lets a careless pattern look from everywhere to everywhere: that would be minutes."""
    pieces = ["a", "-", " ", "a.", "sk-", "key", "key ", "token", "token ", "token=", "token='", "bearer ", "\\", "eyJ-", "https://a", "a:", ",", "{-", "1:", "\n- "]
    assert len(judged(console, pieces, "value.repeat(1000000).slice(0, 1000000)")) == len(pieces)


def test_diagrams_without_keys_are_kept(console):
    files = [*(ROOT / "docs" / "examples").glob("*.json"), *(ROOT / "tests" / "fixtures" / "diagrams").glob("*.json")]
    seen = judged(console, [json.loads(file.read_text()) for file in files])
    assert {file.stem for file, secret in zip(files, seen, strict=True) if secret} == WITH_KEYS
