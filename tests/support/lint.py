"""Checks of the C sources that need no compiler; one line per check, findings below it.

lint.py FILE...   prints "ok   NAME" or "FAIL NAME" per check; used by tests/lint.sh
"""

import re
import sys

BANNED = "strcpy strcat sprintf vsprintf gets strtok atoi atol atof system popen alloca".split()
FUNCTION_MAX = 80
FILE_MAX = 700
# What may change at file scope: the log sink, a request's memory (ADR 21), places of buffers (ADR 23), and what a signal handler sets.
STATE_ALLOWED = {("shared/base/log.c", "sink"), ("shared/base/mem.c", "region"), ("shared/forget/forget.c", "slots")}
# A folder may include its own headers and those of the folders named here; base knows nobody.
MAY_INCLUDE = {
    "shared/base": (),
    "shared/json": ("shared/base",),
    "shared/config": ("shared/base",),
    "shared/ipc": ("shared/base", "shared/config"),
    "fcgi": ("shared",),
    "supervisor": ("shared",),
    "shared": ("shared",),
}


def blank(text):
    """The source with comments, strings and characters emptied; line numbers stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def empty(match):
        found = match.group(0)
        quote = found[0] if found[0] in "\"'" else ""
        return quote + "\n" * found.count("\n") + quote
    return pattern.sub(empty, text)


def line_comments(text):
    """Line numbers of // comments (not those inside strings or block comments)."""
    pattern = re.compile(r'(//[^\n]*)|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return [text.count("\n", 0, m.start()) + 1 for m in pattern.finditer(text) if m.group(1)]


def without_directives(code):
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m.group(0).count("\n"), code, flags=re.M)


def pieces(code):
    """(line, depth, text, body lines or 0) of every statement, and of every function at depth 0."""
    depth, start, i = 0, 0, 0
    stack = []
    while i < len(code):
        c = code[i]
        if c == "{":
            stack.append((start, i))
            depth += 1
            start = i + 1
        elif c == "}":
            if not stack:
                return
            head, opened = stack.pop()
            depth -= 1
            text = code[head:opened].strip()
            if depth == 0 and text.endswith(")"):
                yield code.count("\n", 0, opened) + 1, depth, text, code.count("\n", opened, i)
                start = i + 1
            elif text.endswith("=") or "=" in text or re.match(r"(static\s|typedef\s)?.*\b(struct|union|enum)\b", text):
                start = head  # the statement goes on behind an initialiser or a type
            else:
                start = i + 1
        elif c == ";":
            text = code[start:i].strip()
            yield code.count("\n", 0, start + len(code[start:i]) - len(code[start:i].lstrip())) + 1, depth, text, 0
            start = i + 1
        i += 1


def is_mutable(text):
    flat = re.sub(r"\{.*\}", "{}", text, flags=re.S)
    head = flat.split("=")[0]
    if re.search(r"\)\s*(__attribute__.*)?$", head.strip(), re.S) or re.match(r"(typedef|extern|_Static_assert)\b", head):
        return None
    if re.match(r"(struct|union|enum)\s+\w+\s*(\{\}\s*)?$", head.strip()) or "(" in re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head):
        return None
    name = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", head.strip())
    if not name or "sig_atomic_t" in head:
        return None
    declarator = head[: name.start()]
    constant = re.search(r"\*\s*const\s*$", declarator) if "*" in declarator else re.search(r"\bconst\b", declarator)
    return None if constant else name.group(1)


def unbegun(code):
    """Lines of buffers that are released by themselves and may be left before buf_init(): their release reads rubbish."""
    for m in re.finditer(r"auto_buf struct buf ([^;]*);", code):
        body = code[m.end():]
        body = body[: body.find("\n}\n") if "\n}\n" in body else len(body)]
        way_out = re.search(r"\b(return|continue|break|goto)\b", body)
        for name in (n.strip() for n in m.group(1).split(",")):
            begin = re.search(rf"\b{re.escape(name)}\b", body) if "=" not in name else None
            if way_out and "=" not in name and (not begin or way_out.start() < begin.start()):
                yield code.count("\n", 0, m.start()) + 1


def folder_of(path):
    for name in sorted(MAY_INCLUDE, key=len, reverse=True):
        if path.startswith(name + "/"):
            return name
    return None


def main(paths):
    names = ["banned functions", "comments in block form", "no state at file scope", f"functions up to {FUNCTION_MAX} lines",
             f"files up to {FILE_MAX} lines", "includes point one way", "nothing left to do", "buffers begin before any way out"]
    found = {name: [] for name in names}
    banned = re.compile(r"\b(" + "|".join(BANNED) + r")\s*\(")
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        code = blank(text)
        product = not path.startswith("tests/")
        for m in banned.finditer(code):
            found[names[0]].append(f"{path}:{code.count(chr(10), 0, m.start()) + 1}: {m.group(1)}")
        found[names[1]] += [f"{path}:{line}" for line in line_comments(text)]
        for line, depth, statement, length in pieces(without_directives(code)):
            if length > FUNCTION_MAX:
                found[names[3]].append(f"{path}:{line}: {length} lines")
            if length or not product or not (depth == 0 or statement.startswith("static ")):
                continue
            name = is_mutable(statement)
            if name and path.endswith(".c") and (path, name) not in STATE_ALLOWED:
                found[names[2]].append(f"{path}:{line}: {name}")
        if text.count("\n") > FILE_MAX:
            found[names[4]].append(f"{path}: {text.count(chr(10))} lines")
        folder = folder_of(path)
        for m in re.finditer(r'^#include "([^"]+)/[^"/]+"', text, re.M):
            target = m.group(1)
            allowed = MAY_INCLUDE.get(folder, ()) + ((folder,) if folder else ())
            if product and not any(target == a or target.startswith(a + "/") for a in allowed):
                found[names[5]].append(f"{path}: {target}")
        for m in re.finditer(r"\b(TODO|FIXME|XXX)\b", text):
            found[names[6]].append(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m.group(1)}")
        found[names[7]] += [f"{path}:{line}" for line in unbegun(code)]
    for name in names:
        print(("FAIL " if found[name] else "ok   ") + name)
        for line in found[name]:
            print("       " + line)


main(sys.argv[1:])
