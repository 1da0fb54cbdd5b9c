"""Reads a report of pytest: `junit.py sums FILE` prints passed and failed, `junit.py failed FILE` the failed tests' names."""
import sys
import xml.etree.ElementTree

what, path = sys.argv[1:]
cases = xml.etree.ElementTree.parse(path).getroot().findall("./testsuite/testcase")
failed, skipped = {}, 0
for case in cases:
    if case.find("failure") is not None or case.find("error") is not None:
        name = case.get("name") or ""
        failed[f"{case.get('file')}::{name}" if case.get("file") else name] = True
    elif case.find("skipped") is not None:
        skipped += 1
names = {(case.get("file"), case.get("classname"), case.get("name")) for case in cases}
if what == "sums":
    if not cases:
        sys.exit(1)
    print(len(names) - len(failed) - skipped, len(failed))
else:
    print("\n".join(failed))
