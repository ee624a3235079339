#!/usr/bin/env bash
# Rebuilds every checked-in .wasm of bench-programs/programs from its source, with pinned compilers from PyPI.
#
#   bash bench-programs/build.sh            rebuild all
#   bash bench-programs/build.sh sort fib   rebuild these
#   bash bench-programs/build.sh --check    rebuild all elsewhere and compare with what is checked in
set -euo pipefail
cd "$(dirname "$0")"

. ./zig.sh
WASMTIME=50.0.1 # for its wat2wasm

# WebAssembly 1.0 and what every engine supports beyond it; no tail calls or exceptions, and SIMD only where a program's
# file `features` asks for it. multivalue and reference-types would change the C calling convention and the encoding of every indirect call, and bring nothing to C.
MCPU=mvp+bulk_memory+mutable_globals+nontrapping_fptoint+sign_ext
FLAGS=(-target wasm32-wasi -mcpu="$MCPU" -O2 -std=gnu11 -Wall -Wextra -Werror -fno-sanitize=undefined -fno-vectorize -fno-slp-vectorize
       -Wl,-z,stack-size=1048576 # not the 16 MiB that zig gives
       -g) # for the name section; strip.py drops the rest

fail() { echo "build.sh: $*" >&2; exit 1; }

check=
if [ "${1:-}" = --check ]; then check=1; shift; fi
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for dir in programs/*/; do names+=("$(basename "$dir")"); done
fi

python=.venv/bin/python
if ! "$python" -c "
import sys
from importlib.metadata import version
sys.exit(version('ziglang') != '$ZIGLANG' or version('wasmtime') != '$WASMTIME')" 2>/dev/null; then
    echo "build.sh: installing ziglang $ZIGLANG and wasmtime $WASMTIME into bench-programs/.venv" >&2
    python3 -m venv .venv || fail "python3 -m venv failed (Debian: apt-get install python3-venv)"
    .venv/bin/pip install --quiet --disable-pip-version-check "ziglang==$ZIGLANG" "wasmtime==$WASMTIME" \
        || fail "pip could not install ziglang and wasmtime"
fi

# build NAME: makes it, or compares it with what is checked in. Ends this process where that fails.
build() {
    local name=$1 dir=programs/$1 out features
    [ -d "$dir" ] || fail "no such program: $name"
    out=$dir/$name.wasm
    # The file's name goes into the module, so the copy to compare has the same.
    [ -z "$check" ] || out=$(mktemp -d)/$name.wasm
    if [ -f "$dir/$name.wat" ]; then
        "$python" - "$dir/$name.wat" "$out" <<'PYTHON' || fail "$name does not assemble"
import pathlib, sys, wasmtime
pathlib.Path(sys.argv[2]).write_bytes(wasmtime.wat2wasm(pathlib.Path(sys.argv[1]).read_text()))
PYTHON
    else
        # After FLAGS: the last -mcpu counts. Vectors are written in the source; the compiler makes none of its own.
        features=$(cat "$dir/features" 2>/dev/null || true)
        "$python" -m ziglang cc "${FLAGS[@]}" -mcpu="$MCPU$features" -o "$out" "$dir/$name.c" || fail "$name does not compile"
        "$python" strip.py "$out" || fail "$name: not a module"
    fi
    if [ -n "$check" ]; then
        cmp -s "$out" "$dir/$name.wasm" || fail "$name: differs from the checked-in module"
        rm -r "$(dirname "$out")"
    else
        printf '%-16s %7d bytes\n' "$name" "$(stat -c %s "$out")"
    fi
}

# As many at a time as there are processors.
failed=0 running=0
for name in "${names[@]}"; do
    if [ "$running" -ge "$(nproc)" ]; then
        wait -n || failed=1
        running=$((running - 1))
    fi
    build "$name" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=1
    running=$((running - 1))
done
[ "$failed" = 0 ] || fail "some modules were not built, or are not what their sources build to"
