#!/usr/bin/env python3
"""Measures the table of docs/src/interfaces.md: runs `backedge compare-feedback` on programs of the suite and on CPython and writes
compare-feedback.json beside this file. Then `BLESS=1 cargo test -p backedge-cli --test interfaces table` writes the table.

    python3 docs/experiments/compare-feedback.py BACKEDGE [PYTHON_WASM]
"""
import json
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
suite = here.parent.parent / "bench-programs"
backedge = sys.argv[1]
python = sys.argv[2] if len(sys.argv) > 2 else suite / "real/python/dist/python.wasm"
programs = [(name, [suite / f"programs/{name}/{name}.wasm"], 3) for name in ["indirect_call", "sort", "partition", "gather", "hashtable", "json"]]
programs.append(("CPython, sum of squares", [python, "-c", "print(sum(i*i for i in range(10**6)))"], 7))

results = []
for name, command, runs in programs:
    output = subprocess.run([backedge, "compare-feedback", "--json", "--runs", str(runs), *command], check=True, capture_output=True, text=True)
    results.append({"program": name, "runs": runs, **json.loads(output.stdout)})
    print(name, file=sys.stderr)
(here / "compare-feedback.json").write_text(json.dumps(results, indent=1) + "\n")
