#!/bin/bash
# Puts what was built in its place: install.sh BUILD PREFIX
#   PREFIX/bin      programs; agentsim also as /usr/local/bin/agentsim
#   PREFIX/nginx    nginx configuration (render.sh there says which variables change its addresses)
#   PREFIX/www      console
#   PREFIX/build-id digest of all that, for up.sh to see whether something changed
# A program that runs is replaced, not written into: it keeps running until the next start.
set -euo pipefail
shopt -s inherit_errexit
umask 022
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=docker/install/say.sh
. "$here/say.sh"
[ $# -eq 2 ] || fail "usage: install.sh BUILD PREFIX"
root=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd) prefix=$2

needs_to_write "$prefix/bin"
needs_to_write "$prefix/nginx"

for program in "$build"/bin/agentsim*; do
    name=$(basename "$program")
    cmp -s "$program" "$prefix/bin/$name" && continue
    install -m 755 "$program" "$prefix/bin/.$name.new"
    mv "$prefix/bin/.$name.new" "$prefix/bin/$name"
done
for program in "$prefix"/bin/agentsim*; do
    [ -e "$build/bin/$(basename "$program")" ] || rm -f "$program"
done

rm -rf "$prefix/www.new"
"$root/nginx/install-www.sh" "$root/docs/examples" "$prefix/www.new"
rm -rf "$prefix/www.old"
[ ! -e "$prefix/www" ] || mv "$prefix/www" "$prefix/www.old"
mv "$prefix/www.new" "$prefix/www"
rm -rf "$prefix/www.old"

CONF_DIR=$prefix/nginx WWW_DIR=$prefix/www "$root/nginx/render.sh" "$prefix/nginx/agentsim.conf"

if [ "$prefix" = /opt/agentsim ]; then
    mkdir -p /usr/local/bin
    ln -sfn "$prefix/bin/agentsim" /usr/local/bin/agentsim
fi
(cd "$prefix" && find bin nginx -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16) > "$prefix/build-id.new"
mv "$prefix/build-id.new" "$prefix/build-id"
say "installed below $prefix"
