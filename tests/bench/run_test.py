#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/run with the real program: a small run, interrupted and gone on with, its report, two builds, and the judge against
`ebbtide check`. usage: run_test.py EBBTIDE SOURCE_DIR"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

EBBTIDE, SOURCE = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "bench"))
sys.dont_write_bytecode = True
from side.judge import Graph, Refused, judge  # noqa: E402


def bench(folder, *args, check=True):
    p = subprocess.run([sys.executable, os.path.join(SOURCE, "bench", "run"), *args, "--program", EBBTIDE, "--out", folder,
                        "--data", os.path.join(folder, "none")], capture_output=True, text=True, timeout=300)
    assert not check or p.returncode == 0, p.stdout + p.stderr
    return p


def records(folder):
    with open(os.path.join(folder, "records.jsonl")) as f:
        return [json.loads(line) for line in f if line.strip()]


SMALL = ("--suite", "chains", "--only", "chain 8 @*", "--methods", "ebbtide", "keep", "chen", "--limit", "2")


def interrupted(folder):
    """Ctrl-C in a run that takes long keeps what was done and records nothing of the rest; the same command goes on."""
    args = ("--suite", "past250", "--only", "layered n=2000 *", "--methods", "keep", "ebbtide-1", "chen", "--limit", "20")
    p = subprocess.Popen([sys.executable, os.path.join(SOURCE, "bench", "run"), *args, "--program", EBBTIDE, "--out", folder,
                          "--data", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    path = os.path.join(folder, "records.jsonl")
    while time.time() < deadline and not (os.path.exists(path) and records(folder)):
        time.sleep(0.05)
    time.sleep(0.5)
    p.send_signal(signal.SIGINT)
    _, err = p.communicate(timeout=30)
    assert p.returncode == 1 and "goes on from here" in err, (p.returncode, err)
    done = [r["key"]["method"] for r in records(folder)]
    assert done[0] == "keep" and len(done) < 3, done
    with open(path, "a") as f:
        f.write('{"key": {"instance": "half a li')  # as a machine that stopped would leave it
    again = bench(folder, *args[:-1], "*=1")  # a limit of its own key: runs the rest anew, keeps nothing half
    lines = [line for line in open(path) if line.strip()]
    assert sum("half a li" in line for line in lines) == 1
    whole = [json.loads(line) for line in lines if "half a li" not in line]
    assert [r["key"]["method"] for r in whole if r["key"]["limit"] == 1] == ["keep", "ebbtide-1", "chen"], again.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        first = bench(folder, *SMALL)
        made = records(folder)
        assert len(made) == 9 and all(r["status"] for r in made), made
        own = [r for r in made if r["key"]["method"] == "ebbtide" and r["status"] != "infeasible"]
        assert own and all(r["valid"] and r["memory"] > 0 and r["curve"] and r["bound"] <= r["duration"] for r in own), own
        assert "chain 8" in first.stdout
        again = bench(folder, *SMALL)
        assert records(folder) == made and again.stdout == first.stdout  # nothing is run twice
        bench(folder, *SMALL, "--seeds", "1", "2")
        assert len(records(folder)) == 12  # another seed for ebbtide only
        bench(folder, "report", "--to", folder)
        text = open(os.path.join(folder, "RESULTS.md")).read()
        assert "## Chains" in text and "chain 8 @0.7" in text
        assert os.path.getsize(os.path.join(folder, "results", "chains.csv")) > 500
        two = bench(folder, "compare", EBBTIDE, EBBTIDE, "--suite", "chains", "--only", "chain 8 @0.7", "--limit", "*=1")
        assert "additional duration | 3 | 1.0000 | 0 | 0 | 1.0000" in two.stdout, two.stdout
        assert bench(folder, "compare", EBBTIDE, check=False).returncode == 1
        assert bench(folder, "--suite", "chains", "--methods", "nonsense", check=False).returncode == 1
    with tempfile.TemporaryDirectory() as folder:
        interrupted(folder)
    seed = int(os.environ.get("EBB_TEST_SEED", random.randrange(10**9)))
    print("seed", seed)
    judges(random.Random(seed))
    print("fine")


def judges(rng):
    """Plans of random graphs with every feature, whole and spoiled: both judges say the same."""
    with tempfile.TemporaryDirectory() as folder:
        path, out, spoiled = (os.path.join(folder, n) for n in ("graph.json", "plan.json", "spoiled.json"))
        held = refused = 0
        for _ in range(12):
            subprocess.run([EBBTIDE, "gen", "random", "--ops", "12", "--seed", str(rng.randrange(10**6)), "-o", path], check=True)
            budget, order = rng.choice(["1.0", "0.9", "0.8"]), rng.choice(["fixed", "staged", "free"])
            p = subprocess.run([EBBTIDE, "solve", path, "--budget", budget, "--order", order, "--time-limit", "0.5", "--threads",
                                "1", "--log-format", "none", "-o", out], capture_output=True)
            if p.returncode:
                continue
            graph, plan = Graph(path), json.load(open(out))
            given = json.load(open(path)).get("order")
            assert judge(graph, plan, plan["budget"], order, given) == (plan["duration"], plan["peak"])
            held += 1
            for _ in range(8):
                bad = json.loads(json.dumps(plan))
                spoil(rng, bad)
                json.dump(bad, open(spoiled, "w"))
                says = subprocess.run([EBBTIDE, "check", path, spoiled], capture_output=True).returncode == 0
                try:
                    judge(graph, bad, bad["budget"], order, given)
                    mine = True
                except Refused:
                    mine = False
                assert mine == says, (bad, mine, says)
                refused += not mine
        assert held and refused, (held, refused)


def spoil(rng, plan):
    kind = rng.randrange(4)
    runs = plan["executions"]
    if kind == 0:
        plan["duration"] += rng.choice([-1, 1])
    elif kind == 1:
        plan["budget"] = plan["peak"] - 1
    elif kind == 2:
        plan["peak"] += 1
    else:
        reads = [(e, i) for e in runs for i, q in enumerate(e["inputs"]) if q is not None and q >= 0]
        if reads:
            e, i = rng.choice(reads)
            e["inputs"][i] = -1
        else:
            plan["duration"] += 1


main()
