#!/bin/bash
# tests/bench/run.sh [PART...] -- measures private services on this machine and prints tables. Needs root; installs what it needs.
set -euo pipefail
cd "$(dirname "$0")/../.."
docker/install/packages.sh bench > /dev/null
docker/install/testenv.sh > /dev/null
exec build/testenv/bin/python -m tests.bench "$@"
