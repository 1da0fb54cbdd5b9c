"""What the documents name is there: files, settings, goals, commands, close codes, decisions."""
import re
import subprocess

import pytest

from tests.support.stack import BUILD, ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Made by whoever runs the service, so not in the tree.
NOT_OURS = {"docker/.env", "nginx/local"}


def names(page):
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def settings():
    done = subprocess.run([BUILD / "bin" / "agentsim", "config"], capture_output=True, encoding="utf-8", check=True, env={})
    return {line.split()[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_paths_and_settings_exist(page, settings):
    text = page.read_text()
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert re.match(r"https?:", link) or (page.parent / link).exists(), link
    for path in set(re.findall(r"`((?:shared|fcgi|supervisor|nginx|docker|tests|docs)/[\w./-]+)`", text)) - NOT_OURS:
        assert (ROOT / path).exists(), path
    for name in set(re.findall(r"AGENT_SIMULATOR_\w*[A-Z]", text)):
        assert name in settings or any(other.startswith(name + "_") for other in settings), name


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_goals_and_commands_exist(page):
    goals = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    printed = subprocess.run([BUILD / "bin" / "agentsim", "--help"], capture_output=True, encoding="utf-8", check=True).stdout
    commands = set(re.findall(r"^  ([a-z]+)  ", printed, re.M))
    text = page.read_text()
    written = re.findall(r"`([^`\n]+)`", text) + re.findall(r"^ {4,}(.*)$", text, re.M)
    for line in written:
        for goal in re.findall(r"(?:^|[ =])make ([a-z][a-z-]*)", line):
            assert goal in goals, line
        for command in re.findall(r"^(?:\$ )?agentsim ([a-z]+)", line):
            assert command in commands, line


def test_close_codes_are_those_of_the_relay():
    ours = re.findall(r"CLOSE_\w+ = (\d{4})", (ROOT / "supervisor" / "relay" / "browser.h").read_text())
    told = re.findall(r"^\| (\d{4}) \|", (ROOT / "docs" / "http-api.md").read_text(), re.M)
    assert sorted(told) == sorted(ours)


def test_every_decision_has_a_number_of_its_own():
    files = sorted((ROOT / "docs" / "adr").glob("*.md"))
    numbers = [int(file.name[:4]) for file in files]
    assert len(set(numbers)) == len(numbers)
    for number, file in zip(numbers, files):
        assert file.read_text().startswith(f"# {number}. "), file.name


def test_the_page_of_settings_is_the_one_that_is_printed():
    done = subprocess.run([BUILD / "bin" / "agentsim", "config", "--markdown"], capture_output=True, encoding="utf-8", check=True)
    assert (ROOT / "docs" / "configuration.md").read_text() == done.stdout


def test_the_status_table_is_that_of_the_help():
    printed = subprocess.run([BUILD / "bin" / "agentsim", "--help"], capture_output=True, encoding="utf-8", check=True).stdout
    helped = dict(re.findall(r"^  (\d)  (.*(?:\n     .*)*)", printed, re.M))
    told = dict(re.findall(r"^\| (\d) \| (.*) \|$", (ROOT / "docs" / "operations.md").read_text(), re.M))
    assert {status: " ".join(text.split()) for status, text in helped.items()} == told


FORMAT = (ROOT / "docs" / "agent-format.md").read_text()


@pytest.mark.parametrize("number", range(FORMAT.count("```json")))
def test_the_diagrams_of_the_page_compile_without_a_finding(number):
    text = re.findall(r"```json\n(.*?)```", FORMAT, re.S)[number]
    done = subprocess.run([BUILD / "bin" / "agentsim", "validate", "-"], input=text, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_member_that_is_read_is_on_the_page():
    source = "".join((ROOT / "shared" / "diagram" / file).read_text() for file in (
        "read.c", "read_actions.c", "read_components.c", "read_settings.c", "read_states.c", "read_transitions.c", "document.c", "provider.c"))
    read = set(re.findall(r'json_get\([^"\n]*"(\w+)"', source)) | set(re.findall(r'\{ "(\w+)", "\w+" \}', source)) | set(re.findall(
        r'given\([^"\n]*"(\w+)"', source)) | {name for row in re.findall(r'\{ "(\w+)", (?:"(\w+)"|NULL), FIELD_', source) for name in row if name}
    assert len(read) > 60
    missing = {name for name in read if not re.search(rf"\b{name}\b", FORMAT)}
    assert missing == set()


def test_every_rule_that_a_finding_may_name_is_on_the_page():
    source = "".join(file.read_text() for file in sorted((ROOT / "shared" / "diagram").glob("*.c")))
    named = {int(n) for n in re.findall(r"(?:FINDING_(?:ERROR|WARNING),|(?:ERROR|WARNING)\(\w+,) ([1-9]\d*),", source)}
    rows = re.findall(r"^\| (\d+(?:, \d+)*) \|", FORMAT, re.M)
    assert len(named) > 20 and named <= {int(n) for row in rows for n in row.split(", ")}
