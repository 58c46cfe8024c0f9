#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The peers' models on tiny graphs against brute force. usage: peers_test.py SOURCE_DIR. Skips (77) without their solvers.

Brute force: between two first executions any set of earlier ops runs again, in the given order; that is the setting of
Checkmate, and with a cap on the executions that of Moccasin."""
import itertools
import json
import os
import random
import sys
import tempfile
import time

SOURCE = sys.argv[1]
sys.path.insert(0, os.path.join(SOURCE, "bench", "peers"))
sys.dont_write_bytecode = True
import graph as graphs  # noqa: E402


def missing():
    out = []
    for name in ("highspy", "ortools"):
        try:
            __import__(name)
        except ImportError:
            out.append(name)
    return out


class Run:
    """What the solvers need of one.Run."""

    def __init__(self, g, budget, seconds=60):
        self.g, self.budget, self.deadline = g, budget, time.time() + seconds
        self.threads, self.seed, self.best, self.begun, self.memory = 1, 1, None, time.time(), 0

    def expired(self):
        return time.time() > self.deadline

    def elapsed(self):
        return time.time() - self.begun

    def note(self, facts):
        pass

    def found(self, sequence):
        duration, peak, _, _ = self.g.measure(sequence)
        assert peak <= self.budget, f"a plan over the budget: {peak} > {self.budget}"
        self.best = duration if self.best is None else min(self.best, duration)


def random_graph(rng, n, folder):
    ops = [{"name": f"o{v}", "duration": rng.randint(1, 9), "outputs": [f"t{v}"],
            "inputs": [f"t{u}" for u in sorted(rng.sample(range(v), min(v, rng.choice([1, 1, 2, 2]))))]} for v in range(n)]
    tensors = [{"name": f"t{v}", "size": rng.randint(0, 9)} for v in range(n)]
    if rng.random() < 0.3:
        tensors.append({"name": "w", "size": 3})
        ops[rng.randrange(n)]["inputs"].append("w")
    path = os.path.join(folder, "graph.json")
    with open(path, "w") as f:
        json.dump({"format": "ebbtide-graph", "version": 1, "ops": ops, "tensors": tensors}, f)
    return graphs.Graph(path, [o["name"] for o in ops])


def brute_force(g, budget, most):
    """Least duration of a staged plan, or None."""
    stages = [list(itertools.chain.from_iterable(itertools.combinations(range(t), k) for k in range(t + 1)))
              for t in range(g.n)]
    best = None
    for choice in itertools.product(*stages):
        runs = [1] * g.n
        for again in choice:
            for v in again:
                runs[v] += 1
        if most and max(runs) > most:
            continue
        sequence = [v for t, again in enumerate(choice) for v in (*again, t)]
        duration, peak, _, _ = g.measure(sequence)
        if peak <= budget and (best is None or duration < best):
            best = duration
    return best


def least_peak(g):
    stages = [list(itertools.chain.from_iterable(itertools.combinations(range(t), k) for k in range(t + 1)))
              for t in range(g.n)]
    return min(g.measure([v for t, again in enumerate(choice) for v in (*again, t)])[1]
               for choice in itertools.product(*stages))


def main():
    gone = missing()
    other = os.path.join(SOURCE, "build", "peers", "bin", "python")  # where bench/RESULTS.md puts them
    if gone and os.path.exists(other) and not os.environ.get("EBB_PEERS_TRIED"):
        os.execve(other, [other, *sys.argv], dict(os.environ, EBB_PEERS_TRIED="1"))
    if gone:
        print("skipped: no Python package " + ", ".join(gone) + " (bench/peers/requirements.txt)")
        sys.exit(77)
    import checkmate
    import moccasin

    whole = checkmate.FIRST_ORDER_FROM
    seed = int(os.environ.get("EBB_TEST_SEED", random.randrange(10**9)))
    print("seed", seed)
    rng = random.Random(seed)
    feasible = infeasible = longer = 0
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(15):
            g = random_graph(rng, rng.randint(3, 6), folder)
            least = least_peak(g)
            budget = rng.randint(min(least, g.base_peak - 1), max(least, g.base_peak - 1))
            for name, most in (("checkmate", 0), ("poet", 0), ("moccasin", 2), ("moccasin", 3)):
                want = brute_force(g, budget, most)
                run = Run(g, budget)
                if name == "moccasin":
                    status, facts = moccasin.solve(g, budget, run, None, most)
                else:
                    status, facts = checkmate.solve(g, budget, run, slowdown=4.0 if name == "poet" else None)
                    expected = checkmate.sizes(g)
                    if name == "checkmate" and "entries" in facts:
                        assert {k: facts[k] for k in expected} == expected, (facts, expected)
                if want is None:
                    infeasible += 1
                    assert run.best is None and "optimal" not in status, (name, status, run.best)
                    continue
                feasible += 1
                longer += want > g.base
                if name == "poet" and want > 4 * g.base:
                    continue
                assert run.best == want, f"{name}, C = {most}: {run.best}, brute force {want} ({status}), budget {budget}"
                assert status.startswith("optimal"), (name, status)
                if name == "moccasin":  # its own optimum as a hint: still the optimum, and known at once
                    hinted = Run(g, budget)
                    plan = next(s for s in staged_plans(g, budget, want, most))
                    status, _ = moccasin.solve(g, budget, hinted, plan, most)
                    assert hinted.best == want and status.startswith("optimal"), (status, hinted.best, want)
            run.memory = 1
            status, facts = checkmate.solve(g, budget, run)
            assert status == f"too large: {facts['variables']:,} variables, {facts['constraints']:,} rows", status
            for first_order_from in (whole, 0):  # the relaxation by interior point and by PDLP:
                checkmate.FIRST_ORDER_FROM = first_order_from  # with room for everything nothing is made twice
                run = Run(g, 1 << 40)
                status, facts = checkmate.solve(g, 1 << 40, run, relaxed=True)
                assert (status, run.best) == ("rounded", g.base), (status, facts, run.best, g.base)
    assert feasible and infeasible and longer, (feasible, infeasible, longer)
    print(f"{feasible} solved, {longer} of them with repeats, {infeasible} without a plan")


def staged_plans(g, budget, duration, most):
    stages = [list(itertools.chain.from_iterable(itertools.combinations(range(t), k) for k in range(t + 1)))
              for t in range(g.n)]
    for choice in itertools.product(*stages):
        sequence = [v for t, again in enumerate(choice) for v in (*again, t)]
        if max(sequence.count(v) for v in set(sequence)) > most:
            continue
        found, peak, _, _ = g.measure(sequence)
        if peak <= budget and found == duration:
            yield sequence


main()
