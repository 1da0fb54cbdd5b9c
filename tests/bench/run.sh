#!/bin/bash
# tests/bench/run.sh [ROUNDS] -- measures a private agentsim on this machine and prints one table. Needs root and the test environment.
set -euo pipefail
cd "$(dirname "$0")/../.."
docker/install/testenv.sh
exec build/testenv/bin/python -m tests.bench.bench "${1:-${ROUNDS:-10}}"
