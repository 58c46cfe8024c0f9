# SPDX-License-Identifier: Apache-2.0
"""Search over states, forwards and backwards (docs/proof_format.md, "States").

Forwards: a list of states with the duration until there, such that whatever a plan can do from one of them leads to
another one, or costs too much. Backwards: sets of values of which none can be there first.
"""
from check_certificate import need


class State:
    __slots__ = ("executed", "hold", "last", "runs", "cost", "mask")

    def __init__(self, executed, hold, last, runs, cost):
        self.executed, self.hold, self.last, self.runs, self.cost = executed, hold, last, runs, cost
        # hold: value -> a name for its storage


class States:
    def __init__(self, flat, mode, budget, cap):
        self.flat, self.mode, self.room, self.cap = flat, mode, budget - flat.resident, cap
        self.bit = {v: 1 << i for i, v in enumerate(flat.maker)}
        # Values that can share a storage with another one.
        self.tied = {v for v, c in flat.carrier.items() if c is not None} | {c for c in flat.carrier.values() if c is not None}
        self.listed = {}  # executed ops -> states
        self.count = 0
        self.known = {}

    def add(self, state):
        need(not self.is_goal(state), "a plan ends in one of the states")
        self.enter(state)
        self.listed.setdefault(state.executed, []).append(state)
        self.count += 1

    def enter(self, state):
        state.mask = 0
        for v in state.hold:
            state.mask |= self.bit[v]

    def is_goal(self, s):
        return len(s.executed) == len(self.flat.order) and all(v in s.hold for v in self.flat.kept)

    def relevant(self, executed):
        """Values that can still be of use once these ops have run."""
        if executed not in self.known:
            f, useful, todo = self.flat, set(), []
            active = set()

            def activate(op):
                if op not in active:
                    active.add(op)
                    todo.append(op)

            def mark(v):
                if v not in useful:
                    useful.add(v)
                    if f.maker[v] is not None and f.may_repeat[f.maker[v]]:
                        activate(f.maker[v])

            for v in f.kept:
                mark(v)
            for op in f.order:
                if op not in executed:
                    activate(op)
            while todo:
                for v in f.reads[todo.pop()]:
                    mark(v)
            self.known[executed] = useful
        return self.known[executed]

    def covered(self, s):
        """Is there a state in the list that costs no more and from which all that is possible from s is?"""
        self.enter(s)
        tied = [v for v in s.hold if v in self.tied]
        for t in self.listed.get(s.executed, ()):
            if t.cost > s.cost or s.mask & ~t.mask or t.last > s.last:
                continue
            if self.cap and any(n > s.runs[op] for op, n in t.runs.items()):
                continue
            if all((s.hold[v] == s.hold[w]) == (t.hold[v] == t.hold[w]) for i, v in enumerate(tied) for w in tied[:i]):
                return True
        return False

    def least(self, s):
        """What a plan that goes on from s takes at least; None: there is none."""
        f, cost, again, todo = self.flat, 0, set(), []
        for op in f.order:
            if op not in s.executed:
                cost += f.duration[op]
                todo.append(op)
        wanted = [v for op in todo for v in f.reads[op]] + list(f.kept)
        while wanted:
            v = wanted.pop()
            m = f.maker[v]
            if v in s.hold or m is not None and m not in s.executed or m in again:
                continue
            if m is None or not f.may_repeat[m] or self.cap and s.runs[m] >= self.cap:
                return None
            again.add(m)
            cost += f.duration[m]
            wanted += f.reads[m]
        return cost

    def may_run(self, s, op):
        if op in s.executed:
            if not self.flat.may_repeat[op] or self.cap and s.runs[op] >= self.cap:
                return False
            if self.mode == "staged" and self.flat.rank[op] <= s.last:
                return False
        return all(v in s.hold for v in self.flat.reads[op])

    def leaves_nothing(self, s, op):
        """A first execution whose outputs take no room or are of no use: it does not matter when it is."""
        f = self.flat
        if f.consumes[op]:
            return False
        if all(f.bytes(v) == 0 and v not in self.tied and f.graph.storage(v) not in f.overwritten for v in f.makes[op]):
            return True
        return not self.relevant(s.executed | {op}).intersection(f.makes[op])

    def before(self, s, op):
        """What is held beside the op, how much too much that is, and the storages that can be dropped."""
        f = self.flat
        hold = {v: label for v, label in s.hold.items() if v not in f.makes[op]}
        sizes = {label: f.bytes(v) for v, label in hold.items()}
        over = f.moment[op] + sum(f.size[v] for v in f.makes[op]) + sum(sizes.values()) - self.room
        needed = {hold[v] for v in f.reads[op]}
        return hold, over, [(n, label) for label, n in sizes.items() if n > 0 and label not in needed]

    def steps(self, s):
        """Every state after one execution more; storages are dropped only where they must be, and no more than must."""
        f = self.flat
        first = [op for op in f.order if op not in s.executed]
        if self.mode == "free":
            for op in (o for o in f.graph.ops if o not in s.executed):
                if self.may_run(s, op) and self.leaves_nothing(s, op) and self.before(s, op)[1] <= 0:
                    yield from self.run(s, op)
                    return
        else:
            first = first[:1]
        for op in first + list(s.executed):
            if self.may_run(s, op):
                yield from self.run(s, op)

    def run(self, s, op):
        hold, over, droppable = self.before(s, op)
        droppable.sort(key=lambda d: -d[0])

        def sets(at, left):
            if left <= 0:
                yield ()
                return
            if sum(n for n, _ in droppable[at:]) < left:
                return
            for i in range(at, len(droppable)):
                for rest in sets(i + 1, left - droppable[i][0]):
                    yield (droppable[i][1],) + rest

        for dropped in sets(0, over):
            yield self.after(s, op, {v: label for v, label in hold.items() if label not in dropped})

    def after(self, s, op, hold):
        f = self.flat
        gone = {hold[v] for v in f.consumes[op]}
        hold = {v: label for v, label in hold.items() if label not in gone}
        for v in f.makes[op]:
            hold[v] = (v, "new") if f.carrier[v] is None else hold[f.carrier[v]]
        executed = s.executed | {op}
        useful = self.relevant(executed)
        # A storage is called by the first of its names.
        names = {}
        hold = {v: names.setdefault(hold[v], v) for v in sorted(hold) if v in useful}
        last = -1
        if self.mode == "staged" and op in s.executed:
            last = f.rank[op]
        runs = dict(s.runs)
        if self.cap:
            runs[op] = runs.get(op, 0) + 1
        return State(executed, hold, last, runs, s.cost + f.duration[op])

    def start(self):
        return State(frozenset(), {v: v for v, m in self.flat.maker.items() if m is None}, -1, {}, 0)

    def close(self, claim):
        """No plan is shorter than the claim; None: there is no plan."""
        def settled(s):
            left = self.least(s)
            return left is None or claim is not None and s.cost + left >= claim or self.covered(s)

        need(settled(self.start()), "the empty plan is in no state of the list")
        for group in self.listed.values():
            for s in group:
                need(all(settled(t) for t in self.steps(s)), "a way out of the states of the list")


