#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays an ebbtide-proof against a graph, with Python's integers and none of ebbtide's code.

    check_proof.py GRAPH PROOF [--quiet]

GRAPH: native or node-link JSON, plain, gzip or xz. Exit code 0 and one line where the claim is proved; 1 and one line
that says what is wrong otherwise. The format, and why each rule is sound: docs/proof_format.md.
"""
import gzip
import json
import lzma
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "certificate")]
from boundary_rows import BoundaryRows  # noqa: E402
from check_certificate import Wrong, command, need  # noqa: E402
from interval_rules import IntervalRules  # noqa: E402
from intervals import Box, Domain, Intervals  # noqa: E402
from flat import Flat  # noqa: E402
from rup import Clauses  # noqa: E402
from states import Pebbles, State, States  # noqa: E402

SHIFT = 44  # duals are multiples of 2^-44


class Proof(IntervalRules):
    def __init__(self, graph):
        self.graph = graph
        self.ops, self.tensors = {}, {}
        self.mode = self.budget = self.sequence = self.model = self.intervals = self.task_list = None
        self.cap = 0  # executions per op; 0: any number
        self.states = self.pebbles = None
        self.no_plan = False  # shown by one line
        self.meaning, self.lit_of = {}, {}  # literal <-> (kind, what of)
        self.bound = {}  # literal -> (integer, value): [integer >= value]
        self.ints, self.int_of = {}, {}  # integer -> (what, domain), and back
        self.cost = {}  # column's literal -> duration
        self.weight = None  # literals that the total is made of: the columns, or copies and extra
        self.total = None
        self.rows, self.rows_of = {}, {}
        self.clauses = Clauses()
        self.clauses.add([1])
        self.cutoff = None  # the smallest v with a hypothesis total < v
        self.claim = None  # a duration, or "none": no plan
        self.steps = self.derived = 0

    # ---- lines ---------------------------------------------------------------------------------------------------

    def read(self, lines):
        lines = iter(lines)
        need(next(lines, "").split() == ["ebbtide-proof", "1"], "no ebbtide-proof of version 1")
        for number, line in enumerate(lines, 2):
            key, _, rest = line.rstrip("\n").partition(" ")
            try:
                handler = getattr(self, "line_" + key, None)
                need(handler and self.claim is None, "unknown line, or one behind the claim")
                handler(rest)
            except (Wrong, ValueError, KeyError, IndexError) as e:
                raise Wrong(f"line {number} ({line.strip()[:80]}): {e}") from e
        need(self.claim is not None, "no claim")

    def line_graph(self, rest):
        pass  # guards against mix-ups, not against forgery

    def line_order(self, rest):
        need(rest in ("fixed", "staged", "free"), "no such order")
        self.mode = rest

    def line_budget(self, rest):
        self.budget = int(rest)

    def line_cap(self, rest):
        need(self.model is None, "a cap behind what it is for")
        self.cap = int(rest)
        need(self.cap >= 1, "a cap that is none")

    def line_op(self, rest):
        number, name = rest.split(" ", 1)
        name = json.loads(name)
        need(name in self.graph.ops and int(number) not in self.ops, f"no such op, or twice: {name}")
        self.ops[int(number)] = name

    def line_tensor(self, rest):
        number, name = rest.split(" ", 1)
        name = json.loads(name)
        need(name in self.graph.size or name in self.graph.maker, f"no such tensor: {name}")
        need(int(number) not in self.tensors, "a number twice")
        self.tensors[int(number)] = name

    def line_sequence(self, rest):
        need(self.graph.order is None, "the graph's order is its own")
        self.sequence = [self.ops[int(x)] for x in rest.split()]

    def begin(self):
        """Once what is asked is known."""
        if self.model is not None:
            return
        order = self.graph.order or self.sequence or self.graph.stable_order()
        need(sorted(order) == sorted(self.graph.ops), "the order does not hold each op once")
        rank = {op: i for i, op in enumerate(order)}
        for op in order:
            for t in self.graph.used(op):
                m = self.graph.maker.get(t)
                need(m is None or m == op or rank[m] < rank[op], f"the order has {op} before the maker of {t}")
        need(self.budget is not None and self.mode, "budget or order missing")
        self.flat = Flat(self.graph, order)
        self.model = BoundaryRows(self.graph, order, self.budget, self.tensors, self.ops)

    def line_copies(self, rest):
        self.begin()
        if self.intervals is None:
            self.intervals = Intervals(self.flat, self.mode, self.budget, self.cap)
            self.weight = {}
        op, n = map(int, rest.split())
        op = self.ops[op]
        need(n >= 1 and op not in self.intervals.copies and not self.intervals.made, "a number of copies that is none")
        self.intervals.copies[op] = n

    # ---- states --------------------------------------------------------------------------------------------------

    def value(self, number):
        name = self.tensors[int(number)]
        need(name in self.flat.maker, f"{name} is no value")
        return name

    def line_s(self, rest):
        """COST LAST, o OP RUNS for each op that ran, t VALUE STORAGE for each value that is there."""
        self.begin()
        if self.states is None:
            self.states = States(self.flat, self.mode, self.budget, self.cap)
        words = rest.split()
        runs, hold = {}, {}
        for kind, a, b in zip(words[2::3], words[3::3], words[4::3]):
            need(kind in ("o", "t"), "neither an op nor a value")
            if kind == "o":
                runs[self.ops[int(a)]] = int(b)
            else:
                hold[self.value(a)] = int(b)
        need(len(words) % 3 == 2, "a state that breaks off")
        self.states.add(State(frozenset(runs), hold, int(words[1]), runs if self.cap else {}, int(words[0])))

    def line_pebbles(self, rest):
        """The op, or -1 for the end, that cannot be reached."""
        self.begin()
        need(self.pebbles is None, "two targets")
        self.pebbles = Pebbles(self.flat, self.budget)
        self.target = None if rest == "-1" else self.ops[int(rest)]

    def line_p(self, rest):
        self.pebbles.sets.add(frozenset(self.value(v) for v in rest.split()))

    def line_gone(self, rest):
        self.begin()
        need(self.mode != "free", "in free order it could be read before")
        self.flat_order_forbids(self.value(rest))
        self.no_plan = True

    def flat_order_forbids(self, v):
        """In the given order v is wanted after its storage was taken over, and there is no second one."""
        f = self.flat
        need(f.maker[v] is None or not f.may_repeat[f.maker[v]], f"{v} can be made again")
        takers = [f.rank[op] for op in f.order if v in f.consumes[op]]
        wants = [f.rank[op] for op in f.readers[v]] + ([len(f.order)] if v in f.kept else [])
        need(takers and max(wants) > min(takers), f"{v} is not wanted any more when it is overwritten")

    def line_full(self, rest):
        """At some boundary what must be there has no room."""
        need(self.some_boundary_is_full(), "there is room at every boundary")
        self.no_plan = True

    def some_boundary_is_full(self):
        return any(self.model.room(k)[1] < 0 for k in range(len(self.model.boundaries)))

    def line_boundary(self, rest):
        self.begin()
        k, op = map(int, rest.split())
        self.model.add_boundary(k, self.ops[op])

    def line_v(self, rest):
        lit, *name = rest.split()
        lit = int(lit)
        need(lit > 1 and lit not in self.meaning and lit not in self.bound, "a literal with two meanings")
        kind, *of = name[0], *map(int, name[1:])
        if kind == "free":  # nothing is known of it, and nothing needs to be
            self.meaning[lit] = ("free", None, None)
            return
        if kind in ("stay", "rerun"):
            need(self.mode != "free", "boundaries in free order")
            what = (kind, (self.tensors if kind == "stay" else self.ops)[of[0]], of[1])
            self.model.declare(*what)
            if kind == "rerun" and self.graph.ops[what[1]]["duration"]:
                self.cost[lit] = self.graph.ops[what[1]]["duration"]
        elif kind == "serves":
            v, x, reader, c = of
            v, reader = self.value(v), None if reader < 0 else self.ops[reader]
            what = (kind, v, x, reader, c)
            need(v in (self.flat.kept if reader is None else self.flat.reads[reader]), "not a reader")
            need(self.intervals.matters(v), "a value that takes no room")
        else:
            need(kind in ("present", "extra") and self.intervals, "no such kind of literal")
            op = self.ops[of[0]]
            what = (kind, op, of[1] if kind == "present" else None)
            need(kind == "extra" or 1 <= of[1] < self.intervals.copies[op], "no such copy")
            need(self.flat.may_repeat[op], f"{op} may not run again")
            if self.graph.ops[op]["duration"]:
                self.weight[lit] = self.graph.ops[op]["duration"]
        need(self.lit_of.setdefault(what, lit) == lit, "two literals with one meaning")
        self.meaning[lit] = what

    def line_total(self, rest):
        """Of the boundary relaxation alone: the columns' cost."""
        need(self.intervals is None, "a total of its own for each model")
        self.name_int(int(rest), ("total", None, 0), Domain(range(sum(self.cost.values()) + 1)))
        self.weight = self.cost

    def line_n(self, rest):
        x, kind, *of = rest.split()
        of = [int(i) for i in of]
        if kind == "total":
            what, domain = (kind, None, 0), Domain(range(of[0] + 1))
        elif kind == "end":
            what = (kind, None, 0)
            domain = self.intervals.domain(*what)
        else:
            what = (kind, self.ops[of[0]] if kind == "start" else self.value(of[0]), of[1])
            domain = self.intervals.domain(*what)
        self.name_int(int(x), what, domain)

    def name_int(self, x, what, domain):
        need(x not in self.ints and what not in self.int_of, "an integer with two meanings")
        self.ints[x], self.int_of[what] = (what, domain), x
        if what[0] == "total":
            self.total = x

    def line_b(self, rest):
        lit, integer, value = map(int, rest.split())
        need(lit > 1 and lit not in self.meaning and lit not in self.bound, "a literal with two meanings")
        need(integer in self.ints, "an unknown integer")
        self.bound[lit] = (integer, value)

    def line_r(self, rest):
        rest, _, note = rest.partition(" m ")
        number, rhs, *terms = map(int, rest.split())
        need(number == len(self.rows) and len(terms) % 2 == 0, "rows out of order")
        terms = list(zip(terms[::2], terms[1::2]))
        need(len({lit for _, lit in terms}) == len(terms), "a column twice")
        named = [(a, *self.meaning[lit]) for a, lit in terms]
        if note:
            k, op, *counted = map(int, note.split())
            pairs = zip(counted[::2], counted[1::2])
            self.model.moment(rhs, named, k, self.ops[op], [(self.value(v), self.ops.get(w)) for v, w in pairs], self.flat, self.mode)
        else:
            self.model.row(rhs, named)
        self.rows[number] = (rhs, terms)
        for _, lit in terms:
            self.rows_of.setdefault(lit, set()).add(number)

    def line_i(self, rest):
        words = rest.split()
        end = words.index("0")
        clause = [int(x) for x in words[1:end]]
        for lit in clause:
            need(abs(lit) == 1 or abs(lit) in self.meaning or abs(lit) in self.bound, f"literal {abs(lit)} has no meaning")
        rule = getattr(self, "rule_" + words[0].replace("/", "_").replace("-", "_"), None)
        need(rule, f"unknown rule {words[0]}")
        rule(clause, [int(x) for x in words[end + 1:]])
        self.clauses.add(clause)
        self.steps += 1

    def line_l(self, rest):
        words = [int(x) for x in rest.split()]
        need(words and words[-1] == 0, "a clause without end")
        need(self.clauses.implies(words[:-1]), "a derived clause that unit propagation does not confirm")
        self.clauses.add(words[:-1])
        self.derived += 1

    def line_claim(self, rest):
        self.begin()
        self.claim = "none" if rest == "none" else int(rest)
        base = sum(o["duration"] for o in self.graph.ops.values())
        if self.claim != "none" and self.claim <= base:
            return  # each op runs once
        if self.no_plan:
            return
        if self.pebbles is not None:
            return self.pebbles.close(self.target)
        if self.states is not None:
            return self.states.close(None if self.claim == "none" else self.claim)
        if self.claim == "none" and self.intervals is not None and self.budget < self.graph.resident:
            return
        need(self.clauses.implies([]), "the clauses do not contradict each other")
        most = self.ints[self.total][1].high
        need(most >= sum(self.cost.values()) and most >= sum(self.weight.values()), "the total is cut off")
        if self.claim == "none":
            return need(self.cutoff is None, "only plans that are short are excluded")
        return need(self.cutoff is None or self.claim - base <= self.cutoff, f"only {base + (self.cutoff or 0)} is proved")

    # ---- rules: each says why its clause holds -------------------------------------------------------------------

    def false_box(self, clause):
        """What is so where the clause is false: columns' values, and the largest total."""
        box = Box(self, clause)
        return box.value, box.most(self.total)

    def rule_model(self, clause, witness):
        """A tautology, bounds of one integer in order, the hypothesis that the total is below the cutoff, or a clause of the model."""
        if any(-x in clause for x in clause) or 1 in clause:
            return
        bounds = [(lit > 0, *self.bound[abs(lit)]) for lit in clause if abs(lit) in self.bound]
        for up, x, v in bounds:
            if up and v <= self.ints[x][1].low or not up and v > self.ints[x][1].high:
                return
            if up and any(not other and y == x and w >= v for other, y, w in bounds):
                return  # x >= w, so x >= v
        if len(clause) == 1 and len(bounds) == 1 and not bounds[0][0] and bounds[0][1] == self.total:
            self.cutoff = bounds[0][2] if self.cutoff is None else min(self.cutoff, bounds[0][2])
            return
        need(self.intervals, "a clause of the model that is none")
        self.model_clause(clause)

    def rule_linear_rows_row(self, clause, witness):
        value, _ = self.false_box(clause)
        candidates = None
        for lit in value:
            if lit != 1:
                mine = self.rows_of.get(lit, set())
                candidates = mine if candidates is None else candidates & mine
        for number in candidates if candidates is not None else self.rows:
            rhs, terms = self.rows[number]
            if sum(a * value[x] if x in value else max(a, 0) for a, x in terms) < rhs:
                return
        raise Wrong("no row implies this clause")

    def rule_weighted_sum_total(self, clause, witness):
        value, most = self.false_box(clause)
        need(sum(c for x, c in self.weight.items() if value.get(x) == 1) > most, "the sum leaves room")

    rule_weighted_sum_no_room = rule_weighted_sum_total

    def rule_linear_relaxation_dual_conflict(self, clause, witness):
        value, most = self.false_box(clause)
        step = math.gcd(*self.cost.values()) if self.cost else 1
        ray, pairs = witness[0], witness[1:]
        need(len(pairs) % 2 == 0 and ray in (0, 1), "no pairs of rows and duals")
        least, left = 0, {}
        if not ray:
            left = {x: c << SHIFT for x, c in self.cost.items()}
        for number, y in zip(pairs[::2], pairs[1::2]):
            need(y >= 0, "a negative dual")
            rhs, terms = self.rows[number]
            least += y * rhs
            for a, x in terms:
                left[x] = left.get(x, 0) - y * a
        for x, d in left.items():
            least += d * value[x] if x in value else min(d, 0)
        need(least > (0 if ray else most // step * step << SHIFT), "the duals do not exclude it")

    rule_linear_relaxation_reduced_cost = rule_linear_relaxation_dual_conflict
    rule_linear_relaxation_dual_bound = rule_linear_relaxation_dual_conflict


def opened(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:6] == b"\xfd7zXZ\0":
        data = lzma.decompress(data)
    return data.decode().splitlines()


def prove(graph, path):
    proof = Proof(graph)
    proof.read(opened(path))
    capped = f", each op at most {proof.cap} times," if proof.cap else ""
    what = "there is no plan" if proof.claim == "none" else f"every plan takes at least {proof.claim}"
    how = f"{proof.steps} clauses with reasons, {proof.derived} derived"
    if proof.states is not None:
        how = f"{proof.states.count} states"
    elif proof.pebbles is not None:
        how = f"{len(proof.pebbles.sets)} sets"
    return f"with {proof.budget} bytes in {proof.mode} order{capped} {what} ({how})"


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:], __doc__, prove))
