# SPDX-License-Identifier: Apache-2.0
"""A judge of plans that shares nothing with the product: the model of docs/formats.md, read from the native files.

What an execution reads must be the value of the latest earlier execution of its maker and still hold; a storage lives
from its making to its last read, or to the end if it is an output; graph inputs live throughout."""
import json


class Refused(Exception):
    """The plan does not hold; the text says where."""


class Graph:
    def __init__(self, path):
        with open(path) as f:
            d = json.load(f)
        self.size = {t["name"]: int(t["size"]) for t in d["tensors"]}
        self.view_of = {t["name"]: t["view_of"] for t in d["tensors"] if t.get("view_of")}
        self.ops = {o["name"]: o for o in d["ops"]}
        self.maker = {t: o["name"] for o in d["ops"] for t in o["outputs"]}
        self.outputs = list(d.get("outputs", []))
        self.base = sum(int(o["duration"]) for o in d["ops"])
        self.plain = not self.view_of and not self.outputs and all(
            len(o["outputs"]) == 1 and not o.get("workspace") and not o.get("inplace") and o.get("recomputable", True)
            for o in d["ops"])

    def edges(self):
        return sum(len({self.maker[t] for t in o["inputs"] if t in self.maker}) for o in self.ops.values())


def judge(graph, plan, budget, order="fixed", given=None, most=None):
    """(duration, peak); raises Refused. given: names of the ops in the given order, for fixed and staged order."""
    storage, born, dies, size = {}, [], [], []  # tensor -> storage now, or None: holds no value; per storage

    def new(tensor, at):
        born.append(at), dies.append(at), size.append(graph.size[tensor])
        storage[tensor] = len(size) - 1

    end = len(plan["executions"])
    for tensor in graph.size:
        if tensor not in graph.maker and tensor not in graph.view_of:
            new(tensor, 0)
            dies[-1] = end
    for tensor in graph.size:
        root = tensor
        while tensor not in graph.maker and root in graph.view_of:
            root = graph.view_of[root]
        if root != tensor:
            storage[tensor] = storage[root]
    runs, latest, firsts = {}, {}, []
    duration = 0
    for at, execution in enumerate(plan["executions"]):
        op = graph.ops.get(execution["op"])
        if op is None:
            raise Refused(f"position {at}: no op {execution['op']}")
        name = op["name"]
        if len(execution["inputs"]) != len(op["inputs"]):
            raise Refused(f"position {at}: {name} has {len(op['inputs'])} inputs")
        for tensor, producer in zip(op["inputs"], execution["inputs"]):
            if not tensor:
                continue
            if storage.get(tensor) is None:
                raise Refused(f"position {at}: {name} reads {tensor}, which holds no value")
            if producer != latest.get(graph.maker.get(tensor), -1):
                raise Refused(f"position {at}: {name} reads {tensor} of {producer}, not the latest")
            dies[storage[tensor]] = max(dies[storage[tensor]], at)
        over = {b: a for a, b in op.get("inplace", [])}
        taken = {b: storage[a] for b, a in over.items()}
        for gone in taken.values():
            for tensor in [t for t, s in storage.items() if s == gone]:
                storage[tensor] = None
        for tensor in op["outputs"]:
            if tensor in taken:
                storage[tensor] = taken[tensor]
            elif tensor not in graph.view_of:
                new(tensor, at)
        for tensor in op["outputs"]:  # views of what is there, also of its own outputs
            root = graph.view_of.get(tensor)
            if root is not None and tensor not in taken:
                if storage.get(root) is None:
                    raise Refused(f"position {at}: {name} views {root}, which holds no value")
                storage[tensor] = storage[root]
            dies[storage[tensor]] = max(dies[storage[tensor]], at)
        if name not in runs:
            firsts.append(name)
        runs[name] = runs.get(name, 0) + 1
        latest[name] = at
        duration += int(op["duration"])
    for name, op in graph.ops.items():
        if not runs.get(name):
            raise Refused(f"{name} never runs")
        if runs[name] > 1 and not op.get("recomputable", True):
            raise Refused(f"{name} may run only once")
        if most and runs[name] > most:
            raise Refused(f"{name} runs {runs[name]} times, allowed are {most}")
    for tensor in graph.outputs:
        if storage.get(tensor) is None:
            raise Refused(f"output {tensor} holds no value at the end")
        dies[storage[tensor]] = end
    change = [0] * (end + 2)
    for s in range(len(size)):
        change[born[s]] += size[s]
        change[dies[s] + 1] -= size[s]
    peak = now = 0
    for at, execution in enumerate(plan["executions"]):
        now += change[at]
        peak = max(peak, now + int(graph.ops[execution["op"]].get("workspace", 0)))
    if order != "free" and given and firsts != list(given):
        raise Refused("the first executions leave the given order")
    if order == "staged" and given:
        rank, seen, last = {name: i for i, name in enumerate(given)}, set(), -1
        for execution in plan["executions"]:
            r = rank[execution["op"]]
            if execution["op"] in seen and r <= last:
                raise Refused("repeats within a stage leave the given order")
            last = r if execution["op"] in seen else -1
            seen.add(execution["op"])
    if plan["duration"] != duration or plan["peak"] != peak:
        raise Refused(f"says {plan['duration']} and {plan['peak']} bytes, is {duration} and {peak}")
    if peak > budget:
        raise Refused(f"over the budget by {100.0 * (peak / budget - 1):.1f} %" if budget else "over the budget")
    return duration, peak
