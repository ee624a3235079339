#!/usr/bin/env python3
"""How much of the truth records hold, program by program: `backedge accuracy` over the suite.

    python3 bench-programs/accuracy.py [--seconds 3] [--events 1,3,255] [--backedge PATH] [--suite feedback,compute,systems] [--filter TEXT]
                                       [--runs 1] [--keep DIR] [--json OUT]

Each program runs as ever for about so many seconds and once more with everything counted, which takes ten times as long and, with event 4, where every load is
timed, some fifty times. A line gives the overlap of each event's distribution over sites, within functions in brackets (Arnold and Ryder; at least 95 % wanted),
and how far the share of sites' most frequent value is from the exact one, in points (at most 2 wanted). `cpython` and `yosys` are rows too where
bench-programs/real.sh has fetched them and --suite has `real`. With --runs N a line gives medians of N sampled runs, and the least overlap behind them. With --keep DIR the counts of full
runs are kept there, with the rounds that a program was given: asked again, of another build too, each sampled run takes its own time and no more.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from suite import HERE, rounds, rows

NAMES = {1: "values", 3: "branches", 4: "misses"}


def measure(options, row, folder):
    """One answer per sampled run; the full run is the first one's."""
    name, more, guest, once = row
    kept = folder / f"{name.replace('/', '-')}-{options.seconds:g}-{options.events.replace(',', '-')}"
    if once is not None:
        given = kept.with_suffix(kept.suffix + ".rounds")
        if not given.exists():
            given.write_text(str(rounds(options.backedge, guest, once, options.seconds)))
        guest = [*guest, given.read_text()]
    full = kept.with_suffix(kept.suffix + ".json")
    command = [options.backedge, "accuracy", "--json", "--full", str(full), "--events", options.events, *more, *guest]
    return [answer(command) for _ in range(options.runs)]


def answer(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    # The program's own output goes to stderr.
    start = done.stdout.find("{\n")
    if done.returncode != 0 or start < 0:
        sys.exit(f"accuracy.py: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout[start:])


def summary(runs):
    """A line about a program's runs, and the median overlap by event."""
    def median(values):
        known = [value for value in values if value is not None]
        return statistics.median(known) if known else None

    share = lambda value: "-" if value is None else f"{value:.1f}"
    parts, medians = [], {}
    for place, it in enumerate(runs[0]["events"]):
        of = lambda key: [run["events"][place][key] for run in runs]
        medians[it["event"]] = median(of("overlap"))
        least = "" if len(runs) == 1 else f", least {share(min((value for value in of('overlap') if value is not None), default=None))}"
        parts.append(f"{NAMES[it['event']]} {share(medians[it['event']]):>5} % ({share(median(of('within_functions')))}{least})")
    tops = median(run["top_values"] and run["top_values"]["mean_points"] for run in runs)
    parts.append("no top values" if tops is None else f"top value off by {tops:.2f} points")
    return f"{median(run['sampled_ms'] for run in runs) / 1e3:6.1f} s at {median(run['cost_percent'] for run in runs):.2f} %  {'  '.join(parts)}", medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--events", default="1,3,255")
    parser.add_argument("--suite", default="feedback,compute,systems")
    parser.add_argument("--filter", default="")
    parser.add_argument("--backedge", default=str(HERE.parent / "target/release/backedge"))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs: at least 1")
    answers, medians = {}, {}
    with contextlib.ExitStack() as stack:
        folder = options.keep or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for row in rows(options.suite.split(",")):
            if options.filter not in row[0]:
                continue
            runs = answers[row[0]] = measure(options, row, folder)
            line, medians[row[0]] = summary(runs)
            print(f"{row[0]:<20} {line}", flush=True)
    if not answers:
        parser.error("no row of --suite has --filter in its name")
    for event, name in NAMES.items():
        overlaps = [median[event] for median in medians.values() if median.get(event) is not None]
        if overlaps:
            print(f"{name}: at least 95 % in {sum(it >= 95 for it in overlaps)} of {len(overlaps)}, least {min(overlaps):.1f} %")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()
