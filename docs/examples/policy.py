#!/usr/bin/env python3
# A policy for `backedge run --policy-exec docs/examples/policy.py`: inline what takes 9 of 10 samples of an indirect call.
import json, sys
for line in sys.stdin:
    snapshot, plans = json.loads(line)["snapshot"], []
    for function in snapshot["functions"]:
        calls = [s for s in function["sites"] if s["class"] == "call-target" and s["values"]]
        best = [(s["offset"], s["values"][0]["value"]) for s in calls if s["values"][0]["count"] > 0.9 * s["total"]]
        decisions = [{"inline": {"offset": at, "targets": [{"callee": callee}]}} for at, callee in best]
        plans.append({"func": function["func"], "decisions": decisions})
    print(json.dumps({"plans": plans}), flush=True)
