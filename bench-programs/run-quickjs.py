#!/usr/bin/env python3
"""What examples/quickjs.rs does, under wasmtime (PyPI): runs a script in npm's `quickjs-wasi` module.

usage: run-quickjs.py MODULE SCRIPT
"""
import sys

import wasmtime
from wasmtime import Func, FuncType


def main() -> int:
    path, script = sys.argv[1:]
    engine = wasmtime.Engine()
    module = wasmtime.Module.from_file(engine, path)
    store = wasmtime.Store(engine)
    config = wasmtime.WasiConfig()
    config.inherit_stdout()
    config.inherit_stderr()
    store.set_wasi(config)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    for wanted in module.imports:
        if wanted.module == "env":
            ty = wanted.type
            assert isinstance(ty, FuncType)
            answer = 0 if list(ty.results) else None
            linker.define(store, wanted.module, wanted.name, Func(store, ty, lambda *_, answer=answer: answer))
    exports = linker.instantiate(store, module).exports(store)

    def call(name: str, *arguments: int) -> int:
        return exports[name](store, *arguments)

    def text(string: str) -> int:
        data = string.encode() + b"\0"
        place = call("wasm_malloc", len(data))
        exports["memory"].write(store, data, place)
        return place

    def string(value: int) -> str:
        place = call("qjs_get_string", value)
        memory = exports["memory"]
        data = bytes(memory.read(store, place, memory.data_len(store)))
        return data[: data.index(0)].decode()

    def evaluate(code: str, name: str) -> int:
        value = call("qjs_eval", text(code), len(code.encode()), text(name), 0)
        if call("qjs_is_exception", value):
            sys.exit(f"uncaught: {string(call('qjs_get_exception'))}")
        return value

    exports["_initialize"](store)
    if code := call("qjs_init"):
        sys.exit(f"qjs_init returned {code}")
    with open(script, encoding="utf-8") as file:
        evaluate(file.read(), "script.js")
    while call("qjs_is_job_pending"):
        call("qjs_execute_pending_job")
    print(string(evaluate("finish()", "finish.js")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
