#!/usr/bin/env bash
# The specification's suite, the small programs and random modules under limits that hosts have: one processor, little address space, a root that nothing can be written to.
#
#   [FUZZ=PATH_TO_FUZZ] bash .ci/constrained.sh PATH_TO_BACKEDGE PATH_TO_SPEC_TEST [LIMIT...]     limits: one-cpu address-space read-only; all of them without
#
# The suite runs in the configurations named below, the programs as `bench-programs/check-programs.sh` runs them with QUICK=1, and the fuzzer, where there is one, CASES modules (40). A failure ends its
# limit, and the whole with code 1.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

fail() { echo "constrained.sh: FAILED: $*" >&2; exit 1; }

# Every tier and the threads that compile; what a limit is not about is left to `cargo test`.
CONFIGURATIONS=("tier-up after 1 call, feedback on" "the same, compiled on threads" "tier 2 at first call")
# CI has no time for more than one of them under each limit.
[ -z "${CI:-}" ] || CONFIGURATIONS=("the same, compiled on threads")

# Everything that is mounted becomes read-only, in this mount namespace. Files of the kernel's own stay as they are.
make_read_only() {
    local point folder
    while read -r _ _ _ _ point _; do
        case $point in
            /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) ;;
            *) mount -o remount,bind,ro "$point" ;;
        esac
    done </proc/self/mountinfo
    for folder in / "${HOME:-/root}" /tmp /var/tmp; do
        ! (: >"$folder/backedge-can-write-here") 2>/dev/null || fail "$folder can be written to"
    done
}

# One limit: constrained.sh --inside LIMIT BACKEDGE SPEC, in a process of its own.
inside() {
    local limit=$1 backedge=$2 spec=$3 configuration
    case $limit in
        one-cpu) [ "$(nproc)" = 1 ] || fail "$(nproc) processors, not 1" ;;
        # (scripts beside each other would leave each other's memories no room to grow)
        address-space) ulimit -v 4000000; export SPEC_THREADS=1 ;;
        read-only) make_read_only ;;
    esac
    for configuration in "${CONFIGURATIONS[@]}"; do
        SPEC_CONFIGURATION="=$configuration" "$spec" || fail "$limit: the suite, $configuration"
    done
    if [ -n "${FUZZ:-}" ]; then
        # Shared memory can be written to with a read-only root as well, and keeps what was found.
        "$FUZZ" run --cases "${CASES:-40}" --out "/dev/shm/backedge-fuzz-$limit" >"/dev/shm/backedge-fuzz-$limit.log" 2>&1 ||
            { cat "/dev/shm/backedge-fuzz-$limit.log"; fail "$limit: the fuzzer"; }
        tail -1 "/dev/shm/backedge-fuzz-$limit.log"
        rm -rf "/dev/shm/backedge-fuzz-$limit" "/dev/shm/backedge-fuzz-$limit.log"
    fi
    QUICK=1 bash "$root/bench-programs/check-programs.sh" "$backedge" | tail -1
    # A large program's cache, or a run without.
    "$backedge" run "$root/bench-programs/programs/regex/regex.wasm" 0 >/dev/null || fail "$limit: a later run"
    echo "constrained.sh: $limit: all right"
}

if [ "${1:-}" = --inside ]; then
    inside "${@:2}"
    exit
fi
[ $# -ge 2 ] || { echo "usage: constrained.sh PATH_TO_BACKEDGE PATH_TO_SPEC_TEST [LIMIT...]" >&2; exit 2; }
backedge=$(realpath "$1")
spec=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- one-cpu address-space read-only
# Side by side; all are waited for, so that none is left behind.
running=()
code=0
for limit in "$@"; do
    case $limit in
        one-cpu) around=(taskset -c 0) ;;
        address-space) around=() ;;
        read-only)
            around=(unshare --mount --propagation private)
            [ "$(id -u)" = 0 ] || around+=(--user --map-root-user)
            ;;
        *) fail "no such limit: $limit" ;;
    esac
    ${around[@]+"${around[@]}"} bash "$0" --inside "$limit" "$backedge" "$spec" &
    running+=($!)
done
for process in "${running[@]}"; do
    wait "$process" || code=1
done
exit "$code"
