# shellcheck shell=bash
# What up.sh and down.sh both know about the running service; they source it after say.sh.

prefix=${AGENTSIM_PREFIX:-/opt/agentsim}
run_dir=${AGENT_SIMULATOR_RUNTIME_DIR:-/run/agentsim}
# Used by the scripts that source this:
# shellcheck disable=SC2034
settings=/etc/agentsim/agentsim.yaml service_log=/var/log/agentsim/agentsim.log

# Prints the process ids of programs installed below PREFIX whose names match the pattern. The
# kernel's link says what a process really runs; a pid file may be older than the machine's start.
processes() { # processes PATTERN
    local exe link
    for link in /proc/[0-9]*/exe; do
        exe=$(readlink "$link" 2> /dev/null) || continue
        exe=${exe% (deleted)}
        # shellcheck disable=SC2053 # a pattern is wanted
        [[ $exe == "$prefix"/bin/$1 ]] || continue
        link=${link%/exe}
        printf '%s\n' "${link#/proc/}"
    done
}

# The nginx that was started with our configuration.
our_nginx() {
    local file pid
    for file in /proc/[0-9]*/cmdline; do
        pid=${file%/cmdline} pid=${pid#/proc/}
        tr '\0' ' ' 2> /dev/null < "$file" | grep -qF "nginx -c $prefix/nginx/" && printf '%s\n' "$pid"
    done
    return 0
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