class Pebbles:
    """Sets of values: the last of a set to be made is made beside all others of it; before, its inputs were there too."""

    def __init__(self, flat, budget):
        self.flat, self.budget = flat, budget
        self.sets = set()

    def counts(self, v):
        return self.flat.maker[v] is not None and self.flat.bytes(v) > 0

    def needed(self, op):
        """By an op, or at the end."""
        return frozenset(v for v in (self.flat.kept if op is None else self.flat.reads[op]) if self.counts(v))

    def moment(self, held, op):
        f = self.flat
        return f.resident + f.moment[op] + sum(f.size[r] for r in {f.root(v) for v in list(held) + f.reads[op] + f.makes[op]})

    def close(self, start):
        """No plan can run `start` (None: reach its end)."""
        f, first = self.flat, self.needed(start)
        if start is not None and self.moment((), start) > self.budget:
            return
        if f.resident + sum(f.size[r] for r in {f.root(v) for v in first}) > self.budget:
            return
        need(first in self.sets, "what is needed is not in the list")
        need(frozenset() not in self.sets, "nothing at all is excluded")
        for held in self.sets:
            for op in {f.maker[v] for v in held}:
                if set(f.consumes[op]) & held or self.moment(held, op) > self.budget:
                    continue
                earlier = frozenset(v for v in held if f.maker[v] != op) | frozenset(v for v in f.reads[op] if self.counts(v))
                need(earlier in self.sets, "a set before one of the list is not in it")
