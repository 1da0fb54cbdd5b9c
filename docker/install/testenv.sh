#!/bin/bash
# Creates interpreters of the tests' own. Nothing of the product uses them. Needs no root; needs the
# network unless all is there already.
#
#   testenv.sh            build/testenv from tests/requirements.lock: what the tests run on
#   testenv.sh reference  build/reference from tests/reference.lock: what the compiler is compared with
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"

root=$(cd "$here/../.." && pwd)
python=/usr/bin/python3

# environment NAME LOCK [OPTION...]: build/NAME holds exactly what LOCK lists.
environment() {
    local name=$1 dir=$root/build/$1 lock=$2 id
    shift 2
    id=$(cat "$lock" "$here/testenv.sh" | sha256sum | cut -c 1-16)
    if [ "$(cat "$dir/complete" 2> /dev/null)" = "$id" ]; then
        say "$name: ready"
        return
    fi
    say "install $(grep -c == "$lock") distributions for the tests"
    rm -rf "$dir"
    mkdir -p "$root/build"
    logged "python3 cannot create a virtual environment: apt-get install python3-venv" \
        "$python" -m venv --without-pip "$dir"
    logged "the tests' packages could not be installed; is the Python package index reachable?" \
        "$dir/bin/python" "$(debian_pip)" install --no-input --require-hashes --only-binary :all: \
        "$@" --requirement "$lock"
    printf '%s\n' "$id" > "$dir/complete"
}

log=$(log_path testenv)
case ${1:-testenv} in
testenv) environment testenv "$root/tests/requirements.lock" ;;
reference) environment reference "$root/tests/reference.lock" --no-deps ;; # the list is complete
*) fail "there is no environment $1" ;;
esac
