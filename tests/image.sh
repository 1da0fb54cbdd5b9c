#!/bin/bash
# tests/image.sh -- carries out docker/Dockerfile without a container engine: each stage in a bare Debian 12 of its own,
# then its entry point in namespaces of its own, and a conversation with what it started. About four minutes.
# Needs root and the package archive; installs mmdebstrap. Nothing is kept.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
# shellcheck source=docker/install/say.sh
. docker/install/say.sh
[ "$(id -u)" = 0 ] || fail "this makes file systems of its own, which needs root"
command -v mmdebstrap > /dev/null || apt-get install -y --no-install-recommends mmdebstrap > /dev/null

work=$(mktemp -d)
mount -t tmpfs -o size=8g,mode=755 agentsim-image "$work"
cleanup() { umount -R -l "$work" 2> /dev/null; rmdir "$work"; }
trap cleanup EXIT

# What this machine installs with: sources, certificates, settings of the clients.
carry() { # carry ROOT
    local file
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/apt.conf.d/99* /etc/pip.conf /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || install -D -m 644 "$file" "$1$file"
    done
    mkdir -p "$1/etc/ssl"
    rm -rf "$1/etc/ssl/certs" # links, which would lead out of it
    cp -aL /etc/ssl/certs "$1/etc/ssl/"
}

base() { # base: a bare Debian 12, once
    [ ! -d "$work/base" ] || return 0
    say "make a bare Debian 12"
    mmdebstrap --quiet --variant=minbase --include=ca-certificates --aptopt='/etc/apt/apt.conf.d/99*' bookworm "$work/base" \
        /etc/apt/sources.list.d/debian.sources
    carry "$work/base"
}

begin_stage() { # begin_stage NAME: $root is a fresh copy of the base
    root=$work/$1/root
    mkdir -p "$work/$1"/{up,work,root}
    mount -t overlay overlay -o "lowerdir=$work/base,upperdir=$work/$1/up,workdir=$work/$1/work" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
}

copy() { # copy FROM TO: as COPY does, a folder's content into the folder
    local to=$2
    [[ $to == /* ]] || to=$directory/$to
    if [ -d "$1" ]; then
        mkdir -p "$root$to"
        cp -a "$1/." "$root$to/"
    else
        [[ $to != */ && $to != . ]] || to=${to%/}/$(basename "$1")
        mkdir -p "$(dirname "$root$to")"
        cp -a "$1" "$root$to"
    fi
}

step() { # step INSTRUCTION REST
    say "$1 $2"
    case $1 in
    FROM)
        directory=/
        stage=${2##* AS }
        [ "$stage" != "$2" ] || stage=final
        begin_stage "$stage"
        ;;
    WORKDIR) directory=$2 && mkdir -p "$root$directory" ;;
    COPY)
        local from to source=
        read -r from to <<< "$2"
        if [[ $from == --from=* ]]; then
            source=$work/${from#--from=}/root
            read -r from to <<< "$to"
            copy "$source$from" "$to"
        else
            copy "$from" "$to"
        fi
        ;;
    RUN) chroot "$root" /bin/sh -c "cd $directory && $2" ;;
    ENTRYPOINT) entry=$(tr -d '[]"' <<< "$2") ;;
    *) ;; # what an engine does with it leaves nothing in the image
    esac
}

carry_out() {
    local instruction rest
    while read -r instruction rest; do
        [[ -z $instruction || $instruction == \#* ]] || step "$instruction" "$rest"
    done < docker/Dockerfile
}

# pivot_root, not chroot: the kernel makes no user namespaces for whoever lives in a chroot.
converse() {
    say "start the image and talk to it"
    # shellcheck disable=SC2016 # the shell inside expands it
    ENTRY=$entry unshare --mount --pid --fork --net --ipc --uts --kill-child --propagation private bash -ec '
        ip link set lo up
        cd "$1"
        umount proc && mount -t proc proc proc
        mount -t tmpfs tmpfs run
        mkdir -p .old
        pivot_root . .old
        umount -l /.old
        export AGENT_SIMULATOR_API_TOKEN=token AGENT_SIMULATOR_REQUIRE_AUTH=false
        $ENTRY all > /tmp/log 2>&1 &
        for _ in $(seq 300); do
            agentsim status > /dev/null 2>&1 && break
            sleep 0.1
        done
        agentsim status || { cat /tmp/log; exit 1; }
        echo hello | agentsim chat /tmp/agent.json
    ' converse "$root"
}

base
carry_out
cp docs/examples/bike_rental.json "$root/tmp/agent.json"
command -v ip > /dev/null || apt-get install -y --no-install-recommends iproute2 > /dev/null
converse | tee "$work/said"
grep -q "bike rental at the lake" "$work/said" || fail "the agent in the image did not answer"
say "the image builds and works"
