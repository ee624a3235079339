#!/usr/bin/env bash
# Damages ten real modules in 100,000 ways: `bash fuzz/malformed.sh [CASES] [more arguments of fuzz malformed]`. Five are other people's: CPython, QuickJS,
# Yosys 0.40 and two with SIMD. They are fetched first (bench-programs/real.sh). Yosys 0.70 is left out: it is 69 MB, and most of the time would go to copying it.
set -euo pipefail
cd "$(dirname "$0")/.."
cases=${1:-100000}
shift || true
mapfile -t real < <(bash bench-programs/real.sh | grep -v /yosys70/)
programs=()
for name in json stack_machine hashtable indirect_call vectors; do
    programs+=("bench-programs/programs/$name/$name.wasm")
done
cargo build --release -p backedge-fuzz
exec "${CARGO_TARGET_DIR:-target}/release/fuzz" malformed --cases "$cases" "$@" "${real[@]}" "${programs[@]}"
