#!/usr/bin/env python3
"""Runs a WASI preview 1 program under wasmtime (PyPI): the reference that check-real.sh's expected outputs come from.

usage: run-wasmtime.py [--dir HOST::GUEST]... [--env K=V]... [--invoke NAME] FILE [ARGS...]     exits with the program's code

--invoke calls the export NAME of a reactor, after its `_initialize`, and prints what it returns, as `backedge run` does.
"""
import sys

import wasmtime


def main() -> int:
    args = sys.argv[1:]
    config = wasmtime.WasiConfig()
    env = []
    invoke = None
    while args and args[0].startswith("--"):
        option, value = args.pop(0), args.pop(0)
        if option == "--dir":
            host, _, guest = value.partition("::")
            config.preopen_dir(host, guest or host)
        elif option == "--env":
            name, _, text = value.partition("=")
            env.append((name, text))
        elif option == "--invoke":
            invoke = value
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
    exports = instance.exports(store)
    try:
        if invoke is None:
            exports["_start"](store)
        else:
            if "_initialize" in exports:
                exports["_initialize"](store)
            result = exports[invoke](store)
            if result is not None:
                print(result)
    except wasmtime.ExitTrap as stop:
        return stop.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
