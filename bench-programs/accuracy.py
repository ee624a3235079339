#!/usr/bin/env python3
"""How much of the truth records hold, program by program: `backedge accuracy` over the suite.

    python3 bench-programs/accuracy.py [--seconds 3] [--events 1,3,255] [--backedge PATH] [--suite feedback,compute,systems] [--filter TEXT] [--json OUT]

Each program runs as ever for about so many seconds and once more with everything counted, which takes ten times as long and, with event 4, where every load is
timed, some fifty times. A line gives the overlap of each event's distribution over sites, within functions in brackets (Arnold and Ryder; at least 95 % wanted),
and how far the share of sites' most frequent value is from the exact one, in points (at most 2 wanted). `cpython` and `yosys` are rows too where
bench-programs/real.sh has fetched them and --suite has `real`.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

from cost import REAL

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {1: "values", 3: "branches", 4: "misses"}


def rows(options):
    """(id, options of the command, file and arguments, rounds that take about a tenth of a second if there are rounds)."""
    wanted = options.suite.split(",")
    for program in json.loads((HERE / "programs/catalog.json").read_text())["programs"]:
        for mode, it in enumerate(program["modes"]):
            if program["group"] in wanted and it.get("kind") != "variant" and "once" in it:
                # indirect_call has rounds alone.
                size = [str(it["size"])] if "size" in it else []
                guest = [str(HERE / f"programs/{program['id']}/{program['id']}.wasm"), str(mode), *size]
                yield f"{program['id']}/{mode}", [], guest, it["once"]
    if "real" in wanted:
        for name, (module, folders, arguments) in REAL.items():
            mapped = [part for host, guest in folders.items() for part in ("--dir", f"{HERE / host}::{guest}")]
            if (HERE / "real" / module).exists():
                yield name, mapped, [str(HERE / "real" / module), *arguments], None


def rounds(options, guest, once):
    """Rounds that take so many seconds on this machine."""
    some = once * 5
    while True:
        began = time.monotonic()
        subprocess.run([options.backedge, "run", *guest, str(some)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        took = time.monotonic() - began
        if took >= 0.3 or took >= options.seconds:
            return max(1, round(some * options.seconds / took))
        some *= 4


def measure(options, row):
    _, more, guest, once = row
    if once is not None:
        guest = [*guest, str(rounds(options, guest, once))]
    command = [options.backedge, "accuracy", "--json", "--events", options.events, *more, *guest]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    # The program's own output goes to stderr.
    start = done.stdout.find("{\n")
    if done.returncode != 0 or start < 0:
        sys.exit(f"accuracy.py: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout[start:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--events", default="1,3,255")
    parser.add_argument("--suite", default="feedback,compute,systems")
    parser.add_argument("--filter", default="")
    parser.add_argument("--backedge", default=str(HERE.parent / "target/release/backedge"))
    parser.add_argument("--json")
    options = parser.parse_args()
    answers = {}
    for row in rows(options):
        if options.filter not in row[0]:
            continue
        answer = answers[row[0]] = measure(options, row)
        share = lambda it: "-" if it is None else f"{it:.1f}"
        events = [f"{NAMES[it['event']]} {share(it['overlap']):>5} % ({share(it['within_functions'])})" for it in answer["events"]]
        top = answer["top_values"]
        tops = f"top value off by {top['mean_points']:.2f} points" if top else "no top values"
        print(f"{row[0]:<20} {answer['sampled_ms'] / 1e3:6.1f} s at {answer['cost_percent']:.2f} %  {'  '.join(events)}  {tops}", flush=True)
    for event, name in NAMES.items():
        overlaps = [it["overlap"] for answer in answers.values() for it in answer["events"] if it["event"] == event and it["overlap"] is not None]
        if overlaps:
            print(f"{name}: at least 95 % in {sum(it >= 95 for it in overlaps)} of {len(overlaps)}, least {min(overlaps):.1f} %")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
