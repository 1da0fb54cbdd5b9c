#!/bin/bash
# Writes a lock file: every distribution of a requirements file with the SHA-256 of its wheels
# for CPython 3.11 on Linux, on both kinds of processor that Debian users have.
#
#   lock.sh [--no-deps] REQUIREMENTS LOCK
#
# --no-deps   take the list as complete; otherwise what its entries need is added
#
# Run it after a change of the requirements file and commit both. Needs the network.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/../install/say.sh"

resolve=()
[ "${1:-}" != --no-deps ] || { resolve=(--no-deps); shift; }
[ $# -eq 2 ] || fail "usage: lock.sh [--no-deps] REQUIREMENTS LOCK"
list=$1 lock=$2
pip=(/usr/bin/python3 "$(debian_pip)")

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT

for machine in x86_64 aarch64; do
    tags=(--platform "manylinux2014_$machine")
    for minor in $(seq 17 36); do # 36: the C library of Debian 12
        tags+=(--platform "manylinux_2_${minor}_$machine")
    done
    say "fetch the wheels for $machine"
    "${pip[@]}" download --quiet --dest "$wheels/$machine" --only-binary :all: "${resolve[@]}" \
        --implementation cp --python-version 3.11 --abi cp311 --abi abi3 --abi none "${tags[@]}" \
        --requirement "$list"
done

/usr/bin/python3 - "$wheels" "$(basename "$list")" > "$lock.new" <<'PY'
import collections, email, hashlib, pathlib, sys, zipfile

wheels, source = pathlib.Path(sys.argv[1]), sys.argv[2]
found = collections.defaultdict(set)
for wheel in wheels.glob("*/*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        meta = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        head = email.message_from_bytes(archive.read(meta))
    key = f'{head["Name"].lower().replace("_", "-")}=={head["Version"]}'
    found[key].add(hashlib.sha256(wheel.read_bytes()).hexdigest())
print(f"# Made from {source} by docker/runtime/lock.sh; do not edit.")
for key in sorted(found):
    print(" \\\n".join([key] + [f"    --hash=sha256:{digest}" for digest in sorted(found[key])]))
PY
mv "$lock.new" "$lock"
say "$lock: $(grep -c == "$lock") distributions"
