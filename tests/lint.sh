#!/bin/bash
# tests/lint.sh [tidy [FILE...]] -- checks that need no run; ends with "N passed, N failed".
#   without arguments   sources (tests/support/lint.py), formatting, shell
#   tidy                clang-tidy (bugprone, cert, analyzer) on the files, or on all: slow
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0

verdict() { # verdict STATUS NAME [FINDINGS]
    if [ "$1" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok   $2"
    else
        failed=$((failed + 1))
        echo "FAIL $2"
        [ -z "${3:-}" ] || sed 's/^/       /' <<<"$3"
    fi
}

mapfile -t sources < <(git ls-files --cached --others --exclude-standard '*.c' '*.h' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
[ ${#sources[@]} -gt 0 ] || verdict 1 "sources" "git names none: is this folder a checkout?"

if [ "${1:-}" = tidy ]; then
    shift
    [ $# -gt 0 ] || mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep '\.c$' | grep -v '^tests/')
    [ $# -eq 0 ] || sources=("$@")
    # Not wanted here: our own names for reserved words, easily swapped parameters (the house passes plain sizes),
    # Annex K functions that glibc lacks, and the result of fprintf.
    checks='-*,bugprone-*,cert-*,clang-analyzer-*,-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier'
    checks+=',-cert-dcl37-c,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-cert-err33-c'
    checks+=',-bugprone-assignment-in-if-condition,-bugprone-narrowing-conversions,-bugprone-macro-parentheses'
    read -ra python < <(python3-config --includes 2>/dev/null)
    for f in "${sources[@]}"; do
        out=$(clang-tidy --quiet --warnings-as-errors='*' --checks="$checks" "$f" -- -std=gnu17 -I. -D_GNU_SOURCE \
            -DAGENTSIM_VERSION='"0"' -DAGENTSIM_PREFIX='"/opt/agentsim"' "${python[@]}" 2>/dev/null)
        verdict $? "tidy $f" "$(grep -E '(warning|error):' <<<"$out")"
    done
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
    exit
fi

report=$(python3 tests/support/lint.py "${sources[@]}") || report="FAIL lint.py ended"
echo "$report"
passed=$((passed + $(grep -c '^ok ' <<<"$report")))
failed=$((failed + $(grep -c '^FAIL' <<<"$report")))

if command -v clang-format >/dev/null; then
    out=$(printf '%s\0' "${sources[@]}" | xargs -0 -P 2 -n 100 clang-format --style=file:docs/clang-format --dry-run -Werror 2>&1 |
        sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u)
    verdict "$([ -z "$out" ]; echo $?)" "formatted (make format)" "$out"
else
    verdict 1 "formatted" "clang-format is not installed (docker/install/packages.sh test)"
fi

mapfile -t scripts < <(git ls-files '*.sh')
out=$(shellcheck -S warning "${scripts[@]}" 2>&1)
verdict $? "shell scripts" "$out"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
