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
gone() { [ -z "$(ours)" ]; }
signal() { # signal NAME PID...
    kill -s "$@" 2> /dev/null || true
}

[ "$(id -u)" = 0 ] || fail "agentsim runs as root and only root can stop it: run this as root"
keeper=$(processes agentsim-keeper)
if [ -z "$keeper" ] && gone; then
    rm -f "$run_dir/keeper.pid" "$run_dir/started-from"
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
rm -f "$run_dir/keeper.pid" "$run_dir/started-from"
say "agentsim is stopped"
