# SPDX-License-Identifier: Apache-2.0
"""A graph as values and ops, graph inputs and free views taken out (docs/proof_format.md, "Values").

  value     a tensor that somebody makes and that is no free view, or a graph input that somebody overwrites
  carrier   the value in whose storage a view lies; None: a storage of its own
"""


class Flat:
    def __init__(self, graph, order):
        self.graph, self.order = graph, order
        self.rank = {op: i for i, op in enumerate(order)}
        self.resident = graph.resident
        made = graph.maker
        names = set(graph.size) | set(graph.view_of) | set(made)
        self.head = {}  # the tensor that a chain of views ends in
        for t in names:
            self.head[t] = graph.storage(t)
        self.overwritten = {self.head[i] for o in graph.ops.values() for i, _ in o["inplace"]}
        self.free = self.free_views(set())
        barred = set()
        for op, o in graph.ops.items():
            for t in o["outputs"]:
                if t not in graph.view_of or op in self.free:
                    continue
                head = self.head[t]
                m = made.get(head)
                if m is not None and m != op and len(graph.ops[m]["outputs"]) > 1:
                    barred.add(head)
        if barred:
            self.free = self.free_views(barred)

        self.maker, self.size, self.carrier, self.in_place = {}, {}, {}, set()
        self.stands_for = {}  # tensor -> value; None: always there
        for t in names:
            if t not in made:
                root = self.head[t]
                self.stands_for[t] = root if root in self.overwritten else None
                if t == root and t in self.overwritten:
                    self.maker[t], self.size[t], self.carrier[t] = None, 0, None
        self.reads, self.makes, self.consumes, self.moment, self.may_repeat, self.duration = {}, {}, {}, {}, {}, {}
        for op in order:
            o = graph.ops[op]
            for t in self.bases_first(o["outputs"]):
                base = graph.view_of.get(t)
                if op in self.free:
                    self.stands_for[t] = self.stands_for[base]
                    continue
                self.stands_for[t] = t
                self.maker[t] = op
                self.carrier[t] = None if base is None else self.stands_for[base]
                self.size[t] = 0 if base is not None else graph.bytes(t)
                if t in graph.overwrites:
                    self.in_place.add(t)
            self.reads[op] = list(dict.fromkeys(v for v in map(self.stands_for.get, graph.used(op)) if v is not None))
            self.makes[op] = [] if op in self.free else self.bases_first(o["outputs"])
            self.consumes[op] = list(dict.fromkeys(self.stands_for[i] for i, _ in o["inplace"]))
            self.moment[op] = o["workspace"] - sum(self.size[t] for _, t in o["inplace"])
            self.may_repeat[op] = not o["once"] and op not in self.free
            self.duration[op] = o["duration"]
        self.kept = {self.stands_for[t] for t in graph.kept} - {None}
        self.readers = {v: [] for v in self.maker}
        for op in order:
            for v in self.reads[op]:
                self.readers[v].append(op)
        self.plain = not any(self.carrier.values()) and not any(self.consumes.values())

    def bases_first(self, outputs):
        return sorted(outputs, key=lambda t: len(self.graph.views(t)))

    def root(self, v):
        while self.carrier[v] is not None:
            v = self.carrier[v]
        return v

    def bytes(self, v):
        """Of the storage that it lies in."""
        return self.size[self.root(v)]

    def free_views(self, barred):
        g, free, source = self.graph, set(), {}
        for t in self.head:
            if t not in g.maker:
                source[t] = self.head[t]
        for op in self.order:
            o = g.ops[op]
            bases = [g.view_of.get(t) for t in o["outputs"]]
            if o["duration"] == 0 and not o["workspace"] and not o["once"] and bases and not o["inplace"] \
                    and all(b is not None and g.maker.get(b) != op for b in bases):
                from_what = {source[t] for t in bases + o["inputs"]}
                head = self.head[next(iter(from_what))]
                if len(from_what) == 1 and head not in self.overwritten and head not in barred:
                    free.add(op)
            for t in self.bases_first(o["outputs"]):
                source[t] = source[g.view_of[t]] if op in free else t
        return free
