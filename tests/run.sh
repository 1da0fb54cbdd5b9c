#!/bin/bash
# tests/run.sh PART -- builds what a part of the tests needs, runs it, ends with "N passed, N failed".
#   lint unit seeds fixtures compiler buml integration security faults dropin browser   one part
#   all                                 every part, a line each, then the sum
#   soak                                the long form of faults, and of the talks with both programs
#   asan asan-unit                      with sanitizers   fuzz        every fuzzer, FUZZ_SECONDS each (60)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0

build() { # build ARGS...: make quietly unless something is wrong
    if ! make --no-print-directory -j"$(nproc)" "$@"; then
        echo "the build failed: make $*"
        echo "0 passed, 1 failed"
        exit 1
    fi
}

# cmocka prints to standard error; its summary lines are counted from there.
run_units() { # run_units DIR
    local program out p f
    for program in "$1"/test_*; do
        [ -x "$program" ] || continue
        out=$(timeout 300 "$program" 2>&1)
        local rc=$?
        p=$(grep -c '^\[       OK \]' <<<"$out")
        f=$(grep -c '^\[  FAILED  \] [a-z_0-9]*$' <<<"$(sed -n '/Running/,/==========.*run/p' <<<"$out")")
        [ $rc -ne 0 ] && [ "$f" -eq 0 ] && f=1
        passed=$((passed + p)) failed=$((failed + f))
        if [ $rc -eq 0 ]; then
            printf '  ok    %-40s %3d\n' "$(basename "$program")" "$p"
        else
            printf '  FAIL  %s\n%s\n' "$(basename "$program")" "$out"
        fi
    done
}

# The tests mostly wait for agents: files run side by side, each with services of its own. Where no more than `again_max`
# failed, these run `again_times` more by themselves and have to pass each time, so that a moment's load is told from a fault;
# what they said at first stays in the output.
again_max=3 again_times=1
run_pytest() { # run_pytest PATH...
    local report sums again
    report=$(mktemp)
    pytest_run "$report" -n "${TEST_JOBS:-2}" --dist loadfile "$@"
    read -r -a sums < <(summed "$report")
    if [ "${sums[1]}" -gt 0 ] && [ "${sums[1]}" -le "$again_max" ]; then
        mapfile -t again < <(build/testenv/bin/python tests/support/junit.py failed "$report")
        if [ ${#again[@]} -eq "${sums[1]}" ]; then
            echo "again by itself, $again_times x: ${again[*]}"
            if pytest_again "$report" "${again[@]}"; then
                sums=($((sums[0] + sums[1])) 0)
            fi
        fi
    fi
    rm -f "$report"
    passed=$((passed + sums[0])) failed=$((failed + sums[1]))
}

pytest_again() { # pytest_again REPORT TESTS...: whether they pass every time
    local try
    for ((try = 0; try < again_times; try++)); do
        pytest_run "$1" -n 0 "${@:2}" || return 1
    done
}

pytest_run() { # pytest_run REPORT ARGS...
    local report=$1
    shift
    build/testenv/bin/python -m pytest -q -ra -p no:cacheprovider -o junit_family=xunit1 --junitxml="$report" "$@"
}

summed() { # summed REPORT: passed and failed; a report that cannot be read is a failure
    build/testenv/bin/python tests/support/junit.py sums "$1" || echo 0 1
}

close() { # the line that ends a part; its exit status
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

case ${1:-all} in
unit)
    build unit-programs
    run_units build/test
    close
    ;;
integration)
    build build
    run_pytest tests/integration
    close
    ;;
security)
    build build
    run_pytest --no-loadscope-reorder tests/security # those that take the attacker's slot come last
    close
    ;;
faults)
    build build
    again_times=5 # their moments are drawn by chance: what fails rarely would pass a second try
    run_pytest tests/faults
    close
    ;;
soak)
    build build
    docker/install/testenv.sh reference
    report=$(mktemp)
    AGENTSIM_SOAK=1 pytest_run "$report" -n 0 -s -v --durations=20 tests/faults tests/compiler/test_talks.py # once: what fails rarely fails here
    read -r passed failed < <(summed "$report")
    rm -f "$report"
    close
    ;;
browser)
    build build
    run_pytest tests/browser
    close
    ;;
fixtures)
    build build
    run_pytest tests/fixtures
    close
    ;;
dropin)
    build build
    docker/install/testenv.sh backend
    run_pytest tests/dropin
    close
    ;;
compiler)
    build build
    docker/install/testenv.sh reference
    run_pytest tests/compiler
    close
    ;;
buml)
    build build
    docker/install/testenv.sh reference
    run_pytest tests/buml
    close
    ;;
asan-unit)
    build B=build/asan SAN=address unit-programs
    run_units build/asan/test
    close
    ;;
asan)
    build B=build/asan SAN=address unit-programs build
    run_units build/asan/test
    AGENTSIM_BUILD=build/asan run_pytest tests/integration
    close
    ;;
lint)
    exec tests/lint.sh
    ;;
seeds)
    # Without optimisation: that builds in half the time, and the seeds take a second.
    build B=build/replay SAN=address OPT=-O0 CC=gcc replays
    for folder in tests/fuzz/seeds/*; do
        name=$(basename "$folder")
        if out=$(timeout 120 "build/replay/seeds/$name" "$folder"/* 2>&1); then
            seeds=$(wc -l <<<"$out")
            passed=$((passed + seeds))
            printf '  ok    %-40s %3d\n' "$name" "$seeds"
        else
            failed=$((failed + 1))
            printf '  FAIL  %s\n%s\n' "$name" "$out"
        fi
    done
    for harness in tests/fuzz/fuzz_*.c; do
        name=$(basename "$harness" .c)
        [ -d "tests/fuzz/seeds/${name#fuzz_}" ] || { failed=$((failed + 1)) && echo "  FAIL  $name has no seeds"; }
    done
    close
    ;;
fuzz)
    build B=build/fuzz SAN=fuzzer CC=clang fuzzers
    for fuzzer in build/fuzz/bin/fuzz_*; do
        [ -x "$fuzzer" ] || continue
        name=$(basename "$fuzzer")
        mkdir -p "build/fuzz/corpus/$name"
        folders=("build/fuzz/corpus/$name")
        [ -d "tests/fuzz/seeds/${name#fuzz_}" ] && folders+=("tests/fuzz/seeds/${name#fuzz_}")
        echo "  fuzz  $name, ${FUZZ_SECONDS:-60} s"
        if "$fuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 \
            -artifact_prefix="build/fuzz/$name-" "${folders[@]}" 2>"build/fuzz/$name.log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            tail -40 "build/fuzz/$name.log"
        fi
    done
    close
    ;;
all)
    for part in lint unit seeds fixtures compiler buml integration security faults dropin browser; do
        echo "== $part"
        log=build/test-$part.log
        mkdir -p build
        "$0" "$part" 2>&1 | tee "$log"
        line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -1)
        [ -n "$line" ] || line="0 passed, 1 failed"
        read -r -a line <<<"$line"
        passed=$((passed + line[0])) failed=$((failed + line[2]))
    done
    echo "== all"
    grep -h '^again by itself, ' build/test-*.log # what took two tries is told where everybody looks
    close
    ;;
*)
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
