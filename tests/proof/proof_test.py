#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proof_test.py PROOF_CASES EBBTIDE SHARED: proofs hold, and a proof that somebody altered does not.

Altered: the claim raised by one, the budget raised, each kind of line changed in its numbers or left out. Leaving out a
line that was not needed changes nothing, so of those only the whole is judged: some must be refused.
"""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_proof import Proof  # noqa: E402
from check_certificate import Graph, Wrong, load  # noqa: E402  (its folder is on the path by now)

COUNT = 60
seed = os.environ.get("EBB_TEST_SEED", "1")
print(f"proof_test: EBB_TEST_SEED={seed}")
rng = random.Random(int(seed))
bad = 0
refused = {}


def holds(graph, lines):
    try:
        proof = Proof(Graph(graph))
        proof.read(lines)
        return proof
    except Wrong as e:
        return str(e)


def must_refuse(graph, lines, what):
    global bad
    if isinstance(holds(graph, lines), Proof):
        bad += 1
        print(f"{what} was accepted")


def altered(graph, lines, case):
    """Changes that no proof survives, and those that most do not."""
    claim = int(lines[-1].split()[1])
    must_refuse(graph, lines[:-1] + [f"claim {claim + 1}"], f"{case}: a higher claim")
    must_refuse(graph, lines[:-1], f"{case}: no claim")
    first = next((i for i, line in enumerate(lines) if line.startswith("i ")), None)
    if first is not None:
        must_refuse(graph, lines[:first] + ["l 0"] + lines[first:], f"{case}: the contradiction out of nothing")
        must_refuse(graph, lines[:first] + ["i model 0"] + lines[first:], f"{case}: the contradiction as a part of the model")
    for key in "riv":
        places = [i for i, line in enumerate(lines) if line.startswith(key + " ")]
        if not places:
            continue
        # Without any of them nothing follows.
        must_refuse(graph, [x for i, x in enumerate(lines) if i not in set(places)], f"{case}: without lines {key}")
        i = rng.choice(places)
        words = lines[i].split()
        numbers = [j for j in range(1, len(words)) if words[j].lstrip("-").isdigit() and words[j] != "0"]
        if not numbers:
            continue
        j = rng.choice(numbers)
        words[j] = str(-int(words[j])) if rng.random() < 0.5 else str(int(words[j]) + rng.choice((-1, 1)))
        ok = isinstance(holds(graph, lines[:i] + [" ".join(words)] + lines[i + 1:]), Proof)
        refused.setdefault(key, []).append(not ok)


with tempfile.TemporaryDirectory() as tmp:
    subprocess.run([sys.argv[1], tmp, seed, str(COUNT)], check=True)
    steps = derived = 0
    for n in range(COUNT):
        graph = load(os.path.join(tmp, f"graph{n}.json"))
        with open(os.path.join(tmp, f"proof{n}.txt"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        proof = holds(graph, lines)
        if not isinstance(proof, Proof):
            bad += 1
            print(f"case {n}: {proof}")
            continue
        steps += proof.steps
        derived += proof.derived
        altered(graph, lines, f"case {n}")
    print(f"{COUNT} proofs, {steps} clauses with reasons, {derived} derived")

    # The whole way, by the command: graphs of the paper where they are at hand.
    folder = os.path.join(sys.argv[3], "graphs", "moccasin")
    for name, budget, order in (("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", "0.9", "fixed"),
                                ("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", "0.8", "staged"),
                                ("ResNet50_256_train.json", "0.9", "fixed")):
        path, out = os.path.join(folder, name), os.path.join(tmp, "proof.txt")
        if not os.path.exists(path):
            print(f"{path}: not here, left out")
            continue
        run = subprocess.run([sys.argv[2], "solve", path, "--budget", budget, "--order", order, "--threads", "1", "--work-limit", "20",
                              "--proof", out, "-o", os.path.join(tmp, "plan.json"), "--log-format", "none"], capture_output=True, text=True)
        if run.returncode:
            bad += 1
            print(f"{name} at {budget}: {run.stderr}")
            continue
        with open(out, encoding="utf-8") as f:
            lines = f.read().splitlines()
        graph = load(path)
        proof = holds(graph, lines)
        if not isinstance(proof, Proof):
            bad += 1
            print(f"{name} at {budget}: {proof}")
            continue
        base = sum(o["duration"] for o in proof.graph.ops.values())
        print(f"{name} at {budget}, {order}: {100.0 * (proof.claim - base) / base:.4f} % proved, {proof.steps} clauses with reasons, {proof.derived} derived")
        altered(graph, lines, name)

for key, outcomes in sorted(refused.items()):
    print(f"a number changed in a line {key}: {sum(outcomes)} of {len(outcomes)} refused")
    if not any(outcomes):
        bad += 1
sys.exit(1 if bad else 0)
