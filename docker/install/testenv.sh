#!/bin/bash
# Creates interpreters of the tests' own. Nothing of the product uses them. Needs no root; needs the
# network unless all is there already.
#
#   testenv.sh            build/testenv from tests/requirements.lock: what the tests run on
#   testenv.sh reference  build/reference from tests/reference.lock: what the compiler is compared with
#   testenv.sh backend    build/backend from tests/backend.lock: the reference's public web service
#   testenv.sh simulator  build/simulator from tests/simulator.lock and what our agents run on: its simulator service
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"

root=$(cd "$here/../.." && pwd)
python=/usr/bin/python3

# environment NAME LOCKS [OPTION...]: build/NAME holds exactly what LOCKS (one path or several, colons between) list.
environment() {
    local name=$1 dir=$root/build/$1 id
    local -a locks
    IFS=: read -r -a locks <<< "$2"
    shift 2
    id=$(cat "${locks[@]}" "$here/testenv.sh" | sha256sum | cut -c 1-16)
    if [ "$(cat "$dir/complete" 2> /dev/null)" = "$id" ]; then
        say "$name: ready"
        return
    fi
    say "install $(cat "${locks[@]}" | grep -c ==) distributions for the tests"
    rm -rf "$dir"
    mkdir -p "$root/build"
    logged "python3 cannot create a virtual environment: apt-get install python3-venv" \
        "$python" -m venv --without-pip "$dir"
    logged "the tests' packages could not be installed; is the Python package index reachable?" \
        "$dir/bin/python" "$(debian_pip)" install --no-input --require-hashes --only-binary :all: \
        "$@" "${locks[@]/#/--requirement=}"
    printf '%s\n' "$id" > "$dir/complete"
}

log=$(log_path testenv)
case ${1:-testenv} in
testenv) environment testenv "$root/tests/requirements.lock" ;;
reference) environment reference "$root/tests/reference.lock" --no-deps ;; # the list is complete
backend) environment backend "$root/tests/backend.lock" --no-deps ;;
simulator)
    environment simulator "$root/tests/simulator.lock:$root/docker/runtime/requirements.lock" --no-deps
    ;;
*) fail "there is no environment $1" ;;
esac
