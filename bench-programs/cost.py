#!/usr/bin/env python3
"""What watching costs: runs with the default budget against runs that record nothing, in interleaved pairs.

    python3 bench-programs/cost.py [--seconds 1] [--pairs 8] [--backedge PATH] [--pin CPU] [--budget PCT] [PROGRAM]...
    python3 bench-programs/cost.py --seconds 9 --pairs 0 [PROGRAM]...

A program is a row of the suite (`hashtable/0`), which runs for about --seconds, or `cpython`, `yosys` or a file, each with its arguments behind colons
(`cpython:/in/work.py:8`). Without any it is every row but controls and variants, and the real programs that bench-programs/real.sh has fetched.

Neither side acts on what it sees (--no-feedback), so the code is the same and the difference is the watching. For each program: the ratio of CPU time of all
threads (user and system, from wait4) and of wall time, as the geometric mean over pairs with its 95 % interval (Student's t on the logarithms), both orders
of a pair in turns. At the end the geometric mean over programs: its interval is what the pairs leave open, not how much programs differ. Limits are 2.5 % for a program
and 1 % for the mean; where the interval's upper end lies above and its lower below, the line says "not resolved: ±x %". Beside it stands what the engine's own
account says of one run, monitor included; where the interval lies above that as a whole, the line says so.
Of runs of six seconds and more it also says what it was after the fourth second, and in the steady state: the same without the moments in which a loop or body was in its first second of
being hot, which has a credit of its own (the check of a result at a program's end is such a one). Of the steady state the limit is 0.3 %. With `--pairs 0` the account is all there is, of one
run a program.
With --pin the processes run on that CPU alone, so the monitor's work is in the wall time.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

from suite import HERE, REAL, real_row, rounds, rows

# 97.5 % quantiles of Student's t by degrees of freedom; beyond, the normal one.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26, 10: 2.23, 12: 2.18, 15: 2.13, 20: 2.09, 30: 2.04, 60: 2.00}


def quantile(degrees):
    return next((T[k] for k in sorted(T, reverse=True) if k <= degrees), 12.71)


def run(command):
    began = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    if status:
        sys.exit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, wall


def interval(logs):
    mean = statistics.fmean(logs)
    half = quantile(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else float("inf")
    return mean, half


def percent(mean, half, limit):
    low, high = (math.exp(mean + side * half) * 100 - 100 for side in (-1, 1))
    text = f"{math.exp(mean) * 100 - 100:+6.2f} % [{low:+.2f}, {high:+.2f}]"
    return text if high <= limit else text + (f" not resolved: ±{(high - low) / 2:.1f} %" if low < limit else f" above {limit} %")


def accounted(command):
    """What the engine says watching cost: percent of the run, of it after its fourth second, and of its steady state (None where that is too short)."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        at = command.index("run") + 1
        run(command[:at] + [f"--report=json,{report.name}"] + command[at:])
        with open(report.name) as text:
            bursts = json.load(text)["bursts"]
        return bursts["cost_percent"], bursts.get("later_percent"), bursts.get("steady_percent")


def row(name, suite, options):
    """Options of the command, file and arguments of a program as it was named."""
    if name in suite:
        _, mapped, guest, once = suite[name]
        return mapped, guest if once is None else [*guest, str(rounds(options.backedge, guest, once, options.seconds))]
    file, *arguments = name.split(":")
    if file in REAL:
        found = real_row(file, arguments)
        return found[1:3] if found else sys.exit(f"cost.py: {file}: not there; `bash bench-programs/real.sh` fetches it")
    return ([], [file, *arguments]) if os.path.exists(file) else sys.exit(f"cost.py: {file}: neither a row of the suite nor a file")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--backedge", default=os.path.join(HERE, "..", "target", "release", "backedge"))
    parser.add_argument("--pin", type=int)
    parser.add_argument("--budget", default="1")
    options = parser.parse_args()
    suite = {it[0]: it for it in rows(["feedback", "compute", "systems", "real"])}
    programs = options.programs or list(suite)
    overall = {"cpu": [], "wall": []}
    halves = {"cpu": [], "wall": []}
    late = {}
    for name in programs:
        mapped, guest = row(name, suite, options)

        def command(budget):
            pin = ["taskset", "-c", str(options.pin)] if options.pin is not None else []
            return pin + [options.backedge, "run", "-C", "cache=n", "--no-feedback", "--feedback-budget", budget, *mapped, *guest]
        logs = {"cpu": [], "wall": []}
        if options.pairs:
            run(command(options.budget))
        for pair in range(options.pairs):
            sides = ["watched", "plain"] if pair % 2 else ["plain", "watched"]
            took = {side: run(command(options.budget if side == "watched" else "0")) for side in sides}
            for which, key in enumerate(logs):
                logs[key].append(math.log(took["watched"][which] / took["plain"][which]))
        account, later, steady = accounted(command(options.budget))
        text = f"account {account:.2f} %"
        if later is not None:
            text += f", after the fourth second {later:.3f} %"
        if steady is not None:
            late[name] = steady
            text += f", steady {steady:.3f} %"
        if not options.pairs:
            print(f"{name:<24} {text}", flush=True)
            continue
        took = " ".join(f"{key} {percent(*interval(logs[key]), 2.5)}" for key in logs)
        mean, half = interval(logs["cpu"])
        contradicted = " contradicts" if math.exp(mean - half) * 100 - 100 > account else ""
        print(f"{name:<24} {took} {text}{contradicted}", flush=True)
        for key, values in logs.items():
            mean, half = interval(values)
            overall[key].append(mean)
            halves[key].append(half)
    for key, values in overall.items():
        if len(values) > 1:
            half = math.sqrt(sum(half * half for half in halves[key])) / len(values)
            print(f"{'geometric mean':<24} {key} {percent(statistics.fmean(values), half, 1.0)}")
    if len(late) > 1:
        most = max(late, key=late.get)
        within = sum(steady <= 0.3 for steady in late.values())
        print(f"steady: median {statistics.median(late.values()):.3f} %, most {late[most]:.3f} % ({most}), at most 0.3 % in {within} of {len(late)}")


if __name__ == "__main__":
    main()
