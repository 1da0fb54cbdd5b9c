#!/bin/sh
# Writes agentsim.conf.in with its places filled in to OUT ("-": standard output), and what it includes beside it:
# OUT is to be CONF_DIR/agentsim.conf.
# Each place has an environment variable of the same name; a private instance sets them all.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: [RUNTIME_DIR=...] [STATE_DIR=...] [WWW_DIR=...] [CONF_DIR=...] [PUBLIC_LISTEN=...]" >&2
    echo "       [INTERNAL_LISTEN=...] [ACCESS_LOG=FILE|off] [TRUSTED_PROXIES=ADDRESS[/BITS],...] $0 OUT|-" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
state=${STATE_DIR:-/var/lib/agentsim}

# In nginx's words, a path with such a character would need quoting that depends on where it stands.
fill() {
    case $2 in
    *[!A-Za-z0-9_./:@+=,\[\]-]* | '')
        echo "render.sh: $1 is '$2'; only letters, digits and _./:@+=,[]- are possible" >&2
        exit 1
        ;;
    esac
    printf 's|@%s@|%s|g\n' "$1" "$2"
}

# Where to listen: up.sh asks the service there, so nginx's short forms (a port alone) are no use.
address() {
    if ! echo "$2" | grep -Eqx '([0-9A-Za-z.-]+|\[[0-9A-Fa-f:.]+\]):[1-9][0-9]{0,4}' || [ "${2##*:}" -gt 65535 ]; then
        echo "render.sh: $1 is '$2'; ADDRESS:PORT is needed, such as 127.0.0.1:8080 or [::1]:8080" >&2
        exit 1
    fi
    fill "$1" "$2"
}

# The proxies in front of us, none by default; an address, or a range with its number of bits.
real_ip() {
    lines=''
    rows=''
    rest=$1,
    while [ -n "$rest" ]; do
        proxy=$(echo "${rest%%,*}" | sed 's/^ *//; s/ *$//')
        rest=${rest#*,}
        case $proxy in
        '') continue ;;
        *[!0-9A-Fa-f.:/]* | /* | */ | */*/*)
            echo "render.sh: TRUSTED_PROXIES has '$proxy', which is no address and no range (10.0.0.0/8)" >&2
            exit 1
            ;;
        *[.:]*) ;;
        *)
            echo "render.sh: TRUSTED_PROXIES has '$proxy', which is no address" >&2
            exit 1
            ;;
        esac
        case ${proxy#*/} in
        0 | 00 | 000) # everybody would be believed everything
            echo "render.sh: TRUSTED_PROXIES has '$proxy', which is everybody" >&2
            exit 1
            ;;
        esac
        lines="${lines}set_real_ip_from $proxy; "
        rows="${rows}$proxy 1; "
    done
    echo "s|@PROXY_ROWS@|${rows:-# TRUSTED_PROXIES: none}|"
    if [ -z "$lines" ]; then
        echo 's|@REAL_IP@|# TRUSTED_PROXIES: none|'
    else
        echo "s|@REAL_IP@|${lines}real_ip_header X-Forwarded-For; real_ip_recursive on;|"
    fi
}

script=$(
    # "off" takes no name of a format behind it
    [ "${ACCESS_LOG:-}" != off ] || echo 's|access_log @ACCESS_LOG@ agentsim;|access_log off;|'
    real_ip "${TRUSTED_PROXIES:-}"
    fill RUNTIME_DIR "${RUNTIME_DIR:-/run/agentsim}"
    fill STATE_DIR "$state"
    fill WWW_DIR "${WWW_DIR:-/opt/agentsim/www}"
    fill CONF_DIR "${CONF_DIR:-/opt/agentsim/nginx}"
    address PUBLIC_LISTEN "${PUBLIC_LISTEN:-127.0.0.1:8080}"
    address INTERNAL_LISTEN "${INTERNAL_LISTEN:-127.0.0.1:8001}"
    fill ACCESS_LOG "${ACCESS_LOG:-$state/nginx-access.log}"
)
if [ "$1" = - ]; then
    sed "$script" "$here/agentsim.conf.in"
else
    sed "$script" "$here/agentsim.conf.in" >"$1.new"
    mv "$1.new" "$1"
    dir=$(cd "$(dirname "$1")" && pwd)
    if [ "$dir" != "$here" ]; then
        mkdir -p "$dir/snippets"
        cp "$here"/snippets/*.conf "$dir/snippets/"
    fi
fi
