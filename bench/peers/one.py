# SPDX-License-Identifier: Apache-2.0
"""one.py METHOD GRAPH BUDGET SECONDS THREADS GIVEN PLAN: runs one peer, writes its plan, prints a line of JSON.

GIVEN: a plan that runs each op once in the given order."""
import json
import sys
import time

from graph import Graph


def main():
    method, path, budget, seconds, threads, given, out = sys.argv[1:]
    with open(given) as f:
        given = json.load(f)
    g = Graph(path, [e["op"] for e in given["executions"]])
    budget = g.budget(budget)
    begun = time.time()
    if method == "moccasin":
        import moccasin
        sequence, status, facts = moccasin.solve(g, budget, float(seconds), int(threads))
    else:
        import checkmate
        relaxed = method == "checkmate-lp"
        sequence, status, facts = checkmate.solve(g, budget, float(seconds), int(threads), relaxed)
    result = {"seconds": time.time() - begun, "status": status, "facts": facts}
    if sequence:
        plan = g.plan(sequence, budget, given["graph"])
        with open(out, "w") as f:
            json.dump(plan, f)
        result.update(duration=plan["duration"], peak=plan["peak"])
    print(json.dumps(result))


main()
