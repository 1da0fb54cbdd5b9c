#!/bin/bash
# Starts the installed service in the background and waits until it answers. Already running and
# nothing changed: says so. Something changed (programs, settings, environment): restarts it.
#
# What runs: PREFIX/bin/agentsim-keeper, which starts and watches everything else.
set -euo pipefail
shopt -s inherit_errexit
umask 022
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"
# shellcheck source=docker/install/service.sh
. "$here/service.sh"

path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
state_dir=${AGENT_SIMULATOR_STATE_DIR:-/var/lib/agentsim}

# The service's own reading of file and environment: a line "NAME value" a setting, with "  # file" or
# "  # environment" behind what is no default.
configuration=
read_configuration() {
    configuration=$("$prefix/bin/agentsim" config --config "$settings") ||
        fail "correct that and run 'make up' again; nothing was stopped or started"
}
setting() { # setting NAME: its value
    sed -n "s/^AGENT_SIMULATOR_${1^^}  *//p" <<< "$configuration" | sed 's/  # [a-z]*$//'
}
is_given() { # is_given NAME: whether the file or the environment says a word about it
    grep -Eq "^AGENT_SIMULATOR_${1^^} .*  # (file|environment)$" <<< "$configuration"
}
# The warnings were shown by read_configuration.
api_token() { "$prefix/bin/agentsim" config --config "$settings" api_token 2> /dev/null; }

# ---- can it run here? ----

sandbox_trial() { # as a session's user, what the sandbox needs first
    setpriv --reuid "$uid" --regid "$uid" --clear-groups --no-new-privs --inh-caps=-all \
        bwrap --unshare-user --unshare-pid --unshare-net --unshare-ipc --disable-userns \
        --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev \
        /usr/bin/true 2>&1
}

kernel_says() { [ "$(cat "/proc/sys/$1" 2> /dev/null)" = "$2" ]; }

cure() { # prints what would make user namespaces work
    if kernel_says kernel/unprivileged_userns_clone 0; then
        echo "allow them with: sysctl -w kernel.unprivileged_userns_clone=1"
    elif kernel_says user/max_user_namespaces 0; then
        echo "allow them with: sysctl -w user.max_user_namespaces=15000"
    elif kernel_says kernel/apparmor_restrict_unprivileged_userns 1; then
        echo "allow them with: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    elif [ -e /.dockerenv ] || [ -e /run/.containerenv ] || grep -q container= <(tr '\0' '\n' < /proc/1/environ 2> /dev/null); then
        echo "start this container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined" \
            "--security-opt systempaths=unconfined"
    elif [ ! / -ef /proc/1/root ]; then
        echo "this is a chroot, where the kernel forbids them: use a container or pivot_root"
    else
        echo "see 'agentsim doctor' for what this kernel lacks"
    fi
}

check_sandbox() {
    local reason uid
    [ "$(setting sandbox)" != off ] || { say "the sandbox is off: agents will run unconfined"; return; }
    uid=$(setting session_uid_base)
    reason=$(sandbox_trial) ||
        fail "agents need user namespaces, which do not work here (${reason:-no reason given}); $(cure)"
}

holder_of() { # holder_of PORT: prints who listens there, if that is not the service itself
    ss -Hltnp "sport = :$1" | { grep -vE "pid=($ours)," || true; } | sed -n 's/.*users:(("\([^"]*\)",pid=\([0-9]*\).*/\1 (process \2)/p; t; s/.*/another program/p' |
        head -n 1
}

check_ports() {
    local address who ours
    ours=$({ processes 'agentsim-*'; our_nginx; echo none; } | paste -sd '|')
    for address in "$public" "$internal"; do
        who=$(holder_of "${address##*:}")
        [ -z "$who" ] || fail "port ${address##*:} is taken by $who: stop it, or choose another address with" \
            "PUBLIC_LISTEN=127.0.0.1:PORT (console) or INTERNAL_LISTEN=127.0.0.1:PORT in front of 'make up'"
    done
}

# nginx opens what it would open at its start (addresses in use excepted) and says where it stumbles. The rows of local/ are
# the operator's, so this is asked while the service still runs.
check_nginx() {
    local said nginx
    nginx=$(setting nginx)
    [ "$nginx" != - ] || return 0
    said=$(env -i PATH="$path" "$nginx" -t -c "$prefix/nginx/agentsim.conf" 2>&1) && return
    said=$(sed -n 's/^[^[]*\[emerg\] \([0-9#]*: \)\?//p' <<< "$said" | head -n 1)
    fail "nginx does not take its configuration: ${said:-it gives no reason}; correct that and run 'make up' again;" \
        "nothing was stopped or started"
}

# ---- what has to be there ----

folder() { # folder DIR OPTION...: makes it, with the options of install
    local dir=$1 problem
    shift
    problem=$(install -d "$@" "$dir" 2>&1) || fail "cannot make $dir: ${problem##*: }"
}

prepare() {
    local group
    make_user
    group=$(id -gn "$user")
    folder "$run_dir" -m 755
    folder "$state_dir" -m 755
    folder "$(dirname "$settings")" -m 750 -g "$group"
    folder "$(dirname "$service_log")" -m 750 -g "$group"
    [ -e "$settings" ] || install -m 640 -g "$group" /dev/null "$settings"
    read_configuration
    if ! is_given api_token; then
        # Without a token every door of the service stays shut.
        say "write a new token to $settings"
        [ -z "$(tail -c 1 "$settings")" ] || echo >> "$settings"
        printf 'api_token: %s\n' "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" >> "$settings"
    fi
}

