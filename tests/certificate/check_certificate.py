#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an ebbtide-certificate against a graph, with Python's integers and none of ebbtide's code.

    check_certificate.py GRAPH CERTIFICATE [--quiet]

GRAPH: native or node-link JSON, plain, gzip or xz. Exit code 0 and one line where the bound is proved; 1 and one line
that says what is wrong otherwise. What a certificate claims and why it proves a bound: docs/certificate.md.
"""
import bisect
import gzip
import heapq
import json
import lzma
import math
import sys


class Wrong(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Wrong(text)


def integer(value, what, least=0):
    need(type(value) is int and value >= least, f"{what} is {value!r}, not an integer of at least {least}")
    return value


def load(path):
    with open(path, "rb") as f:
        data = f.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    elif data[:6] == b"\xfd7zXZ\0":
        data = lzma.decompress(data)
    return json.loads(data)


class Graph:
    def __init__(self, d):
        self.view_of, self.size, self.overwrites = {}, {}, {}
        self.ops = {}
        if d.get("format") == "ebbtide-graph":
            for t in d["tensors"]:
                self.size[t["name"]] = integer(t["size"], "a size")
                if t.get("view_of"):
                    self.view_of[t["name"]] = t["view_of"]
            for o in d["ops"]:
                self.ops[o["name"]] = dict(duration=integer(o["duration"], "a duration"), inputs=[t for t in o["inputs"] if t],
                                           outputs=o["outputs"], workspace=o.get("workspace", 0), once=not o.get("recomputable", True),
                                           inplace=o.get("inplace", []))
            self.kept, order = set(d.get("outputs", [])), d.get("order")
        else:
            attributes = dict(d.get("graph", {}))
            for i, n in enumerate(d["nodes"]):
                name = str(n.get("id", i))
                self.size[name] = integer(n["out_cost"] if "out_cost" in n else n["cost_ram"], "a size")
                self.ops[name] = dict(duration=integer(n["duration"] if "duration" in n else n["cost_cpu"], "a duration"), inputs=[],
                                      outputs=[name], workspace=0, once=False, inplace=[])
            for e in d["links"] if "links" in d else d["edges"]:
                a, b = (e["0"], e["1"]) if "0" in e else (e["source"], e["target"])
                self.ops[str(b)]["inputs"].append(str(a))
            self.kept, order = set(), attributes.get("order")
            order = None if order is None else [str(x) for x in order]
        self.order = order
        self.maker = {t: name for name, o in self.ops.items() for t in o["outputs"]}
        for o in self.ops.values():
            for i, t in o["inplace"]:
                self.overwrites[t] = i
        self.resident = sum(s for t, s in self.size.items() if t not in self.maker and t not in self.view_of)

    def views(self, t):
        """t, what it is a view of, and so on to the tensor that owns the storage."""
        chain = [t]
        while chain[-1] in self.view_of:
            chain.append(self.view_of[chain[-1]])
        return chain

    def storage(self, t):
        return self.views(t)[-1]

    def bytes(self, storage):
        """What a storage takes beside the graph inputs, which are counted once and for all."""
        while storage in self.overwrites or storage in self.view_of:
            storage = self.overwrites.get(storage) or self.view_of[storage]
        return self.size[storage] if storage in self.maker else 0

    def used(self, op):
        """Tensors that an execution of the op needs: its inputs, and the bases of views that it makes of others' tensors."""
        o = self.ops[op]
        return list(o["inputs"]) + [b for b in (self.view_of.get(t) for t in o["outputs"]) if b and self.maker.get(b) != op]

    def stable_order(self):
        index = {name: i for i, name in enumerate(self.ops)}
        names = list(self.ops)
        before = {name: {self.maker[t] for t in self.used(name) if t in self.maker} - {name} for name in names}
        after = {name: [] for name in names}
        for name, makers in before.items():
            for m in makers:
                after[m].append(name)
        left = {name: len(m) for name, m in before.items()}
        ready = [index[n] for n in names if not left[n]]
        heapq.heapify(ready)
        out = []
        while ready:
            name = names[heapq.heappop(ready)]
            out.append(name)
            for x in after[name]:
                left[x] -= 1
                if not left[x]:
                    heapq.heappush(ready, index[x])
        return out


