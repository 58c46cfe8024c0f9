#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""certificate_test.py CERTIFICATE_CASES: certificates of random graphs hold, and prove no more than they say."""
import copy
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_certificate import Graph, Wrong, check, load

COUNT = 150
seed = os.environ.get("EBB_TEST_SEED", "1")
print(f"certificate_test: EBB_TEST_SEED={seed}")
bad = positive = forced = pinned = shared = 0


def refuses(graph, certificate, what):
    global bad
    try:
        check(graph, certificate)
    except (Wrong, KeyError):
        return
    bad += 1
    print(f"{what} was accepted")


with tempfile.TemporaryDirectory() as tmp:
    subprocess.run([sys.argv[1], tmp, seed, str(COUNT)], check=True)
    for i in range(COUNT):
        graph = Graph(load(os.path.join(tmp, f"graph{i}.json")))
        c = load(os.path.join(tmp, f"certificate{i}.json"))
        try:
            base, extra = check(graph, c)
        except Wrong as e:
            bad += 1
            print(f"case {i}: {e}")
            continue
        if base + extra != c["lower_bound"]:
            bad += 1
            print(f"case {i}: says {c['lower_bound']}, proves {base + extra}")
        positive += extra > 0
        forced += len(c["forced"])
        pinned += sum("pinned_by" in x for x in c["claims"])
        shared += c["cost_scale"] > 1
        worse = copy.deepcopy(c)
        worse["lower_bound"] += 1
        refuses(graph, worse, f"case {i}: a higher bound")
        for k, claim in enumerate(c["claims"]):
            worse = copy.deepcopy(c)
            worse["claims"].append(claim)
            refuses(graph, worse, f"case {i}: a claim made twice")
            if claim.get("charges"):
                worse = copy.deepcopy(c)
                op = claim["charges"][0]["op"]
                worse["claims"][k]["charges"][0]["share"] = graph.ops[op]["duration"] * c["cost_scale"] + 1
                refuses(graph, worse, f"case {i}: a charge above the duration")
            break
print(f"{COUNT} certificates, {positive} above the trivial bound, {forced} forced reruns, {pinned} pinned claims, {shared} with shares")
if bad or positive < COUNT // 2 or not pinned or not shared:
    sys.exit(1)
