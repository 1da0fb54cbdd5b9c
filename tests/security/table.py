"""The list of attempts, as docs/security.md shows it.

    python -m tests.security.table             prints the tables
    python -m tests.security.table --write     puts them into docs/security.md
"""
import importlib
import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "security.md"
BEGIN, END = "<!-- attempts: begin (python -m tests.security.table --write) -->\n", "<!-- attempts: end -->\n"
AREAS = ("network", "way_out", "processes", "memory", "files", "identity", "machine")
OUTSIDE = ("test_files_from_outside", "test_bundles", "test_words", "test_secrets", "test_slots")


def load():
    """Every attempt that runs inside a session, in order."""
    if str(HERE / "inside") not in sys.path:
        sys.path.insert(0, str(HERE / "inside"))
    import kit

    for area in AREAS:
        importlib.import_module(area)
    return kit.ATTEMPTS


def stopped_by(reason):
    """For a test that is an attempt from outside: what stops it."""
    def mark(function):
        function.stopped_by = reason
        return function
    return mark


def outside(module):
    """(name, what, what stops it) of the attempts that tests make themselves."""
    loaded = importlib.import_module("tests.security." + module)
    return [(name.removeprefix("test_"), " ".join(inspect.getdoc(f).split()), f.stopped_by)
            for name, f in vars(loaded).items() if name.startswith("test_") and hasattr(f, "stopped_by")]


def text():
    parts, attempts = [], load()
    for area in AREAS:
        parts.append((inspect.getdoc(sys.modules[area]), [(a.name, a.what, a.stopped_by) for a in attempts if a.area == area]))
    for module in OUTSIDE:
        parts.append((inspect.getdoc(importlib.import_module("tests.security." + module)), outside(module)))
    lines = []
    for title, rows in parts:
        lines += [f"### {title}", "", "| attempt | what it tries | stopped by |", "|---|---|---|"]
        lines += [f"| `{name}` | {what} | {why} |".replace("\\", "\\\\") for name, what, why in rows] + [""]
    return "\n".join(lines)


def main():
    if sys.argv[1:] != ["--write"]:
        print(text())
        return
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(head + BEGIN + "\n" + text() + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