def check(graph, c):
    need(c.get("format") == "ebbtide-certificate" and c.get("version") == 1, "no certificate of version 1")
    need(c.get("kind") == "gap-cover" and c.get("order") == "fixed", "not a gap-cover certificate for the fixed order")
    order = graph.order or c.get("sequence") or graph.stable_order()
    need(sorted(order) == sorted(graph.ops), "the order does not hold each op once")
    rank = {op: i for i, op in enumerate(order)}
    end = len(order)
    for op in order:
        for t in graph.used(op):
            need(t not in graph.maker or graph.maker[t] == op or rank[graph.maker[t]] < rank[op], f"the order has {op} before the maker of {t}")
    budget = integer(c["budget"], "the budget")
    cost_scale, price_scale = integer(c["cost_scale"], "cost_scale", 1), integer(c["price_scale"], "price_scale", 1)
    need(price_scale % cost_scale == 0, "price_scale is no multiple of cost_scale")

    # Rows: what the op itself needs beside the graph inputs.
    price, held = [0] * end, {}
    for r in c["rows"]:
        row = rank[r["op"]]
        need(row not in held, f"two rows for {r['op']}")
        price[row] = integer(r["price"], "a price")
        o = graph.ops[r["op"]]
        held[row] = {graph.storage(t) for t in graph.used(r["op"]) + o["outputs"]}
    value = 0
    for row, storages in held.items():
        o = graph.ops[order[row]]
        own = sum(graph.bytes(s) for s in storages) + o["workspace"] - sum(graph.bytes(t) for _, t in o["inplace"])
        value += price[row] * (graph.resident + own - budget)
    earned = [0]
    for p in price:
        earned.append(earned[-1] + p)
    priced = sorted(held)

    def rows_between(after, before):
        return priced[bisect.bisect_right(priced, after):bisect.bisect_left(priced, before)]

    windows = {}  # op -> (begin, end, share): reruns between these positions
    def position(claim, key):
        return end if claim[key] is None else rank[claim[key]]

    for claim in c["claims"]:
        storage, after, before = claim["tensor"], rank[claim["after"]], position(claim, "before")
        need(storage not in graph.view_of and storage in graph.maker, f"{storage} has no storage of its own")
        need(rank[graph.maker[storage]] <= after < before, f"the claim on {storage} does not lie between a use and a use")
        read = graph.kept if claim["before"] is None else graph.used(claim["before"])
        chains = [graph.views(t) for t in read if graph.storage(t) == storage]
        need(chains, f"nobody reads {storage} at the end of its claim")
        # Whichever name is read there, its maker and those of the names it views run again: all were made before.
        makers = [{graph.maker[t] for t in chain} for chain in chains]
        for m in makers:
            need(all(rank[x] <= after for x in m), f"a view of {storage} is only made within its claim")
        rerun = set().union(*makers)  # all of these names are read, so all of these ops run again
        for row in rows_between(after, before):
            need(storage not in held[row], f"{storage} is counted twice at {order[row]}")
            held[row].add(storage)
        total = earned[before] - earned[after + 1]
        gain = graph.bytes(storage) * total
        value += gain
        if "pinned_by" in claim:
            need(claim["pinned_by"] in rerun and graph.ops[claim["pinned_by"]]["once"], f"{storage} is not pinned by {claim['pinned_by']}")
            continue
        cost = 0
        for charge in claim["charges"]:
            need(charge["op"] in rerun, f"the claim on {storage} charges {charge['op']}, which need not run again")
            share = integer(charge["share"], "a share")
            cost += share
            windows.setdefault(charge["op"], []).append((after + 1, before, share))
        need(len({x["op"] for x in claim["charges"]}) == len(claim["charges"]), f"the claim on {storage} charges an op twice")
        value -= max(0, gain - cost * (price_scale // cost_scale))

    forced = 0
    for f in c["forced"]:
        storage, after, before = f["tensor"], rank[f["after"]], position(f, "before")
        need(after < before and graph.maker.get(storage) == f["op"] and storage not in graph.view_of, f"forced rerun of {f['op']}: not the maker")
        need(any(i == storage for i, _ in graph.ops[f["after"]]["inplace"]), f"{f['after']} does not take over {storage}")
        need(storage in (graph.kept if f["before"] is None else graph.ops[f["before"]]["inputs"] + graph.used(f["before"])), f"{storage} is not read after it was taken over")
        forced += graph.ops[f["op"]]["duration"]
        windows.setdefault(f["op"], []).append((after, before, graph.ops[f["op"]]["duration"] * cost_scale))

    # At no time may more than its duration be charged to an op.
    for op, spans in windows.items():
        events = sorted([(a, 1, s) for a, _, s in spans] + [(b, 0, -s) for _, b, s in spans])
        load_now = 0
        for _, _, s in events:
            load_now += s
            need(load_now <= graph.ops[op]["duration"] * cost_scale, f"more than the duration of {op} is charged at once")

    extra = max(0, -(-value // price_scale)) + forced
    unit = math.gcd(*[o["duration"] for o in graph.ops.values() if not o["once"]]) if graph.ops else 0
    if unit:
        extra = -(-extra // unit) * unit
    base = sum(o["duration"] for o in graph.ops.values())
    need(base == c["base_duration"], f"base_duration is {base}")
    need(integer(c["lower_bound"], "lower_bound") <= base + extra, f"lower_bound {c['lower_bound']} is not proved, only {base + extra} is")
    return base, extra


def command(argv, doc, prove):
    """The command line of a checker: prove(graph, path) gives what follows "proved: ", or raises what is wrong."""
    quiet = "--quiet" in argv
    paths = [a for a in argv if a != "--quiet"]
    if len(paths) != 2:
        print(doc, file=sys.stderr)
        return 2
    try:
        proved = prove(Graph(load(paths[0])), paths[1])
    except (Wrong, KeyError, TypeError, ValueError, OSError, EOFError, lzma.LZMAError) as e:
        print(f"{paths[1]}: not proved: {type(e).__name__ if not isinstance(e, Wrong) else ''} {e}".replace("  ", " "))
        return 1
    if not quiet:
        print(f"{paths[1]}: proved: {proved}")
    return 0


def prove(graph, path):
    c = load(path)
    base, extra = check(graph, c)
    return (f"with {c['budget']} bytes every plan in the given order takes at least {base + extra} "
            f"({100.0 * extra / base if base else 0:.4f} % above one run of each op)")


if __name__ == "__main__":
    sys.exit(command(sys.argv[1:], __doc__, prove))
