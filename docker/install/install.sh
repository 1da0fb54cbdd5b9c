#!/bin/bash
# Puts what was built below PREFIX: install.sh BUILD PREFIX
#
#   PREFIX/bin     programs (each replaced in one step: running ones keep their file)
#   PREFIX/www     the console with the examples
#   PREFIX/nginx   configuration of our own nginx; PREFIX/nginx/local/ is the operator's and stays
#   /usr/local/bin/agentsim   link to the command line
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"
top=$here/../..

[ $# -eq 2 ] || fail "usage: install.sh BUILD PREFIX"
build=$1 prefix=$2
umask 022

mkdir -p "$prefix/bin" "$prefix/nginx/local"
for program in "$build"/bin/*; do
    name=$(basename "$program")
    cmp -s "$program" "$prefix/bin/$name" && continue
    install -m 755 "$program" "$prefix/bin/.$name.new"
    mv -f "$prefix/bin/.$name.new" "$prefix/bin/$name"
done
"$top/nginx/install-www.sh" "$top/docs/examples" "$prefix/www"
WWW_DIR=$prefix/www CONF_DIR=$prefix/nginx "$top/nginx/render.sh" "$prefix/nginx/agentsim.conf"
if [ "$prefix" = /opt/agentsim ]; then
    mkdir -p /usr/local/bin
    ln -sfn "$prefix/bin/agentsim" /usr/local/bin/agentsim
fi
