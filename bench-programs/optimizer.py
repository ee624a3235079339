#!/usr/bin/env python3
"""What the optimizer is held to, program by program: its trials tell noise from gain, its plans cost nothing where they are wrong, and they come soon.

    python3 bench-programs/optimizer.py aa      [--seconds 3] [--slowed 5]
    python3 bench-programs/optimizer.py hostile [--seconds 20] [--runs 1] [--policies prefetch,select,inline,random]
    python3 bench-programs/optimizer.py gain    [--seconds 5] [--runs 3]
    python3 bench-programs/optimizer.py phases  [--runs 3] [--lengths 0.05,0.5,2]
    python3 bench-programs/optimizer.py cause   [--seconds 3] [--runs 7] --suite feedback

with [--backedge PATH] [--suite feedback,compute,systems] [--filter TEXT] [--json OUT]. Nothing else should run meanwhile. Exit codes: 0 all is as it should be,
1 something is not, 2 there was nothing to judge by, or wrong usage.

aa       Every optimized function is tried against itself, and once more against itself slowed by --slowed percent. At most 5 % of the first may have a
         winner; of the second every one whose unit of work is over 1 us must be found slower, and 95 % of the shorter ones.
hostile  Cumulative time with a policy that is wrong on purpose over that with --no-feedback, for the calls that --no-feedback gets done in 1, 2, 5, 10 and 20
         seconds. At most 1.05. `(same)` is --no-feedback once more: what two runs of the same differ by here and now; it is not counted.
gain     Steady time per call without feedback, with it, and with it from what a run of three times the length has saved (all values). Share: gain online / gain
         with the profile, each as 1 - time / time without. And the time to 90 % of the steady speed, without and with the profile.
phases   A kernel and its control in turns, so many seconds each: time with feedback over that without, for --total seconds. At most 1.02.
cause    Kernels whose plans rest on event 3 or 4: steady time per call with `--events 1,255`, and replaying a recording that this event was dropped from, over that
         of --no-feedback. Between 0.98 and 1.02, since what the event brought is gone.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
# Of the trials' times per unit of work, ns: what "every unit over 1 us" is.
LEAST_UNIT_NS = 1000
MARKS = [1, 2, 5, 10, 20]
# No policy: what `hostile` compares with, once more.
SAME = "(same)"
# Kernels made for a plan that rests on branches (event 3) or on misses (event 4).
RESTS_ON = {"partition/0": 3, "branch_arms/0": 3, "select_chain/0": 3, "gather/0": 4, "histogram/0": 4, "hash_probe/0": 4, "graph/0": 4, "graph/2": 4}
# Kernels whose next mode is their control on the same code.
PAIRS = ["sort/0", "partition/0", "branch_arms/0", "select_chain/0", "search/0"]


def rows(options):
    """(id, file, mode, size, rounds) of the steady rows."""
    found = []
    for program in json.loads((HERE / "programs/catalog.json").read_text())["programs"]:
        if program["group"] not in options.suite.split(","):
            continue
        for mode, it in enumerate(program["modes"]):
            name = f"{program['id']}/{mode}"
            if it.get("kind") != "variant" and options.filter in name and "rounds" in it:
                file = HERE / "programs" / program["id"] / f"{program['id']}.wasm"
                found.append((name, [str(file), str(mode), str(it.get("size", 0)), str(it["rounds"])]))
    return found


def steady(options, row, seconds, *more):
    """The line that `bench steady` prints, and what the process took until it was ready, ns."""
    began = time.time_ns()
    command = [options.backedge, "bench", "steady", *more, *row[1], str(seconds)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"optimizer.py: {' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    line = json.loads(done.stdout)
    return line, line["ready_unix_ns"] - began


def steady_ns(calls):
    """The median of the second half."""
    return statistics.median(calls[len(calls) // 2:])


def warm_up_ns(line, ready):
    """From the process's start, without `setup`, until calls take at most the steady time / 0.9: the median of three in a row, against single late ones."""
    calls = line["calls_ns"]
    goal = steady_ns(calls) / 0.9
    for at in range(len(calls)):
        if statistics.median(calls[at:at + 3]) <= goal:
            return ready + sum(calls[:at])
    return ready + sum(calls)


