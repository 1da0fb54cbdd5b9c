#!/bin/sh
# What a container of the image runs: entrypoint.sh service|all|nginx, or any other command.
#   service   launcher, supervisor and workers; nginx is another container with the same /run/agentsim
#   all       the same and nginx, in one container
#   nginx     nginx in front of a `service`
set -eu

prefix=/opt/agentsim
config=/etc/agentsim/agentsim.yaml

need_token() {
    [ -z "${AGENT_SIMULATOR_API_TOKEN:-}" ] || return 0
    [ ! -e "$config" ] || ! grep -q '^api_token:' "$config" || return 0
    echo "agentsim: AGENT_SIMULATOR_API_TOKEN is not set, so every request would be refused: give it one," >&2
    echo "agentsim: for example AGENT_SIMULATOR_API_TOKEN=\$(openssl rand -hex 32)" >&2
    exit 2
}

case ${1:-service} in
service)
    need_token
    export AGENT_SIMULATOR_NGINX=
    exec "$prefix/bin/agentsim-keeper"
    ;;
all)
    need_token
    exec "$prefix/bin/agentsim-keeper"
    ;;
nginx)
    mkdir -p /run/agentsim/nginx
    exec nginx -c "$prefix/nginx/agentsim.conf" -g 'daemon off;'
    ;;
*)
    exec "$@"
    ;;
esac
