# shellcheck shell=bash
# What several scripts know about the running service; they source it after say.sh.

prefix=${AGENTSIM_PREFIX:-/opt/agentsim}
# Used by the scripts that source this:
# shellcheck disable=SC2034
run_dir=${AGENT_SIMULATOR_RUNTIME_DIR:-/run/agentsim}
# shellcheck disable=SC2034
settings=${AGENTSIM_SETTINGS:-/etc/agentsim/agentsim.yaml}
# shellcheck disable=SC2034
service_log=${AGENTSIM_LOG:-/var/log/agentsim/agentsim.log}

user=${AGENT_SIMULATOR_USER:-agentsim}

# The service's own user, who owns nothing and cannot sign in.
make_user() {
    ! getent passwd "$user" > /dev/null || return 0
    useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user" ||
        fail "the system user '$user' is missing and could not be made: run this as root"
}

# Prints the process ids of programs installed below PREFIX whose names match the pattern. The
# kernel's link says what a process really runs; a pid file may be older than the machine's start.
processes() { # processes PATTERN
    find /proc/[0-9]*/exe -maxdepth 0 \( -lname "$prefix/bin/$1" -o -lname "$prefix/bin/$1 (deleted)" \) \
        -printf '%h\n' 2> /dev/null | tr -dc '0-9\n' || true
}

# The master process of the nginx that was started with our configuration, by the title that nginx gives
# itself: a shell or an editor may have the same file on its command line.
our_nginx() {
    local file
    # shellcheck disable=SC2013,SC2062 # names of files in /proc are words; the pattern comes from standard input
    for file in $(grep -lF --file=- /proc/[0-9]*/cmdline 2> /dev/null <<< "-c $prefix/nginx/agentsim.conf"); do
        [[ $(tr -d '\0' 2> /dev/null < "$file") != "nginx: master process "* ]] || tr -dc '0-9\n' <<< "$file"
    done
}

# until_true SECONDS WHAT COMMAND...: asks COMMAND until it succeeds, and says so when it takes long.
until_true() {
    local end=$((SECONDS + $1)) seconds=$1 what=$2 told=$SECONDS
    shift 2
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        if [ $((SECONDS - told)) -ge 3 ]; then
            told=$SECONDS
            printf '   still waiting until %s (%s of %s s)\n' "$what" $((seconds - end + SECONDS)) "$seconds"
        fi
        sleep 0.1
    done
}
