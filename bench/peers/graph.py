# SPDX-License-Identifier: Apache-2.0
"""Node-link graphs as the peers' models see them (one output an op), and a sequence of ops as an ebbtide plan.

Ops are numbered by their place in the given order."""
import json
import math
from decimal import Decimal


class Graph:
    def __init__(self, path, first):
        """first: names of the ops in the given order"""
        with open(path) as f:
            d = json.load(f)
        nodes = d["nodes"]
        names = [n.get("id", i) for i, n in enumerate(nodes)]
        place = {name: i for i, name in enumerate(names)}
        place_of = {str(name): i for i, name in enumerate(names)}
        preds = [[] for _ in nodes]
        for e in d["links"]:  # two dialects: Checkmate's and Moccasin's
            u, v = (place[e[a] if a in e else e[b]] for a, b in (("source", "0"), ("target", "1")))
            if u not in preds[v]:
                preds[v].append(u)
        succs = [[] for _ in nodes]
        for v, us in enumerate(preds):
            for u in us:
                succs[u].append(v)
        order = [place_of[name] for name in first]
        rank = {v: i for i, v in enumerate(order)}
        self.n = len(order)
        self.name = [str(names[v]) for v in order]
        self.size = [int(nodes[v].get("cost_ram", nodes[v].get("out_cost"))) for v in order]
        self.duration = [int(nodes[v].get("duration", nodes[v].get("cost_cpu"))) for v in order]
        self.listed = [[rank[u] for u in preds[v]] for v in order]  # in file order
        self.preds = [sorted(us) for us in self.listed]
        self.succs = [sorted(rank[w] for w in succs[v]) for v in order]
        self.base = sum(self.duration)
        self.base_peak = self.measure(range(self.n))[1]

    def budget(self, text):
        """Bytes, or with a decimal point a fraction of the no-recompute peak, rounded up."""
        return math.ceil(Decimal(text) * self.base_peak) if "." in text else int(text)

    def measure(self, sequence):
        """(duration, peak, producers per execution, last use per execution)"""
        latest, producers, last = {}, [], []
        for p, v in enumerate(sequence):
            row = [latest[u] for u in self.listed[v]]
            for q in row:
                last[q] = p
            producers.append(row)
            last.append(p)
            latest[v] = p
        sequence = list(sequence)
        change = [0] * (len(sequence) + 1)
        for p, v in enumerate(sequence):
            change[p] += self.size[v]
            change[last[p] + 1] -= self.size[v]
        peak = now = 0
        for c in change:
            now += c
            peak = max(peak, now)
        return sum(self.duration[v] for v in sequence), peak, producers, last

    def plan(self, sequence, budget, fingerprint):
        duration, peak, producers, last = self.measure(sequence)
        frees = sorted((last[p], p) for p in range(len(sequence)))
        return {
            "format": "ebbtide-plan", "version": 1, "graph": fingerprint, "budget": budget, "order": "fixed",
            "status": "feasible", "duration": duration, "base_duration": self.base, "peak": peak,
            "lower_bound": self.base, "gap": (duration - self.base) / duration if duration else 0.0,
            "executions": [{"op": self.name[v], "inputs": producers[p]} for p, v in enumerate(sequence)],
            "frees": [{"after": a, "execution": p, "tensor": self.name[sequence[p]]} for a, p in frees],
        }
