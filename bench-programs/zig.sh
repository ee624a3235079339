# Sourced by the scripts beside it, in this folder: the C compiler for WebAssembly, a wheel from PyPI in the git-ignored .venv.
ZIGLANG=0.13.0.post1 # clang 18 and wasi-libc

# need_zig: installs it where there is none; fails where it cannot.
need_zig() {
    .venv/bin/python -c 'import ziglang' 2>/dev/null \
        || { python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check "ziglang==$ZIGLANG"; }
}
