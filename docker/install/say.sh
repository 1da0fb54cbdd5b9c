# shellcheck shell=bash
# What the installation scripts share; they source it. Progress goes to standard output, one
# line a step; failures are one sentence on standard error that says what to do. Long output of
# other programs goes to a log, which is named when something fails.

say() {
    printf '== %s\n' "$*"
}

fail() {
    printf 'agentsim: %s\n' "$*" >&2
    exit 1
}

# needs_to_write DIR: makes it, and fails with the reason when nothing can be written there.
needs_to_write() {
    local problem
    problem=$(mkdir -p "$1" 2>&1 && touch "$1/.try" 2>&1 && rm -f "$1/.try") && return
    [ "$(id -u)" = 0 ] || fail "cannot write to $1, which needs root: run this as root"
    fail "cannot write to $1: ${problem##*: }"
}

# log_path NAME: prints where the long output of this script goes, and starts it empty.
log_path() {
    local dir=/var/log/agentsim
    mkdir -p "$dir" 2> /dev/null && [ -w "$dir" ] || dir=$(mktemp -d)
    : > "$dir/install-$1.log"
    printf '%s\n' "$dir/install-$1.log"
}

# stopped SENTENCE: fails and shows the end of $log. A full disk is named, whatever SENTENCE takes for the cause.
stopped() {
    tail -n 12 "${log:?}" >&2
    ! tail -n 12 "$log" | grep -qF -e 'No space left on device' -e "don't have enough free space" ||
        fail "the disk is full: make room and try again (all output: $log)"
    fail "$1 (all output: $log)"
}

# logged SENTENCE COMMAND...: runs COMMAND with its output in $log; SENTENCE says what failed.
logged() {
    local sentence=$1
    shift
    "$@" > "${log:?}" 2>&1 || stopped "$sentence"
}

# Debian's own pip, run from its wheel: no environment of ours has to contain one.
debian_pip() {
    local wheel
    for wheel in /usr/share/python-wheels/pip-*.whl; do
        [ -f "$wheel" ] || fail "Debian's pip is missing: apt-get install python3-venv"
        printf '%s/pip\n' "$wheel"
    done
}
