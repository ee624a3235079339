#!/usr/bin/env python3
"""Runs a WASI preview 1 program under wasmtime (PyPI): the reference that check-real.sh's expected outputs come from.

usage: run-wasmtime.py [--dir HOST::GUEST]... [--env K=V]... FILE [ARGS...]     exits with the program's code
"""
import sys

import wasmtime


def main() -> int:
    args = sys.argv[1:]
    config = wasmtime.WasiConfig()
    env = []
    while args and args[0].startswith("--"):
        option, value = args.pop(0), args.pop(0)
        if option == "--dir":
            host, _, guest = value.partition("::")
            config.preopen_dir(host, guest or host)
        elif option == "--env":
            name, _, text = value.partition("=")
            env.append((name, text))
        else:
            print(f"run-wasmtime: unknown option {option}", file=sys.stderr)
            return 2
    config.argv = args
    config.env = env
    config.inherit_stdin()
    config.inherit_stdout()
    config.inherit_stderr()
    engine = wasmtime.Engine()
    module = wasmtime.Module.from_file(engine, args[0])
    store = wasmtime.Store(engine)
    store.set_wasi(config)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    instance = linker.instantiate(store, module)
    try:
        instance.exports(store)["_start"](store)
    except wasmtime.ExitTrap as stop:
        return stop.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
