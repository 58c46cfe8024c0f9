# SPDX-License-Identifier: Apache-2.0
"""Rows of the boundary relaxation, each judged by itself from the graph (docs/proof_format.md, "Rows").

Positions are ranks of first executions. For a plan without useless reruns
  stay V K   holds where an execution of V's maker at or before boundary K makes a V that is used after K;
  rerun O K  holds where O runs again after boundary K and before boundary K + 1.
"""
from check_certificate import Wrong, need


class BoundaryRows:
    def __init__(self, graph, order, budget, tensors, ops):
        self.graph, self.budget, self.tensors, self.ops = graph, budget, tensors, ops
        self.order = order
        self.rank = {op: i for i, op in enumerate(order)}
        self.boundaries = []  # positions
        # op -> every name that it needs, bases of views with it
        self.reads = {o: {c for t in graph.used(o) for c in graph.views(t)} for o in graph.ops}
        self.readers = {}
        for o, names in self.reads.items():
            for t in names:
                self.readers.setdefault(t, []).append(o)
        self.kept = {c for t in graph.kept for c in graph.views(t)}
        self.useful_at = {}

    def add_boundary(self, k, op):
        need(k == len(self.boundaries), "boundaries out of order")
        position = self.rank[op]
        need(not self.boundaries or self.boundaries[-1] < position, "boundaries do not ascend")
        self.boundaries.append(position)

    def may_repeat(self, op):
        return not self.graph.ops[op]["once"]

    def useful(self, k, tensor):
        """May a plan without useless reruns make it again after boundary k?"""
        at = self.boundaries[k]
        if k not in self.useful_at:
            known = {}
            for op in reversed(self.order):  # readers of what an op makes come later in the order
                for t in self.graph.ops[op]["outputs"]:
                    known[t] = t in self.kept or any(
                        self.rank[r] > at or self.may_repeat(r) and any(known.get(x) for x in self.graph.ops[r]["outputs"])
                        for r in self.readers.get(t, []))
            self.useful_at[k] = known
        return self.useful_at[k][tensor]

    def irreplaceable(self, k):
        """Storages of what is used by a first execution after boundary k, or at the end, and cannot be made again."""
        at = self.boundaries[k]
        return {self.graph.storage(t) for t, m in self.graph.maker.items()
                if self.rank[m] <= at and not self.may_repeat(m)
                and (t in self.kept or any(self.rank[r] > at for r in self.readers.get(t, [])))}

    def stage_of(self, position):
        """The stage that a first execution belongs to: the last boundary before it."""
        k = -1
        while k + 1 < len(self.boundaries) and self.boundaries[k + 1] < position:
            k += 1
        return k

    def declare(self, what, item, k):
        need(0 <= k < len(self.boundaries), "no such boundary")
        if what == "stay":
            need(item in self.graph.maker, f"{item} is no made tensor")
        else:
            need(self.rank[item] <= self.boundaries[k], f"{item} has not run at boundary {k}: no rerun")

    def row(self, rhs, terms):
        """terms: (coefficient, kind, item, k)."""
        if rhs < 0 or all(t[0] < 0 for t in terms):
            self.memory(rhs, terms)
        else:
            self.source(rhs, terms)

    def room(self, k):
        """Storages that are there for certain while the op at boundary k runs, and what is left beside them."""
        g, op = self.graph, self.order[self.boundaries[k]]
        held = {g.storage(t) for t in g.used(op) + g.ops[op]["outputs"]} | self.irreplaceable(k)
        room = self.budget - g.resident - g.ops[op]["workspace"]
        room += sum(g.bytes(t) for _, t in g.ops[op]["inplace"]) - sum(g.bytes(s) for s in held)
        return held, room

    def memory(self, rhs, terms):
        need(terms and all(kind == "stay" and a < 0 for a, kind, _, _ in terms), "not a memory row")
        k, g = terms[0][3], self.graph
        need(all(t[3] == k for t in terms), "a memory row over several boundaries")
        held, room = self.room(k)
        need(len({t[2] for t in terms}) == len(terms), "a storage twice")
        unit = None  # bytes for one of the row's units: as much as every term allows
        for a, _, v, _ in terms:
            need(v not in g.view_of and v not in held and g.bytes(v) > 0, f"{v} is not to be counted at boundary {k}")
            most = (g.bytes(v), -a)
            unit = most if unit is None or most[0] * unit[1] < unit[0] * most[1] else unit
        # sum of -a S <= room / unit, and the left side is whole
        need(-rhs >= (room * unit[1]) // unit[0], "more than the budget leaves is refused")

    def source(self, rhs, terms):
        negative = [t for t in terms if t[0] < 0]
        need(all(t[0] == (-1 if t[0] < 0 else 1) for t in terms) and len(negative) <= 1, "no row of this model")
        stays = [t for t in terms if t[0] > 0 and t[1] == "stay"]
        reruns = [t for t in terms if t[0] > 0 and t[1] == "rerun"]
        need(stays, "a row without anything that stays")
        k = stays[0][3]
        need(all(t[3] == k for t in stays), "what stays stays at several boundaries")
        way = [t[2] for t in stays]
        maker = self.graph.maker
        need(rhs <= (0 if negative else 1), "more than can be claimed")
        if negative and negative[0][1] == "stay" and negative[0][3] == k:
            # What lives in a storage is there only with it.
            view = negative[0][2]
            need(len(way) == 1 and way[0] in self.graph.views(view)[1:] and not reruns, "not the base of this view")
            return
        first = maker[way[0]]
        need(all(t[2] == first for t in reruns), "reruns of several ops")
        for t in way:
            need(self.rank[maker[t]] <= self.boundaries[k], f"{t} is not made yet at boundary {k}")
        for a, b in zip(way, way[1:]):
            need(a in self.reads[maker[b]], f"{b} is made without {a}")
        last = way[-1]
        if negative and negative[0][1] == "rerun":
            need(negative[0][3] == k and last in self.reads[negative[0][2]], "this rerun does not need what is claimed")
            until = k
        elif negative:
            need(negative[0][2] == last and negative[0][3] > k, "not the same value later")
            until = negative[0][3] - 1
        else:
            at = self.boundaries[k]
            stages = [self.stage_of(self.rank[r]) for r in self.readers.get(last, []) if self.rank[r] > at]
            if last in self.kept:
                stages.append(len(self.boundaries) - 1)
            need(stages, f"nobody needs {last} after boundary {k}")
            until = min(stages)
        covered = {t[3] for t in reruns}
        for j in range(k, until + 1):
            if j not in covered and self.may_repeat(first):
                need(not any(self.useful(j, t) for t in self.graph.ops[first]["outputs"]), f"a rerun of {first} in stage {j} is left out")

    def moment(self, rhs, terms, k, op, counted, flat, mode):
        """While op runs again in stage k, what it needs fits beside what lies there for certain (docs, "Moment rows").

        counted: (value, the op for whose rerun it lies there, or None: for boundary k + 1).
        """
        need(0 <= k and k + 1 < len(self.boundaries) and self.rank[op] <= self.boundaries[k], "no stage in which op runs again")
        start, until = self.boundaries[k], self.boundaries[k + 1]
        in_order = mode == "staged" and until == start + 1
        touched = {flat.root(v) for v in flat.reads[op] + flat.makes[op]}
        moment = flat.moment[op] + flat.resident + sum(flat.size[r] for r in touched)
        last = self.order[until]
        aside = flat.moment[last] + flat.resident + sum(flat.size[v] for v in flat.makes[last] if flat.carrier[v] is None)
        certain = self.certain(k + 1)
        want, owed, fixed, seen = {}, 0, 0, set()

        def add(kind, item, stage, amount):
            want[kind, item, stage] = want.get((kind, item, stage), 0) + amount

        for v, w in counted:
            need(v not in seen and flat.carrier[v] is None and v not in touched, f"{v} is counted twice")
            seen.add(v)
            maker = flat.maker[v]
            need(maker is not None and self.rank[maker] <= start, f"{v} is not made yet")
            first = in_order and self.rank[maker] < self.rank[op]
            if w is not None:
                need(in_order and v in flat.reads[w] and self.rank[op] < self.rank[w] <= start, f"{v} does not wait for {w}")
                add("rerun", w, k, flat.size[v])
                owed += flat.size[v]
            elif v in certain:
                fixed += flat.size[v]
            else:
                add("stay", v, k + 1, flat.size[v])
            if not first and flat.may_repeat[maker]:
                add("rerun", maker, k, -flat.size[v])
        extra = moment - aside + owed
        need(extra > 0, "op needs no more than the op at the end of the stage")
        add("rerun", op, k, extra)
        # sum of want <= budget - aside - fixed + owed. A rerun that can be of no use has no column: it does not happen.
        given = {(kind, item, stage): -a for a, kind, item, stage in terms}
        for key, amount in want.items():
            have = given.pop(key, 0)
            need(have == amount or have == 0 and key[0] == "rerun" and not self.can_rerun(key[1], key[2]),
                 f"{key[1]} is counted with {have}, not {amount}")
        need(not given, "something else is counted")
        need(-rhs >= self.budget - aside - fixed + owed, "more than the budget leaves is refused")

    def certain(self, k):
        """Values that certainly lie across boundary k: read or made by its op, or not to be made again."""
        g, op = self.graph, self.order[self.boundaries[k]]
        names = {c for t in g.used(op) + g.ops[op]["outputs"] for c in g.views(t)}
        at = self.boundaries[k]
        for t, m in g.maker.items():
            if self.rank[m] <= at and not self.may_repeat(m) and (t in self.kept or any(self.rank[r] > at for r in self.readers.get(t, []))):
                names.update(g.views(t))
        return names

    def can_rerun(self, op, k):
        return self.may_repeat(op) and any(self.useful(k, t) for t in self.graph.ops[op]["outputs"])
