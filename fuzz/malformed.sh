#!/usr/bin/env bash
# Damages ten real modules, CPython, QuickJS and Yosys among them, in 100,000 ways: `bash fuzz/malformed.sh [CASES] [more arguments of fuzz malformed]`.
# Fetches the real ones first (bench-programs/real.sh).
set -euo pipefail
cd "$(dirname "$0")/.."
cases=${1:-100000}
shift || true
mapfile -t real < <(bash bench-programs/real.sh)
programs=()
for name in json stack_machine hashtable sort indirect_call graph matmul; do
    programs+=("bench-programs/programs/$name/$name.wasm")
done
cargo build --release -p backedge-fuzz
exec "${CARGO_TARGET_DIR:-target}/release/fuzz" malformed --cases "$cases" "$@" "${real[@]}" "${programs[@]}"