# Prints NAME=VALUE, each ended by a zero byte, of the variables that the patterns match.
variables() { # variables PATTERN...
    local name pattern
    while read -r name; do
        for pattern in "$@"; do
            # shellcheck disable=SC2053 # a pattern is wanted
            if [[ $name == $pattern ]]; then
                printf '%s=%s\0' "$name" "${!name}"
                break
            fi
        done
    done < <(compgen -e | sort)
}
settings_of_environment() {
    variables 'AGENT_SIMULATOR_*' 'AGENTSIM_*' 'GITHUB_*' DEPLOYMENT_URL CORS_ORIGINS NLTK_DATA
    variables {http,https,all,no}_proxy {HTTPS,ALL,NO}_PROXY # for the workers' calls to GitHub
}

identity() { # a digest of what the service is made of; changes when a restart is needed
    {
        cat "$prefix/build-id" "$settings" 2> /dev/null || true
        readlink "$prefix/runtime" || true
        settings_of_environment
    } | sha256sum | cut -c 1-16
}

# ---- does it answer? ----

http_get() { # http_get HOST:PORT PATH [HEADER]: prints the whole answer
    (
        host=${1%:*} host=${host#[} host=${host%]}
        exec 3<> "/dev/tcp/$host/${1##*:}"
        printf 'GET %s HTTP/1.0\r\nHost: %s\r\n%s\r\n' "$2" "$1" "${3:+$3$'\r\n'}" >&3
        timeout 5 cat <&3
    ) 2> /dev/null | tr -d '\0'
}
healthy() { [[ $(http_get "$public" /health) == HTTP/1.?" 200"* ]]; }
sandbox_verdict() {
    http_get "$internal" /health "X-Agent-Simulator-Token: $token" |
        sed -n 's/.*"sandbox": *"\([^"]*\)".*/\1/p'
}
sandbox_judged() {
    case $(sandbox_verdict) in
    "unavailable: the launcher has not answered yet") return 1 ;; # no verdict so far
    ok | off | unavailable:*) ;;
    *) return 1 ;;
    esac
}
answers_or_dead() { healthy || ! kill -0 "$keeper" 2> /dev/null; }

start() {
    local environment
    # The service sees its settings, the way out and the locale, nothing else of whoever typed `make up`.
    mapfile -d '' -t environment < <(settings_of_environment; variables LANG 'LC_*' TZ)
    install -d -m 755 "$run_dir" # down.sh takes it away
    # One file a start and the one before it: what happened is never far to seek.
    [ ! -s "$service_log" ] || mv "$service_log" "$service_log.1"
    install -m 640 -g "$(id -gn "$user")" /dev/null "$service_log"
    (
        cd /
        exec setsid env -i PATH="$path" "${environment[@]}" \
            "$prefix/bin/agentsim-keeper" < /dev/null >> "$service_log" 2>&1
    ) &
    keeper=$! # the same process becomes the keeper, which writes its own keeper.pid
    (umask 077 && printf '%s\n' "$identity" > "$run_dir/started-from")
}

not_started() { # not_started SENTENCE
    [ ! -s "$service_log" ] || tail -n 15 "$service_log" >&2
    "$here/down.sh" > /dev/null 2>&1 || true
    fail "$1 (log: $service_log)"
}

tell() {
    local chat="agentsim chat docs/examples/bike_rental.json" address=$public
    # All addresses of the machine are none that a browser could open.
    address=${address/#0.0.0.0:/127.0.0.1:} address=${address/#'[::]:'/'[::1]:'}
    [ "$address" = 127.0.0.1:8080 ] || chat="agentsim chat --url http://$address docs/examples/bike_rental.json"
    cat << TEXT

agentsim is running: http://$address

  in the browser     open it, choose an example, press Start
  in the terminal    $chat
  log                $service_log
  stop               make down
TEXT
    [ "$require_auth" != false ] ||
        echo "  sign-in is off     whoever reaches $public may run agents (AGENT_SIMULATOR_REQUIRE_AUTH)"
}

# ---- now ----

[ "$(id -u)" = 0 ] || fail "agentsim starts sandboxes with users of their own, which needs root: run this as root"
[ -x "$prefix/bin/agentsim-keeper" ] || fail "nothing is installed in $prefix yet: run 'make up'"
mapfile -t listens < <(sed -n 's/^ *listen  *\([^ ;]*:[0-9]*\)[ ;].*/\1/p' "$prefix/nginx/agentsim.conf")
[ ${#listens[@]} -ge 2 ] || fail "$prefix/nginx/agentsim.conf names no addresses: run 'make install'"
public=${listens[0]} internal=${listens[1]}
prepare
token=$(api_token) || fail "no token can be read from $settings"
require_auth=false
! is_given require_auth || require_auth=$(setting require_auth)
export AGENT_SIMULATOR_REQUIRE_AUTH=$require_auth
identity=$(identity)
check_nginx

if [ -n "$(processes agentsim-keeper)" ]; then
    if [ "$(cat "$run_dir/started-from" 2> /dev/null)" = "$identity" ] && healthy; then
        say "running already, nothing has changed"
        tell
        exit 0
    fi
fi
check_sandbox
check_ports
if [ -n "$(processes agentsim-keeper)" ]; then
    say "something has changed: restart"
    "$here/down.sh"
elif [ -n "$(processes 'agentsim-*')$(our_nginx)" ]; then
    say "parts of an earlier run are left: end them"
    "$here/down.sh"
fi
say "start agentsim"
start
until_true 30 "http://$public answers" answers_or_dead || not_started "agentsim does not answer on http://$public"
healthy || not_started "agentsim ended at once"
until_true 30 "the sandbox is tested" sandbox_judged || not_started "the sandbox was not tested in time"
case $(sandbox_verdict) in
unavailable:*) not_started "agents cannot be confined here: $(sandbox_verdict); $(cure)" ;;
esac
tell
