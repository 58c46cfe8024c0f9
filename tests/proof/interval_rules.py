# SPDX-License-Identifier: Apache-2.0
"""Clauses of the interval model: those that it is made of, and those that its propagators give."""
from check_certificate import Wrong, need
from intervals import Box


class IntervalRules:
    """Part of Proof (check_proof.py), which has: model, flat, intervals, meaning, bound, ints, int_of, lit_of."""

    def present(self, op, c):
        """The literal that copy c of op is there; 1 for the first."""
        return 1 if c == 0 else self.lit_of["present", op, c]

    def start_of(self, v, x):
        return self.int_of["origin", v, -1] if x == -1 else self.int_of["start", self.flat.maker[v], x]

    def until_of(self, v, x):
        """How long the storage lives that copy x's v lies in."""
        at = self.intervals.storage_at(v)
        return self.int_of["last", v, x] if at is None else self.int_of["until", at, x]

    def time_of(self, reader, c):
        return self.int_of["end", None, 0] if reader is None else self.int_of["start", reader, c]

    def model_clause(self, clause):
        """One of the kinds of clauses of the model, or Wrong."""
        clause = [x for x in clause if x != -1]
        if not clause:
            return need(self.some_boundary_is_full(), "a contradiction out of nothing")
        named = {x: self.meaning[abs(x)] for x in clause if abs(x) in self.meaning}
        kinds = {m[0] for m in named.values()}
        if "stay" in kinds or "rerun" in kinds:
            return self.tie(clause, named)
        if "serves" in kinds:
            return self.about_serving(clause, named)
        negative = [m for x, m in named.items() if x < 0]
        positive = [m for x, m in named.items() if x > 0]
        if len(named) == len(clause) == 2 and len(negative) == 1 and positive[0][0] == "present":
            _, op, c = positive[0]
            if negative[0][:2] == ("present", op):
                return need(negative[0][2] > c, "a later copy gives an earlier one")
            return need(negative[0][:2] == ("extra", op) and c == self.intervals.number(op) - 1, "extra gives the last copy")
        # An absent copy rests at the lowest values.
        need(len(clause) == 2 and len(named) == 1 and len(positive) == 1 and positive[0][0] == "present", "no clause of this model")
        _, op, c = positive[0]
        box = Box(self, clause)
        bounds = [x for x in clause if abs(x) in self.bound]
        x = self.bound[abs(bounds[0])][0]
        kind, item, copy = self.ints[x][0]
        owner = item if kind == "start" else self.flat.maker[item] if kind in ("last", "until") else None
        need(owner == op and copy == c and bounds[0] < 0, "not an integer of this copy")
        return need(self.ints[x][1].floor(self.bound[abs(bounds[0])][1] - 1) == self.ints[x][1].low and box, "an absent copy at another place")

    def serving_possible(self, v, x, reader, c):
        start, time = self.start_of(v, x), self.time_of(reader, c)
        return self.ints[start][1].low < self.ints[time][1].high

    def about_serving(self, clause, named):
        intervals = self.intervals
        serves = {x: m for x, m in named.items() if m[0] == "serves"}
        others = {x: m for x, m in named.items() if m[0] != "serves"}
        need(len(named) == len(clause), "a bound among who serves")
        if len(clause) == 2 and min(serves) < 0:  # who serves and who is served is there
            (lit, (_, v, x, reader, c)), = serves.items()
            (other, (kind, op, copy)), = others.items()
            need(lit < 0 < other and kind == "present", "not about who is there")
            return need((op, copy) in ((self.flat.maker[v], x), (reader, c)), "another copy than supplier and reader")
        need(min(serves) > 0, "no clause about serving")
        readers = {m[3:] for m in serves.values()}
        values = {m[1] for m in serves.values()}
        suppliers = {(self.flat.maker[m[1]], m[2]) for m in serves.values()}
        negative = [m for x, m in others.items() if x < 0]
        if len(readers) == 1 and len(values) == 1 and all(x > 0 or m[0] == "present" for x, m in others.items()):
            (reader, c), = readers
            (v,) = values
            if not negative or negative == [("present", reader, c)]:
                return self.coverage(v, reader, c, {m[2] for m in serves.values()}, [m for x, m in others.items() if x > 0], negative)
        # A rerun serves somebody.
        need(len(suppliers) == 1 and len(others) == 1 and len(negative) == 1, "no clause about serving")
        (op, c), = suppliers
        need(negative[0] == ("present", op, c) and c > 0, "another copy has to serve")
        told = {(m[1], m[3], m[4]) for m in serves.values()}
        for v in self.flat.makes[op]:
            if not intervals.matters(v):
                continue
            who = [(r, k) for r in self.flat.readers[v] for k in range(intervals.number(r))]
            who += [(None, 0)] if v in self.flat.kept else []
            for reader, k in who:
                need((v, reader, k) in told or not self.serving_possible(v, c, reader, k), "somebody who could be served is left out")
        return None

    def coverage(self, v, reader, c, suppliers, positive, negative):
        maker = self.flat.maker[v]
        if maker is None:
            need(bool(negative) == (reader is not None and c > 0) and not positive, "the reader is there or not")
            return need(suppliers == {-1}, "what is there from the start is left out")
        copies = self.intervals.number(maker)
        need(bool(negative) == (reader is not None and c > 0), "the reader is there or not")
        for x in range(copies):
            need(x in suppliers or not self.serving_possible(v, x, reader, c), "a copy that could serve is left out")
        need(all(m == ("extra", maker, None) for m in positive), "somebody else as a supplier")
        return need(positive or not self.intervals.more(maker, copies), "extra is left out")

    def tie(self, clause, named):
        """An interval across a boundary, or a copy in a stage, makes the column true."""
        columns = [m for x, m in named.items() if x > 0 and m[0] in ("stay", "rerun")]
        need(len(columns) == 1, "not one column")
        kind, item, k = columns[0]
        box = Box(self, clause)
        a = self.intervals.first(self.model.boundaries[k])
        last_stage = k + 1 == len(self.model.boundaries)
        b = self.intervals.end if last_stage else self.intervals.first(self.model.boundaries[k + 1])
        op = self.flat.maker[item] if kind == "stay" else item
        for c in range(0 if kind == "stay" else 1, self.intervals.number(op)):
            start = self.int_of["start", op, c]
            if not box.is_true(self.present(op, c)):
                continue
            if kind == "stay":
                end = self.int_of["last", item, c] if self.flat.carrier[item] is not None else self.until_of(item, c)
                if box.most(start) <= a and box.least(end) > a:
                    return
            if kind == "rerun" and box.least(start) > a and box.most(start) <= b:  # nobody stands at b
                return
        raise Wrong("no copy that makes this column true")

    def rule_precedence_later(self, clause, witness):
        lit, x, d, y = witness
        box = Box(self, clause)
        need(box.is_true(lit) and box.least(x) + d > box.most(y), "the bounds leave room")
        if abs(lit) in self.meaning and self.meaning[abs(lit)][0] == "serves":
            return need(lit > 0 and (x, d, y) in self.served(*self.meaning[abs(lit)][1:]), "not what serving means")
        (xk, xi, xc), (yk, yi, yc) = self.ints[x][0], self.ints[y][0]
        maker = self.flat.maker
        if (xk, yk, xc, yc, d) == ("last", "until", -1, -1, 0):
            return need(lit == 1 and xi == yi, "not how long a graph input is there")
        xo = xi if xk == "start" else maker[xi]
        yo = yi if yk == "start" else maker[yi]
        if self.mode == "free" and lit == 1 and (xk, xc, yk, yc, d) == ("start", 0, "start", 0, 1):
            return need(any(maker[v] == xo for v in self.flat.reads[yo]), "first executions that need not follow each other")
        need(xo is not None and xo == yo, "two ops")
        if d == 0:
            return need(xc == yc and lit == self.present(xo, xc) and
                        (xk == "start" and yk == "last" or xk == "last" and y == self.until_of(xi, xc)), "not from start to end")
        return need(d == 1 and xk in ("start", "last") and yk == "start" and yc == xc + 1 and lit == self.present(yo, yc),
                    "not from copy to copy")

    def served(self, v, supplier, reader, c):
        """x + d <= y where this copy serves this reader."""
        time = self.time_of(reader, c)
        out = [(self.start_of(v, supplier), 1, time), (time, 0, self.int_of["last", v, supplier])]
        if reader is not None:
            until = self.until_of(v, supplier)
            for w in self.flat.makes[reader]:
                if self.flat.carrier[w] == v:  # a view in the storage that it read
                    out += [(self.until_of(w, c), 0, until), (until, 0, self.until_of(w, c))]
            if v in self.flat.consumes[reader]:
                out.append((until, 0, time))
        return out

    rule_precedence_earlier = rule_precedence_later
    rule_precedence_off = rule_precedence_later

    def tasks(self):
        """Where, from, until, bytes: an in-place output takes room of its own after its start."""
        if self.task_list is None:
            self.task_list = []
            for op in self.intervals.copies:
                for c in range(self.intervals.number(op)):
                    start, there = self.int_of["start", op, c], self.present(op, c)
                    self.task_list += [(there, start, int(v in self.flat.in_place), self.until_of(v, c), self.flat.size[v])
                                       for v in self.flat.makes[op] if self.flat.size[v] > 0]
                    if self.graph.ops[op]["workspace"]:
                        self.task_list.append((there, start, 0, start, self.graph.ops[op]["workspace"]))
        return self.task_list

    def rule_cumulative_memory_overload(self, clause, witness):
        box = Box(self, clause)
        parts = [(box.most(s) + late, box.least(e), size) for there, s, late, e, size in self.tasks() if box.is_true(there)]
        parts = [p for p in parts if p[0] <= p[1]]
        for t in {p[0] for p in parts}:
            if sum(size for a, b, size in parts if a <= t <= b) > self.intervals.capacity:
                return
        if self.intervals.turns:  # one at a time
            taken = [box.least(s) for (kind, op, c), s in self.int_of.items()
                     if kind == "start" and box.is_true(self.present(op, c)) and box.least(s) == box.most(s)]
            if len(set(taken)) < len(taken):
                return
        raise Wrong("no position is overfull")

    rule_cumulative_memory_begins_later = rule_cumulative_memory_overload
    rule_cumulative_memory_ends_earlier = rule_cumulative_memory_overload
    rule_cumulative_memory_absent = rule_cumulative_memory_overload
