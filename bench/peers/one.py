# SPDX-License-Identifier: Apache-2.0
"""one.py SPEC: runs one peer. SPEC is a JSON file:

  method, graph, given (a plan that runs each op once in the given order), budget in bytes, seconds, threads, seed,
  plan and state (files written here), hint (a plan, for moccasin-hint), most (executions of an op, for Moccasin),
  clock (wall or cpu: what the seconds are counted by; processor time is that of all threads), memory (bytes; a model
  that would not fit is not built).
The state file is written anew at every plan, so a process that is killed has not worked in vain."""
import json
import os
import sys
import threading
import time

import graph

METHODS = ("moccasin", "moccasin-hint", "checkmate", "checkmate-lp", "poet")


class Run:
    """Hears of plans, times them and keeps the best: within the budget and shortest, else the least peak."""

    def __init__(self, spec, g, fingerprint):
        self.spec, self.g, self.fingerprint = spec, g, fingerprint
        self.begun, self.begun_cpu = time.time(), time.process_time()
        self.stop = None  # ends the solver, where it can be asked to
        # By processor time the solvers' own clocks only guard against what never ends.
        self.deadline = self.begun + spec["seconds"] * (30 if spec.get("clock") == "cpu" else 1)
        if spec.get("clock") == "cpu":
            threading.Thread(target=self.watch, daemon=True).start()
        self.threads, self.seed, self.memory = spec["threads"], spec.get("seed", 1), spec.get("memory", 0)
        self.state = {"status": "time", "curve": [], "facts": {}}
        self.best = None

    def watch(self):
        while time.process_time() - self.begun_cpu < self.spec["seconds"]:
            time.sleep(0.1)
        while True:  # a solver between two phases is asked again
            if self.stop:
                self.stop()
            time.sleep(0.2)

    def expired(self):
        if self.spec.get("clock") == "cpu":
            return time.process_time() - self.begun_cpu >= self.spec["seconds"]
        return time.time() >= self.deadline

    def elapsed(self):
        return time.time() - self.begun

    def note(self, facts):
        self.state["facts"].update(facts)
        self.save()

    def found(self, sequence):
        duration, peak, _, _ = self.g.measure(sequence)
        budget = self.spec["budget"]
        rank = (max(0, peak - budget), duration)
        if self.best is not None and rank >= self.best:
            return
        self.best = rank
        write(self.spec["plan"], self.g.plan(sequence, budget, self.fingerprint))
        if peak <= budget:
            self.state["curve"].append([round(self.elapsed(), 4), duration,
                                        round(time.process_time() - self.begun_cpu, 4)])
        self.state.update(duration=duration, peak=peak)
        self.save()

    def save(self):
        self.state["seconds"], self.state["cpu"] = self.elapsed(), round(time.process_time() - self.begun_cpu, 3)
        write(self.spec["state"], self.state)


def write(path, data):
    with open(path + ".part", "w") as f:
        json.dump(data, f)
    os.replace(path + ".part", path)


def staged(plan, g):
    rank = {name: i for i, name in enumerate(g.name)}
    return [rank[e["op"]] for e in plan["executions"]]


def solve(method, g, run, spec):
    if method in ("moccasin", "moccasin-hint"):
        import moccasin
        hint = None
        if method == "moccasin-hint":
            with open(spec["hint"]) as f:
                hint = staged(json.load(f), g)
        return moccasin.solve(g, spec["budget"], run, hint, spec.get("most", 2))
    import checkmate
    if method == "poet":
        return checkmate.solve(g, spec["budget"], run, slowdown=2.0)
    return checkmate.solve(g, spec["budget"], run, relaxed=method == "checkmate-lp")


def main():
    with open(sys.argv[1]) as f:
        spec = json.load(f)
    with open(spec["given"]) as f:
        given = json.load(f)
    try:
        g = graph.Graph(spec["graph"], [e["op"] for e in given["executions"]])
    except graph.NotApplicable as e:
        write(spec["state"], {"status": f"not applicable: {e}", "seconds": 0, "curve": [], "facts": {}, "done": True})
        return
    run = Run(spec, g, given["graph"])
    try:
        run.state["status"], facts = solve(spec["method"], g, run, spec)
        run.state["facts"].update(facts)
    except MemoryError:
        run.state["status"] = "memory"
    run.state["done"] = True
    run.save()


if __name__ == "__main__":
    main()
