#!/bin/bash
# Is there room on the disks?
#   room.sh        before an installation: what a first one takes below PREFIX (/opt/agentsim, or AGENTSIM_PREFIX) and in TMPDIR
#   room.sh DIR    after a step that was to write to DIR has failed: says so when a full disk may be why. Compilers and linkers
#                  write to TMPDIR too, take away what they could not finish, and do not always say what was wrong.
# Prints nothing where there is room.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"

free() { # free DIR OPTION: what df says of the file system that DIR is in, or will be
    local dir=$1 left
    until [ -d "$dir" ]; do dir=$(dirname "$dir"); done
    left=$(df --output="$2" -B 1M "$dir" 2> /dev/null | sed -n '2s/[^0-9]//gp')
    printf '%s\n' "${left:-1000000}"
}

needs() { # needs DIR MIB
    local left
    left=$(free "$1" avail)
    [ "$left" -ge "$2" ] || fail "the agents' interpreter takes $2 MiB in $1, where $left MiB are free: make room and try again"
}

tmp=${TMPDIR:-/tmp}
if [ $# -eq 0 ]; then
    prefix=${AGENTSIM_PREFIX:-/opt/agentsim}
    [ -e "$prefix/runtime" ] || { needs "$prefix" 850 && needs "$tmp" 250; } # measured, and a tenth more
    exit 0
fi
for dir in "$1" "$tmp"; do
    [ "$(free "$dir" avail)" -ge 10 ] || fail "the disk of $dir is full: make room and try again"
    [ "$(free "$dir" iavail)" -ge 50 ] || [ "$(free "$dir" itotal)" = 0 ] ||
        fail "the disk of $dir takes no more files (df -i): remove some and try again"
done
