#!/bin/bash
# Installs the Debian packages of the named groups: packages.sh [build|run|test|lint|bench]...
# With `run` it also makes the system user that the service's processes belong to.
# Quick when all are there; otherwise it needs root, Debian 12 and the package archive.
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"
# shellcheck source=docker/install/service.sh
. "$here/service.sh"

wanted() { # wanted GROUP...: prints their packages
    local group
    for group in "$@"; do
        awk -v group="$group" '$1 == group { print $2; n++ } END { exit !n }' "$here/packages.txt" ||
            fail "packages.sh: there is no group '$group' in packages.txt"
    done
}

missing() { # missing PACKAGE...: prints those that are not installed
    local installed
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2> /dev/null |
        sed -n 's/ installed$//p' || true)
    comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<< "$installed")
}

debian_12() {
    local id='' version=''
    # shellcheck disable=SC2034,SC1091
    { . /etc/os-release && id=${ID:-} version=${VERSION_ID:-}; } 2> /dev/null || true
    [ "$id:$version" = debian:12 ]
}

# Debian starts a service as soon as its package is unpacked. nginx would take port 80, and ours
# is an instance with a configuration of its own: nothing is started while we install.
policy=/usr/sbin/policy-rc.d
hold_services() {
    [ ! -e "$policy" ] || grep -q agentsim "$policy" || mv "$policy" "$policy.agentsim"
    printf '#!/bin/sh\n# agentsim is being installed\nexit 101\n' > "$policy"
    chmod 755 "$policy"
}
release_services() {
    rm -f "$policy"
    [ ! -e "$policy.agentsim" ] || mv "$policy.agentsim" "$policy"
}

update_lists() {
    local problem
    say "read the package lists"
    apt-get update -o APT::Update::Error-Mode=any > "$log" 2>&1 && return
    problem=$(sed -n 's/^\(Err\|E\|W\):[0-9 ]*//p' "$log" | head -n 1)
    # Lists of one source may be enough; apt-get install decides.
    apt-get install -s "$@" > /dev/null 2>&1 ||
        fail "cannot reach the package archive: ${problem:-no answer}; check the network and /etc/apt/sources.list.d"
    say "some package lists could not be read ($problem); going on with the others"
}

install_packages() { # install_packages PACKAGE...
    local all
    local options=(-y --no-install-recommends -o DPkg::Lock::Timeout=300)
    all=$(apt-get install -s "${options[@]}" "$@" 2> "$log" | grep -c '^Inst' || true)
    [ "$all" -gt 0 ] || stopped "the package archive does not have all of: $*"
    say "install $all packages"
    DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" "$@" < /dev/null 2>&1 |
        tee "$log" | awk -v all="$all" '
            /^Get:/        { if (++got % 25 == 0) print "   fetched " got " of " all }
            /^Setting up / { if (++set % 25 == 0) print "   set up " set " of " all }
            { fflush() }' ||
        stopped "the packages could not be installed; is the package archive reachable?"
}

command -v dpkg-query > /dev/null || fail "this is not Debian: agentsim installs itself on Debian 12 only"
[ $# -gt 0 ] || fail "usage: packages.sh [build|run|test|lint|bench]..."
packages=$(wanted "$@")
# shellcheck disable=SC2086 # package names hold no blanks
lacking=$(missing $packages)
if [ -z "$lacking" ]; then
    [[ " $* " != *" run "* ]] || make_user
    say "packages: ready"
    exit 0
fi
debian_12 || fail "this is not Debian 12, for which agentsim is made; missing packages: $(xargs <<< "$lacking")"
[ "$(id -u)" = 0 ] || fail "packages are missing ($(xargs <<< "$lacking")) and only root can install them: run this as root"

log=$(log_path packages)
no_nginx=$(missing nginx)
trap release_services EXIT
hold_services
# shellcheck disable=SC2086
update_lists $lacking
# shellcheck disable=SC2086
install_packages $lacking
# A machine that had no web server does not get one on port 80 at its next start either.
if [ -n "$no_nginx" ] && [ -e /etc/init.d/nginx ]; then
    update-rc.d nginx disable > /dev/null 2>&1 || true
fi
[[ " $* " != *" run "* ]] || make_user
say "packages: ready"
