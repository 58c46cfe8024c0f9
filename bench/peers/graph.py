# SPDX-License-Identifier: Apache-2.0
"""Graphs as the peers' models see them, and a sequence of ops as an ebbtide plan.

Read from ebbtide's native JSON (`ebbtide convert` writes it). The papers know one output an op and nothing else; graph
inputs that stay are taken off the budget. Everything past that is NotApplicable, with the reason. Ops are numbered by
their place in the given order."""
import json


class NotApplicable(Exception):
    """The peer's model cannot say this graph."""


class Graph:
    def __init__(self, path, first):
        """first: names of the ops in the given order"""
        with open(path) as f:
            d = json.load(f)
        size = {t["name"]: int(t["size"]) for t in d["tensors"]}
        if any(t.get("view_of") for t in d["tensors"]):
            raise NotApplicable("views")
        if d.get("outputs"):
            raise NotApplicable("outputs that stay to the end")
        maker, ops = {}, {}
        for op in d["ops"]:
            if len(op["outputs"]) != 1:
                raise NotApplicable("ops without just one output")
            if op.get("workspace") or op.get("inplace") or not op.get("recomputable", True):
                raise NotApplicable("workspace, in-place ops or ops that run once")
            ops[op["name"]] = op
            maker[op["outputs"][0]] = op["name"]
        rank = {name: i for i, name in enumerate(first)}
        self.n = len(first)
        self.name = list(first)
        self.tensor = [ops[v]["outputs"][0] for v in first]
        self.size = [size[t] for t in self.tensor]
        self.duration = [int(ops[v]["duration"]) for v in first]
        self.inputs = [[rank[maker[t]] if t in maker else -1 for t in ops[v]["inputs"]] for v in first]  # as listed
        self.preds = [sorted({u for u in us if u >= 0}) for us in self.inputs]
        self.succs = [[] for _ in first]
        for v, us in enumerate(self.preds):
            for u in us:
                self.succs[u].append(v)
        self.resident = sum(s for t, s in size.items() if t not in maker)
        self.base = sum(self.duration)
        self.base_peak = self.measure(range(self.n))[1]

    @property
    def edges(self):
        return sum(len(us) for us in self.preds)

    def measure(self, sequence):
        """(duration, peak, producers per execution, last use per execution)"""
        sequence = list(sequence)
        latest, producers, last = {}, [], []
        for p, v in enumerate(sequence):
            row = [latest[u] if u >= 0 else -1 for u in self.inputs[v]]
            for q in row:
                if q >= 0:
                    last[q] = p
            producers.append(row)
            last.append(p)
            latest[v] = p
        change = [0] * (len(sequence) + 1)
        for p, v in enumerate(sequence):
            change[p] += self.size[v]
            change[last[p] + 1] -= self.size[v]
        peak = now = self.resident
        for c in change:
            now += c
            peak = max(peak, now)
        return sum(self.duration[v] for v in sequence), peak, producers, last

    def plan(self, sequence, budget, fingerprint):
        sequence = list(sequence)
        duration, peak, producers, last = self.measure(sequence)
        frees = sorted((last[p], p) for p in range(len(sequence)))
        return {
            "format": "ebbtide-plan", "version": 1, "graph": fingerprint, "budget": budget, "order": "fixed",
            "status": "feasible", "duration": duration, "base_duration": self.base, "peak": peak,
            "lower_bound": self.base, "gap": (duration - self.base) / duration if duration else 0.0,
            "executions": [{"op": self.name[v], "inputs": producers[p]} for p, v in enumerate(sequence)],
            "frees": [{"after": a, "execution": p, "tensor": self.tensor[sequence[p]]} for a, p in frees],
        }
