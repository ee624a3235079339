#!/usr/bin/env bash
# Runs every program of bench-programs/programs in every mode and expects `ok` and exit code 0.
#
#   bash bench-programs/check-programs.sh PATH_TO_BACKEDGE [OPTIONS OF `backedge run`...]
#   bash bench-programs/check-programs.sh --node        the same under node ($NODE, or the one in PATH; 20.20's node:wasi crashes now and
#                                                       then at the end of programs that grew their memory, 26 does not)
#   QUICK=1 ...                                         small sizes only, which suit the interpreter
#   JOBS=2 ...                                          so many runs at a time
#
# Prints a line a run with the whole process's time; the first failure ends it with code 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

fail() { echo "check-programs.sh: FAILED: $*" >&2; exit 1; }

[ $# -ge 1 ] || { echo "usage: check-programs.sh PATH_TO_BACKEDGE [RUN_OPTIONS...] | --node" >&2; exit 2; }
run=()
one_run=
if [ "$1" = --once ]; then
    # One run, from below: --once COMMAND... -- NAME ARGS...
    one_run=1
    shift
    while [ "$1" != -- ]; do run+=("$1"); shift; done
    shift
elif [ "$1" = --node ]; then
    run=("${NODE:-node}" --no-warnings "$here/run-node.mjs")
else
    [ -x "$1" ] || fail "$1 is not an executable"
    run=("$1" run "${@:2}")
fi

# once NAME ARGS...
once() {
    local name=$1 begin end output code=0
    shift
    begin=$(date +%s%N)
    output=$(timeout 120 "${run[@]}" "$here/programs/$name/$name.wasm" "$@" </dev/null 2>&1) || code=$?
    end=$(date +%s%N)
    [ "$code" = 0 ] || fail "$name $*: exit code $code: $output"
    [[ $output =~ ^ok\ [0-9]+$ ]] || fail "$name $*: printed: $output"
    printf '%-16s %-14s %-24s %6d ms\n' "$name" "$*" "$output" $(((end - begin) / 1000000))
}

if [ -n "$one_run" ]; then
    # What xargs takes for "start no other".
    (once "$@") || exit 255
    exit
fi

# The modes of each program, and a size that even an interpreter finishes soon. Sizes mean what `NAME.wasm 99` prints.
runs() {
    local name modes small mode
    while read -r name modes small; do
        case $name in '' | '#'*) continue ;; esac
        for ((mode = 0; mode < modes; mode++)); do
            echo "$name $mode $small"
            [ -n "${QUICK:-}" ] || echo "$name $mode"
        done
    done <"$here/programs/modes.txt"
}
runs | xargs -L 1 -P "${JOBS:-1}" bash "$0" --once "${run[@]}" -- || exit 1

# A mistake in the arguments is the guest's own exit code.
code=0
"${run[@]}" "$here/programs/sort/sort.wasm" nonsense </dev/null >/dev/null 2>&1 || code=$?
[ "$code" = 2 ] || fail "sort nonsense: exit code $code, not the guest's 2"
echo "check-programs.sh: all right"
