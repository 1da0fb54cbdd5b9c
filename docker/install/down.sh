#!/bin/bash
# Stops what up.sh started and waits until all of it is gone. Does nothing when nothing runs.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"
# shellcheck source=docker/install/service.sh
. "$here/service.sh"

ours() { # every process of ours, agents excepted: they end with their holders
    processes 'agentsim-*'
    our_nginx
}
# What a run leaves behind. Directories go only when they are empty, so nothing is lost that is not ours.
tidy() {
    rm -f "$run_dir/keeper.pid" "$run_dir/started-from" "$run_dir/nginx-origins.conf"
    rmdir "$run_dir"/{holders,rates,nginx-body} "$run_dir" 2> /dev/null || true
}
gone() { [ -z "$(ours)" ]; }
signal() { # signal NAME PID...
    kill -s "$@" 2> /dev/null || true
}

[ "$(id -u)" = 0 ] || fail "agentsim runs as root and only root can stop it: run this as root"
keeper=$(processes agentsim-keeper)
if [ -z "$keeper" ] && gone; then
    tidy
    say "agentsim is not running"
    exit 0
fi

say "stop agentsim"
# shellcheck disable=SC2086 # one word a process
signal TERM ${keeper:-$(ours)}
if ! until_true 40 "all its processes are gone" gone; then
    say "they do not listen; end them the hard way"
    # shellcheck disable=SC2046
    signal KILL $(ours)
    until_true 10 "all its processes are gone" gone ||
        fail "processes $(ours | xargs) cannot be ended; look at $service_log"
fi
tidy
say "agentsim is stopped"
