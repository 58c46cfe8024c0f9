#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""proof_test.py PROOF_CASES EBBTIDE SHARED: proofs hold, and a proof that somebody altered does not.

Altered: the claim raised by one, the budget raised, each kind of line changed in its numbers or left out. Changing a
line that was not needed changes nothing, so of those only the whole is judged: some must be refused.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from check_proof import Proof  # noqa: E402
from check_certificate import Graph, Wrong, load  # noqa: E402  (its folder is on the path by now)

COUNT = 60
SHARE_OF_CASES = float(os.environ.get("EBB_PROOF_CASES", "0.25"))  # 1: all of them
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
    claim = lines[-1].split()[1]
    if claim != "none":
        must_refuse(graph, lines[:-1] + [f"claim {int(claim) + 1}"], f"{case}: a higher claim")
        must_refuse(graph, lines[:-1] + ["claim none"], f"{case}: no plan at all")
    must_refuse(graph, lines[:-1], f"{case}: no claim")
    overwrites = any(o.get("inplace") for o in graph["ops"]) if "ops" in graph else False  # these want reruns at any budget
    if not overwrites and lines[-2].split()[0] in ("i", "l", "s", "p", "pebbles", "full"):
        must_refuse(graph, [f"budget {10 ** 17}" if line.startswith("budget ") else line for line in lines], f"{case}: with room for everything")
    first = next((i for i, line in enumerate(lines) if line.startswith("i ")), None)
    if first is not None:
        must_refuse(graph, lines[:first] + ["l 0"] + lines[first:], f"{case}: the contradiction out of nothing")
        if "i model -1 0" not in lines:  # some boundary is full
            must_refuse(graph, lines[:first] + ["i model 0"] + lines[first:], f"{case}: the contradiction as a part of the model")
    for key in "rivsp":
        places = [i for i, line in enumerate(lines) if line.startswith(key + " ")]
        if not places or key == "p" and len(places) < 2:
            continue
        # Without any of them nothing follows.
        must_refuse(graph, [x for i, x in enumerate(lines) if i not in set(places)], f"{case}: without lines {key}")
        if key in "sp":  # each one is needed: where it was, a way out is left
            i = rng.choice(places)
            refused.setdefault(key + " left out", []).append(not isinstance(holds(graph, lines[:i] + lines[i + 1:]), Proof))
        for _ in range(3):
            i = rng.choice(places)
            words = lines[i].split()
            numbers = [j for j in range(1, len(words)) if words[j].lstrip("-").isdigit() and words[j] != "0"]
            if not numbers:
                continue
            j = rng.choice(numbers)
            words[j] = str(-int(words[j])) if rng.random() < 0.5 else str(int(words[j]) + rng.choice((-1, 1)))
            ok = isinstance(holds(graph, lines[:i] + [" ".join(words)] + lines[i + 1:]), Proof)
            refused.setdefault("a number changed in " + key, []).append(not ok)


def solved(path, flags, tmp):
    """The proof of a whole solve by the command, as lines, or what it says."""
    out = os.path.join(tmp, "proof.txt")
    if os.path.exists(out):
        os.remove(out)
    run = subprocess.run([sys.argv[2], "solve", path, "--threads", "1", "--work-limit", "20", "--proof", out, "-o", os.path.join(tmp, "plan.json"),
                          "--log-format", "none", *flags], capture_output=True, text=True)
    if not os.path.exists(out):
        return run.stderr
    with open(out, encoding="utf-8") as f:
        return f.read().splitlines()


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

    # The whole way, by the command: each answer of the cases, the paper's graphs where they are at hand.
    checks = 0
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cases")
    for folder in (own, os.path.join(sys.argv[3], "cases")):
        for name in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
            if not name.endswith(".json"):
                continue
            d = load(os.path.join(folder, name))
            path = os.path.join(tmp, "case.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(d["graph"], f)
            for check in d["checks"]:
                if check["status"] not in ("optimal", "infeasible") or rng.random() > SHARE_OF_CASES:
                    continue
                flags = ["--budget", str(check["budget"]), "--order", check["order"]]
                if "max_executions" in check:
                    flags += ["--max-executions", str(check["max_executions"])]
                lines = solved(path, flags, tmp)
                proof = holds(d["graph"], lines) if isinstance(lines, list) else lines
                want = "none" if check["status"] == "infeasible" else check["duration"]
                checks += 1
                if not isinstance(proof, Proof) or proof.claim != want:
                    bad += 1
                    print(f"{name} {check}: {proof if isinstance(proof, str) else proof.claim}")
    print(f"{checks} answers of the cases proved")
    folder = os.path.join(sys.argv[3], "graphs", "moccasin")
    for name, budget, order in (("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", "0.9", "fixed"),
                                ("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", "0.8", "staged"),
                                ("random_layered_n100_w0.27_nlv0.75_ed0.2_scd0.14.json", "0.5", "free"),
                                ("ResNet50_256_train.json", "0.9", "fixed")):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            print(f"{path}: not here, left out")
            continue
        lines = solved(path, ["--budget", budget, "--order", order], tmp)
        graph = load(path)
        proof = holds(graph, lines) if isinstance(lines, list) else lines
        if not isinstance(proof, Proof):
            bad += 1
            print(f"{name} at {budget}: {proof}")
            continue
        base = sum(o["duration"] for o in proof.graph.ops.values())
        what = "no plan" if proof.claim == "none" else f"{100.0 * (proof.claim - base) / base:.4f} %"
        print(f"{name} at {budget}, {order}: {what} proved, {proof.steps} clauses with reasons, {proof.derived} derived")
        altered(graph, lines, name)

for key, outcomes in sorted(refused.items()):
    print(f"{key}: {sum(outcomes)} of {len(outcomes)} refused")
    if not any(outcomes):
        bad += 1
sys.exit(1 if bad else 0)
