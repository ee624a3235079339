#!/usr/bin/env python3
"""Times programs under backedge with and without feedback and under wasmtime, interleaved, and prints medians and ratios.

usage: measure.py BACKEDGE [--runs N] [--no-wasmtime] [--node NODE] [PROGRAM[:MODE[:SIZE[:ROUNDS]]]]...
       default programs: indirect_call:0 indirect_call:1 indirect_call:2

What is timed is each program's own `--time` line, the work without start-up. wasmtime is the one from PyPI (after build.sh), node what NODE names,
one shot. One run of each engine after the other, N times over; the ratio columns are medians of the N ratios of neighbouring runs. A few runs of one
program show nothing below some percent: this is a look, not a benchmark.
"""
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def time_ns(command: list[str]) -> int:
    """The program's own time; ends this script where the run failed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r"^time_ns (\d+)$", done.stderr, re.M)
    if done.returncode != 0 or not done.stdout.startswith("ok ") or not found:
        sys.exit(f"measure.py: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return int(found[1])


def main() -> None:
    args = sys.argv[1:]
    if not args or args[0].startswith("-"):
        sys.exit(__doc__)
    backedge, runs, programs, wasmtime, node = args.pop(0), 5, [], True, None
    while args:
        match args.pop(0):
            case "--runs":
                runs = int(args.pop(0))
            case "--no-wasmtime":
                wasmtime = False
            case "--node":
                node = args.pop(0)
            case program:
                programs.append(program)
    engines = {"feedback": [backedge, "run"], "no-feedback": [backedge, "run", "--no-feedback"]}
    if wasmtime:
        engines["wasmtime"] = [str(HERE / ".venv/bin/python"), str(HERE / "run-wasmtime.py")]
    if node:
        engines["node"] = [node, "--no-warnings", str(HERE / "run-node.mjs")]
    others = [name for name in engines if name != "feedback"]
    print(f"{'program':24}" + "".join(f"{name + ' ms':>16}" for name in engines) + "".join(f"{name + '/fb':>16}" for name in others))
    for program in programs or ["indirect_call:0", "indirect_call:1", "indirect_call:2"]:
        name, *rest = program.split(":")
        tail = [str(HERE / "programs" / name / f"{name}.wasm"), "--time", *rest]
        times = {engine: [] for engine in engines}
        for _ in range(runs):
            for engine, command in engines.items():
                times[engine].append(time_ns(command + tail))
        row = "".join(f"{statistics.median(times[engine]) / 1e6:16.1f}" for engine in engines)
        for other in others:
            row += f"{statistics.median(o / f for o, f in zip(times[other], times['feedback'])):16.2f}"
        print(f"{program:24}{row}", flush=True)


if __name__ == "__main__":
    main()
