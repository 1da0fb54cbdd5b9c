#!/bin/bash
# Says whether a full disk may be why a step failed: room.sh DIR, where it was to write. Prints nothing where there is room.
# Compilers and linkers write to TMPDIR too, take away what they could not finish, and do not always say what was wrong.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"
[ $# -eq 1 ] || fail "usage: room.sh DIR"

free() { # free DIR OPTION: what df counts as free there; a file system that counts no files has plenty
    local left
    left=$(df --output="$2" "$1" 2> /dev/null | sed -n '2s/[^0-9]//gp')
    printf '%s\n' "${left:-1000000}"
}

for dir in "$1" "${TMPDIR:-/tmp}"; do
    [ -d "$dir" ] || continue
    [ "$(free "$dir" avail)" -ge 10240 ] ||
        fail "the disk of $dir is full: make room and try again"
    [ "$(free "$dir" iavail)" -ge 50 ] || [ "$(free "$dir" itotal)" = 0 ] ||
        fail "the disk of $dir takes no more files (df -i): remove some and try again"
done