def geometric(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else float("nan")


def aa(options):
    same = slowed = winners = missed = short = short_missed = 0
    out = []
    for row in rows(options):
        line, _ = steady(options, row, options.seconds or 3, "--no-feedback", "--trials", "--try-same", "--try-slowed", str(options.slowed))
        counts = {"same": 0, "winners": 0, "slowed": 0, "missed": 0}
        for trial in line["trials"]:
            if isinstance(trial["verdict"], dict):  # abandoned: no verdict
                continue
            if not trial.get("slowed_percent"):
                counts["same"] += 1
                if trial["verdict"] in ("faster", "slower"):
                    counts["winners"] += 1
                    print(f"    {trial['verdict']}: {row[0]} function {trial['function']} ratio {trial['ratio']:.3f}, {trial['old']['p50']:.1f} ns a unit, {trial['pairs']} pairs")
            elif not trial["old"] or trial["old"]["p50"] < LEAST_UNIT_NS:
                short += 1
                short_missed += trial["verdict"] != "slower"
            else:
                counts["slowed"] += 1
                if trial["verdict"] != "slower":
                    counts["missed"] += 1
                    print(f"    missed: {row[0]} function {trial['function']} ratio {trial['ratio']:.3f}, {trial['old']['p50']:.0f} ns a unit, {trial['pairs']} pairs: {trial['verdict']}")
        same, winners = same + counts["same"], winners + counts["winners"]
        slowed, missed = slowed + counts["slowed"], missed + counts["missed"]
        out.append({"row": row[0], **counts})
        print(f"{row[0]:24} same {counts['same']:3}, winners {counts['winners']}; slowed {counts['slowed']:3}, missed {counts['missed']}", flush=True)
    share = winners / same if same else 0
    print(f"identical: {winners} of {same} had a winner or a loser ({100 * share:.1f} %, at most 5 % may)")
    print(f"slowed by {options.slowed} %: {slowed - missed} of {slowed} over 1 us found; {short - short_missed} of {short} shorter ones")
    if not same or not slowed + short:
        return out, None
    return out, share <= 0.05 and missed == 0 and short_missed <= 0.05 * short


def hostile(options):
    seconds = options.seconds or 20
    marks = [mark for mark in MARKS if mark <= seconds]
    print(f"{'row':24}{'policy':10}" + "".join(f"{mark:>7} s" for mark in marks) + "   taken back")
    out, good = [], True
    for row in rows(options):
        found = {policy: {"ratios": {mark: [] for mark in marks}, "taken_back": 0, "kept": 0} for policy in [SAME, *options.policies.split(",")]}
        for _ in range(options.runs):
            plain, _ = steady(options, row, seconds, "--no-feedback")
            for policy, it in found.items():
                # A little longer, so that the slower one has done the same calls.
                hostile = ["--no-feedback"] if policy == SAME else ["--hostile-policy", policy]
                wrong, _ = steady(options, row, 1.15 * seconds, *hostile, "--trials")
                if plain["result"] != wrong["result"]:
                    sys.exit(f"optimizer.py: {row[0]} with {policy}: result {wrong['result']}, not {plain['result']}")
                for mark in marks:
                    calls = total = 0
                    while calls < len(plain["calls_ns"]) and total < mark * 1e9:
                        total += plain["calls_ns"][calls]
                        calls += 1
                    if 0 < calls <= len(wrong["calls_ns"]):
                        it["ratios"][mark].append(sum(wrong["calls_ns"][:calls]) / total)
                    else:
                        it["ratios"][mark].append(float("inf"))
                verdicts = [trial["verdict"] for trial in wrong["trials"]]
                kept = sum(verdict in ("faster", "not-slower") for verdict in verdicts)
                it["kept"] += kept
                it["taken_back"] += len(verdicts) - kept
        for policy, it in found.items():
            it["ratios"] = {mark: statistics.median(ratios) for mark, ratios in it["ratios"].items()}
            good &= policy == SAME or max(it["ratios"].values()) <= 1.05
            out.append({"row": row[0], "policy": policy, **it})
            print(f"{row[0]:24}{policy:10}" + "".join(f"{ratio:8.3f}{'*' if ratio > 1.05 else ' '}" for ratio in it["ratios"].values())
                  + f"  {it['taken_back']} of {it['taken_back'] + it['kept']}", flush=True)
    for same, what in [(False, "at most 1.05 times --no-feedback at every mark"), (True, f"rows of {SAME} are, which differ by nothing")]:
        of = [it for it in out if (it["policy"] == SAME) == same]
        print(f"{sum(max(it['ratios'].values()) <= 1.05 for it in of)} of {len(of)} {what}")
    return out, good


def gain(options):
    seconds = options.seconds or 5
    print(f"{'row':24}{'no feedback':>13}{'online':>10}{'profile':>10}{'share':>8}{'90 %: without':>15}{'with':>9}{'ratio':>8}")
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(options):
            profile = os.path.join(folder, "profile")
            steady(options, row, 3 * seconds, "--profile-save", profile)
            figures = {"plain": [], "online": [], "given": [], "cold_ns": [], "warm_ns": []}
            for _ in range(options.runs):
                figures["plain"].append(steady_ns(steady(options, row, seconds, "--no-feedback")[0]["calls_ns"]))
                line, ready = steady(options, row, seconds)
                figures["online"].append(steady_ns(line["calls_ns"]))
                figures["cold_ns"].append(warm_up_ns(line, ready))
                line, ready = steady(options, row, seconds, "--profile-use", profile)
                figures["given"].append(steady_ns(line["calls_ns"]))
                figures["warm_ns"].append(warm_up_ns(line, ready))
            plain, online, given, cold, warm = (statistics.median(figures[key]) for key in figures)
            # Gains below two percent are noise, and so would be their ratio.
            share = (1 - online / plain) / (1 - given / plain) if given < 0.98 * plain else None
            out.append({"row": row[0], "plain_ns": plain, "online_ns": online, "given_ns": given, "share": share, "cold_ns": cold, "warm_ns": warm})
            print(f"{row[0]:24}{plain / 1e6:10.2f} ms{online / 1e6:10.2f}{given / 1e6:10.2f}" + (f"{100 * share:6.0f} %" if share is not None else f"{'-':>8}")
                  + f"{cold / 1e6:12.0f} ms{warm / 1e6:9.0f}{warm / cold:8.2f}", flush=True)
    shares = [it["share"] for it in out if it["share"] is not None]
    if shares:
        gained = [it for it in out if it["share"] is not None]
        whole = math.log(geometric([it["plain_ns"] / it["online_ns"] for it in gained])) / math.log(geometric([it["plain_ns"] / it["given_ns"] for it in gained]))
        print(f"gain online / gain with the profile: median {100 * statistics.median(shares):.0f} %, of the geometric means {100 * whole:.0f} %, over {len(shares)} rows (90 % asked)")
    sooner = geometric([it["warm_ns"] / it["cold_ns"] for it in out])
    print(f"time to 90 %, with the profile / without: geometric mean {sooner:.2f} (0.5 asked)")
    return out, sooner <= 0.5 and all(share >= 0.9 for share in shares)


def phases(options):
    print(f"{'row':24}{'phase':>8}{'no feedback':>14}{'feedback':>12}{'ratio':>8}  trials, of which won")
    out = []
    known = {row[0]: row for row in rows(options)}
    for name, row in known.items():
        other = known.get(f"{name[:-1]}{int(name[-1]) + 1}") if name in PAIRS else None
        if other is None:
            continue
        # How long a call of each takes without feedback.
        plain = [steady_ns(steady(options, it, 1, "--no-feedback")[0]["calls_ns"]) / 1e9 for it in (row, other)]
        for length in (float(it) for it in options.lengths.split(",")):
            calls = [max(1, round(length / it)) for it in plain]
            number = max(2, round(options.total / length / 2))
            asked = f"--phases={calls[0]},{calls[1]},{other[1][1]},{other[1][3]},{number}"
            off, on = [], []
            for _ in range(options.runs):
                off.append(sum(steady(options, row, 1, "--no-feedback", asked)[0]["calls_ns"]) / 1e9)
                line, _ = steady(options, row, 1, "--trials", asked)
                on.append(sum(line["calls_ns"]) / 1e9)
            kept = [trial["verdict"] in ("faster", "not-slower") for trial in line["trials"]]
            ratio = statistics.median(a / b for a, b in zip(on, off))
            out.append({"row": name, "phase_s": length, "ratio": ratio})
            print(f"{name:24}{length:6.2f} s{statistics.median(off):12.2f} s{statistics.median(on):10.2f} s{ratio:8.3f}  {len(kept)}, {sum(kept)}", flush=True)
    return out, all(it["ratio"] <= 1.02 for it in out)


def cause(options):
    seconds = options.seconds or 3
    print(f"{'row':24}{'no feedback':>13}{'feedback':>10}{'--events 1,255':>16}{'replay without':>16}")
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(options):
            event = RESTS_ON.get(row[0])
            if event is None:
                continue
            records, dropped = os.path.join(folder, "all.lwp"), os.path.join(folder, "dropped.lwp")
            line, _ = steady(options, row, 1, "--no-feedback")
            calls = max(1, round(seconds * 1e9 / steady_ns(line["calls_ns"])))
            arguments = [*row[1][:-1], str(int(row[1][-1]) * calls)]
            subprocess.run([options.backedge, "run", "-C", "cache=n", "--lwp-record", records, *arguments], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([options.backedge, "lwp", "decode", "--drop", str(event), "--output", dropped, records], check=True, stdout=subprocess.DEVNULL)
            sides = [["--no-feedback"], [], ["--events", "1,255"], ["--source", f"replay={dropped}"]]
            times = [[] for _ in sides]
            for run in range(options.runs):
                for side in range(len(sides)):
                    nth = (side + run) % len(sides)
                    times[nth].append(steady_ns(steady(options, row, seconds, *sides[nth])[0]["calls_ns"]))
            ratios = [statistics.median(a / b for a, b in zip(side, times[0])) for side in times]
            out.append({"row": row[0], "event": event, "no_feedback_ns": statistics.median(times[0]), "feedback": ratios[1], "events_1_255": ratios[2], "replay": ratios[3]})
            print(f"{row[0]:24}{statistics.median(times[0]) / 1e6:10.2f} ms{ratios[1]:10.3f}{ratios[2]:16.3f}{ratios[3]:12.3f} ({event})", flush=True)
    return out, all(abs(ratio - 1) <= 0.02 for it in out for ratio in (it["events_1_255"], it["replay"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=["aa", "hostile", "gain", "phases", "cause"])
    parser.add_argument("--backedge", default=str(HERE / "../target/release/backedge"))
    parser.add_argument("--suite", default="feedback,compute,systems")
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--slowed", type=float, default=5)
    parser.add_argument("--policies", default="prefetch,select,inline,random")
    parser.add_argument("--lengths", default="0.05,0.5,2")
    parser.add_argument("--total", type=float, default=16)
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs: at least 1")
    if options.seconds is not None and options.seconds < (MARKS[0] if options.check == "hostile" else 0.1):
        parser.error(f"--seconds: at least {MARKS[0] if options.check == 'hostile' else 0.1}")
    if not rows(options):
        parser.error("no row of --suite has --filter in its name")
    out, good = {"aa": aa, "hostile": hostile, "gain": gain, "phases": phases, "cause": cause}[options.check](options)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"check": options.check, "rows": out}, indent=1) + "\n")
    if not out:
        good = None
    if good is None:
        print("optimizer.py: nothing was looked at that could be judged", file=sys.stderr)
    sys.exit({True: 0, False: 1, None: 2}[good])


if __name__ == "__main__":
    main()
