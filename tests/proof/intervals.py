# SPDX-License-Identifier: Apache-2.0
"""The interval model, each constraint judged by itself from the graph (docs/proof_format.md, "Intervals").

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
    def __init__(self, flat, mode, budget, cap):
        self.flat, self.mode, self.cap = flat, mode, cap
        self.order, self.rank = flat.order, flat.rank
        self.capacity = budget - flat.resident
        self.copies = {}
        taken = {flat.root(v) for op in flat.order for v in flat.consumes[op]}
        # Storages that several names lie in or that somebody takes over end when the last name does.
        self.shared = taken | {flat.root(v) for v, c in flat.carrier.items() if c is not None}
        self.matter = taken | {v for v, m in flat.maker.items() if m is not None and flat.size[v] > 0}
        self.turns = bool(taken) and mode != "staged"
        self.useful = {}
        for op in reversed(flat.order):
            last = -1
            for t in flat.makes[op]:
                if not self.matters(t):
                    continue
                if mode == "free":
                    last = 0 if t in flat.kept or flat.readers[t] else last
                    continue
                if t in flat.kept:
                    last = len(flat.order)
                for r in flat.readers[t]:
                    last = max(last, self.rank[r], self.useful[r])
            usable = flat.may_repeat[op] and (mode == "free" or last > self.rank[op])
            self.useful[op] = last if usable else -1
        self.made = False

    def matters(self, v):
        return self.flat.root(v) in self.matter

    def number(self, op):
        """Copies that can start somewhere."""
        self.build()
        n = 1
        while n < self.copies[op] and self.starts(op, n):
            n += 1
        return n

    def storage_at(self, v):
        """Whose `until` is that of v: what the same execution makes and v is a view of; None: v's last read is its end."""
        if self.flat.root(v) not in self.shared:
            return None
        while self.flat.carrier[v] is not None and self.flat.maker[self.flat.carrier[v]] == self.flat.maker[v]:
            v = self.flat.carrier[v]
        return v

    def more(self, op, times):
        """Could an op that runs so often run once more to any use?"""
        if self.cap and times >= self.cap:
            return False
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
                for m in self.makers(o):
                    self.before[o] = max(self.before[o], self.before[m] + 1)
            for o in reversed(self.order):
                for m in self.makers(o):
                    self.after[m] = max(self.after[m], self.after[o] + 1)
        else:
            self.begin = [0]
            for s in range(len(self.order) + 1):
                slots = s if self.mode == "staged" else sum(self.copies[o] - 1 for o in self.order[:s] if self.useful[o] >= s)
                self.begin.append(self.begin[-1] + slots + 1)
            self.end = self.begin[-1] - 1

    def makers(self, op):
        return [m for m in map(self.flat.maker.get, self.flat.reads[op]) if m is not None]

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
        """Of an integer of the model, from what it stands for; copy -1: a graph input that somebody overwrites."""
        self.build()
        if kind == "end":
            return Domain(range(self.end, self.end + 1))
        if c == -1:
            need(self.flat.maker[item] is None, "no such copy")
            return Domain(range(-1, 0 if kind == "origin" else self.end + 1))
        op = item if kind == "start" else self.flat.maker[item]
        need(op is not None and 0 <= c < self.copies[op], "no such copy")
        starts = self.starts(op, c)
        need(starts, "a copy that can start nowhere")
        if kind == "start":
            return Domain(starts)
        need(kind in ("last", "until") and self.matters(item), "no such integer")
        if kind == "until":
            need(self.storage_at(item) == item, "no storage of its own")
            return Domain(range(starts[0], self.end + 1))
        runs = [s for r in self.flat.readers[item] for k in range(min(self.copies[r], 2)) for s in (self.starts(r, k),) if s]
        if self.mode != "staged":
            high = max([starts[-1]] + [s[-1] for s in runs])
            return Domain(range(starts[0], (self.end if item in self.flat.kept else high) + 1))
        values = set(starts).union(t for s in runs for t in s if t > starts[0])
        if item in self.flat.kept:
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
