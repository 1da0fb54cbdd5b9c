#!/bin/sh
# Copies the console to DEST, with the diagrams of EXAMPLES and the list of them that the console reads:
# DEST/examples/index.json = [{"file", "title", "description"}], sorted by file name.
# An example is a session request; its title and description are those of its own top level.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: $0 EXAMPLES DEST" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
cp -R "$here/www/." "$2/"
rm -rf "$2/examples"
mkdir "$2/examples"
for file in "$1"/*.json; do
    [ -e "$file" ] && cp "$file" "$2/examples/"
done
python3 - "$2/examples" <<'PYTHON'
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
rows = []
for path in sorted(folder.glob("*.json")):
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        sys.exit(f"{path.name}: {error}")
    if isinstance(document, dict):
        rows.append({"file": path.name, "title": document.get("title") or path.stem,
                     "description": document.get("description") or ""})
(folder / "index.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
PYTHON
chmod -R u=rwX,go=rX "$2"
