# SPDX-License-Identifier: Apache-2.0
"""The interval model, each constraint judged by itself from the graph (docs/proof_format.md, "Intervals"). Graphs without
views and in-place outputs.

From a plan to the model, ops from last to first: of an op's reruns only those count that serve an execution that counts.
The first of them are its copies, as many as the model has; if there are more, extra(op) holds and serves everybody else.
"""
import bisect

from check_certificate import need


class Domain:
    """Values that an integer can have, ascending."""

    def __init__(self, values):
        self.values = values  # a range, or a list

    @property
    def low(self):
        return self.values[0]

    @property
    def high(self):
        return self.values[-1]

    def floor(self, v):
        """The largest value <= v; below all: one less than the smallest."""
        i = bisect.bisect_right(self.values, v)
        return self.values[i - 1] if i else self.low - 1


class Intervals:
    def __init__(self, graph, order, mode, budget):
        need(not graph.view_of and not any(o["inplace"] for o in graph.ops.values()), "intervals of a graph with views or in-place outputs")
        self.graph, self.order, self.mode = graph, order, mode
        self.rank = {op: i for i, op in enumerate(order)}
        self.capacity = budget - graph.resident
        self.readers = {}
        for o in order:
            for t in dict.fromkeys(graph.used(o)):
                self.readers.setdefault(t, []).append(o)
        self.copies = {}
        self.useful = {}
        for op in reversed(order):
            last = -1
            for t in graph.ops[op]["outputs"]:
                if not self.matters(t):
                    continue
                if mode == "free":
                    last = 0 if t in graph.kept or self.readers.get(t) else last
                    continue
                if t in graph.kept:
                    last = len(order)
                for r in self.readers.get(t, []):
                    last = max(last, self.rank[r], self.useful[r])
            usable = not graph.ops[op]["once"] and (mode == "free" or last > self.rank[op])
            self.useful[op] = last if usable else -1
        self.made = False

    def matters(self, t):
        return t in self.graph.maker and self.graph.size[t] > 0

    def more(self, op, times):
        if self.mode == "staged":
            return self.rank[op] + times <= self.useful[op]
        return self.useful[op] >= 0

    def build(self):
        """The time axis, once all numbers of copies are known."""
        if self.made:
            return
        self.made = True
        need(set(self.copies) == set(self.order), "not every op has its number of copies")
        if self.mode == "free":
            self.end = sum(self.copies.values())
            self.before, self.after = dict.fromkeys(self.order, 0), dict.fromkeys(self.order, 0)
            for o in self.order:
                for t in self.graph.used(o):
                    if t in self.graph.maker:
                        self.before[o] = max(self.before[o], self.before[self.graph.maker[t]] + 1)
            for o in reversed(self.order):
                for t in self.graph.used(o):
                    if t in self.graph.maker:
                        m = self.graph.maker[t]
                        self.after[m] = max(self.after[m], self.after[o] + 1)
        else:
            self.begin = [0]
            for s in range(len(self.order) + 1):
                slots = s if self.mode == "staged" else sum(self.copies[o] - 1 for o in self.order[:s] if self.useful[o] >= s)
                self.begin.append(self.begin[-1] + slots + 1)
            self.end = self.begin[-1] - 1

    def first(self, position):
        return self.begin[position + 1] - 1

    def starts(self, op, c):
        """Positions, ascending; more than are needed do no harm."""
        if self.mode == "free":
            return range(self.before[op] + c, self.end - (self.after[op] if c == 0 else 0))
        r, last = self.rank[op], self.useful[op]
        if c == 0:
            return range(self.first(r), self.first(r) + 1)
        if self.mode == "staged":
            return [self.begin[s] + r for s in range(r + c, last + 1)]
        return range(self.begin[r + 1], min(self.begin[last + 1], self.end)) if last >= 0 else []

    def domain(self, kind, item, c):
        """Of an integer of the model, from what it stands for."""
        self.build()
        if kind == "end":
            return Domain(range(self.end, self.end + 1))
        op = item if kind == "start" else self.graph.maker[item]
        need(0 <= c < self.copies[op], "no such copy")
        starts = self.starts(op, c)
        need(starts, "a copy that can start nowhere")
        if kind == "start":
            return Domain(starts)
        need(kind == "last" and self.matters(item), "no such integer")
        runs = [s for r in self.readers.get(item, []) for k in range(min(self.copies[r], 2)) for s in (self.starts(r, k),) if s]
        if self.mode != "staged":
            high = max([starts[-1]] + [s[-1] for s in runs])
            return Domain(range(starts[0], (self.end if item in self.graph.kept else high) + 1))
        values = set(starts).union(t for s in runs for t in s if t > starts[0])
        if item in self.graph.kept:
            values.add(self.end)
        return Domain(sorted(values))


class Box:
    """What is so where a clause is false."""

    def __init__(self, proof, clause):
        self.proof = proof
        self.value, self.low, self.high = {}, {}, {}
        for lit in clause:
            if abs(lit) in proof.bound:
                x, v = proof.bound[abs(lit)]
                d = proof.ints[x][1]
                if lit > 0:
                    self.high[x] = min(self.high.get(x, d.high), d.floor(v - 1))
                else:
                    self.low[x] = max(self.low.get(x, d.low), v)
            else:
                self.value[abs(lit)] = 0 if lit > 0 else 1
        self.value[1] = 1

    def is_true(self, lit):
        return self.value.get(abs(lit)) == (1 if lit > 0 else 0)

    def least(self, x):
        return self.low.get(x, self.proof.ints[x][1].low)

    def most(self, x):
        return self.high.get(x, self.proof.ints[x][1].high)
