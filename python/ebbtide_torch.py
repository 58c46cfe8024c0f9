#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch training steps as ebbtide graphs.

    import ebbtide_torch
    joint = ebbtide_torch.trace_joint_graph(model, args)           # forward and backward in one torch.fx graph
    ebbtide_torch.save(ebbtide_torch.export(joint, name="step"), "step.json.xz")

or, for a module with a function that returns (model, args):

    python3 ebbtide_torch.py package.module:function -o step.json.xz

The joint graph is taken where the compiler's own partitioner would get it, traced with fake tensors: nothing is
computed and no memory is taken, so the model may be larger than the machine. What becomes of what:

* A node with a tensor is an op with a tensor of the same name; of a node with several results, `name.0`, `name.1`...
  (getitem is no op). Placeholders and attributes are graph inputs. What the graph returns are graph outputs.
* Sizes are bytes of the storages. Tensors that share a storage (fake tensors know) are views of the first of them.
* A function whose schema writes to an argument is in-place: it makes a new version of the argument's storage, and
  everything that reads the storage later reads that version. Versions of graph inputs (running statistics, parameters)
  are graph outputs: somebody outside wants them.
* Functions that draw random numbers (tag nondeterministic_seeded), collectives and effects may run only once.
* Durations come from a roofline of a machine, in nanoseconds: a launch plus the longer of flops and bytes; ops that only
  make views take none. `durations` (a dict from node name to nanoseconds) overrides them.
* The order is the traced one. Symbolic sizes count with their hints.
"""
import argparse
import dataclasses
import gzip
import importlib
import json
import lzma
import math
import os
import sys

try:
    import torch
except ImportError as error:  # said by main() and to importers alike
    raise ImportError("ebbtide_torch needs PyTorch 2.4 or later: pip install torch") from error

import torch.utils._pytree as pytree


@dataclasses.dataclass
class Machine:
    """Rates of the roofline. The defaults are one accelerator's: 156 Tflop/s, 2 TB/s, 2 microseconds a launch."""
    flops_per_second: float = 156e12
    bytes_per_second: float = 2e12
    launch_ns: float = 2000.0

    def nanoseconds(self, flops, moved):
        return math.ceil(self.launch_ns + 1e9 * max(flops / self.flops_per_second, moved / self.bytes_per_second))


def trace_joint_graph(model, args, loss=None, train=True):
    """The joint graph (torch.fx.GraphModule) of `loss(model(*args)).sum()`, traced with fake tensors.

    `model` is an nn.Module (real, on the meta device, or made under FakeTensorMode), `args` a tuple of its inputs,
    `loss` maps the model's output to a tensor (default: the output itself, or its first tensor).
    """
    from torch._functorch.aot_autograd import aot_function
    from torch._functorch.partitioners import default_partition
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    model.train(train)
    tensors = [t for t in [*model.parameters(), *model.buffers(), *pytree.tree_leaves(args)] if isinstance(t, torch.Tensor)]
    mode = next((t.fake_mode for t in tensors if isinstance(t, FakeTensor)), None) or FakeTensorMode(allow_non_fake_inputs=True)

    def fake(t):
        if not isinstance(t, torch.Tensor) or isinstance(t, FakeTensor):
            return t
        with mode:  # on the CPU: on the meta device gradients come out empty
            return torch.empty_strided(t.size(), t.stride(), dtype=t.dtype, device="cpu").requires_grad_(t.requires_grad)

    parameters = {k: fake(p.detach()).requires_grad_(p.requires_grad) for k, p in model.named_parameters()}
    buffers = {k: fake(b) for k, b in model.named_buffers()}
    fake_args = pytree.tree_map(fake, tuple(args))
    caught = []

    def step(state, inputs):
        out = torch.func.functional_call(model, (state[0], state[1]), inputs)
        if loss is not None:
            out = loss(out)
        else:
            out = next(t for t in pytree.tree_leaves(out) if isinstance(t, torch.Tensor) and t.is_floating_point())
        return out.sum()

    def partition(joint, inputs, **kwargs):
        caught.append(joint)
        return default_partition(joint, inputs, **kwargs)

    def nothing(graph_module, _inputs):
        return graph_module

    with mode:
        out = aot_function(step, nothing, nothing, partition_fn=partition)((parameters, buffers), fake_args)
        if not caught and out.requires_grad:  # some versions partition only when gradients are asked for
            out.backward()
    if not caught:
        raise RuntimeError("the step has no backward pass: no parameter or input requires a gradient")
    return caught[0]


def export(graph_module, name="", machine=None, durations=None):
    """The ebbtide-graph (a dict, ready for JSON) of a torch.fx graph whose nodes carry fake tensors in meta['val']."""
    return _Exporter(machine or Machine(), durations or {}).run(graph_module.graph, name)


def exporter_of(graph):
    """The exporter after a run over a torch.fx.Graph, without durations: which node is which op, which tensor is whose."""
    exporter = _Exporter(Machine(), {node.name: 0 for node in graph.nodes})
    exporter.run(graph, "")
    return exporter


def save(graph, path):
    """Writes `graph` as JSON; packed when the name ends in .xz or .gz; aside first, then renamed."""
    opener = lzma.open if str(path).endswith(".xz") else gzip.open if str(path).endswith(".gz") else open
    aside = f"{path}.part-{os.getpid()}"
    try:
        with opener(aside, "wt", encoding="utf-8") as f:
            rows = lambda key: ",\n".join(json.dumps(x) for x in graph[key])  # noqa: E731
            head = {k: v for k, v in graph.items() if k not in ("tensors", "ops", "outputs", "order")}
            f.write(json.dumps(head)[:-1])
            for key in ("tensors", "ops", "outputs", "order"):
                f.write(f',\n"{key}": [\n{rows(key)}]')
            f.write("}\n")
        os.replace(aside, path)
    finally:
        if os.path.exists(aside):
            os.remove(aside)


def _hint(size):
    """A size as an int; a symbolic one by its hint, 4096 without (as the compiler's partitioner does)."""
    if isinstance(size, int):
        return size
    hint = getattr(getattr(size, "node", None), "hint", None)
    return int(hint) if hint is not None else 4096


class _Exporter:
    def __init__(self, machine, durations):
        self.machine, self.durations = machine, durations
        self.tensors, self.ops, self.outputs = [], [], []
        self.names = set()
        self.root = {}      # storage -> the tensor that owns it, by name
        self.current = {}   # storage -> its newest version, by name; absent: nobody wrote to it
        self.storage = {}   # tensor name -> storage
        self.inputs = set() # storages of graph inputs
        self.of = {}        # node -> name, or list of names

    def run(self, graph, name):
        for node in graph.nodes:
            if node.op in ("placeholder", "get_attr"):
                self.of[node] = self.results(node, is_input=True)
            elif node.op == "output":
                self.finish(node)
            elif node.op in ("call_function", "call_module", "call_method"):
                self.op(node)
        return {"format": "ebbtide-graph", "version": 1, "name": name, "duration_unit": "ns", "tensors": self.tensors,
                "ops": self.ops, "outputs": self.outputs, "order": [op["name"] for op in self.ops]}

    def unique(self, name):
        candidate, n = name, 1
        while candidate in self.names:
            candidate, n = f"{name}@{n}", n + 1
        self.names.add(candidate)
        return candidate

    def results(self, node, is_input=False):
        """Declares the tensors of a node; returns their name or names (None for what is no tensor)."""
        value = node.meta.get("val")
        if isinstance(value, (tuple, list)):
            return [self.declare(f"{node.name}.{i}", v, is_input) for i, v in enumerate(value)]
        return self.declare(node.name, value, is_input)

    def declare(self, name, value, is_input):
        if not isinstance(value, torch.Tensor):
            return None
        name = self.unique(name)
        nbytes = _hint(value.numel()) * value.element_size()
        key = name
        if value.layout is torch.strided:
            storage = value.untyped_storage()
            key = storage._cdata
            nbytes = _hint(storage.nbytes())
            self.keep = getattr(self, "keep", [])
            self.keep.append(storage)  # so that its address is not given to another
        tensor = {"name": name, "size": nbytes}
        if key in self.root:
            tensor["view_of"] = self.current.get(key, self.root[key])
        else:
            self.root[key] = name
            if is_input:
                self.inputs.add(key)
        self.storage[name] = key
        self.tensors.append(tensor)
        return name

    def reads(self, node):
        """Names of the tensors that the node reads, in order, each once; what was overwritten by its newest version."""
        names = []
        for argument in node.all_input_nodes:
            for n in pytree.tree_leaves(self.of.get(argument)):
                if n is not None:
                    names.append(self.newest(n))
        return list(dict.fromkeys(names))

    def newest(self, name):
        return self.current.get(self.storage[name], name)

    def op(self, node):
        if node.target is getattr(sys.modules["operator"], "getitem"):
            parent = self.of.get(node.args[0])
            self.of[node] = parent[node.args[1]] if isinstance(parent, list) else parent
            return
        inputs = self.reads(node)
        written = self.written(node)
        before = len(self.tensors)
        known = set(self.root)
        inplace, outputs = [], []
        for key in written:  # a new version of each storage that the schema says is written to
            old = self.current.get(key, self.root[key])
            new = self.unique(f"{self.root[key]}.v")
            self.tensors.append({"name": new, "size": next(t["size"] for t in self.tensors if t["name"] == self.root[key])})
            self.storage[new] = key
            self.current[key] = new
            inplace.append([old, new])
            outputs.append(new)
            if old not in inputs:
                inputs.append(old)
        value = node.meta.get("val")
        if written and isinstance(value, torch.Tensor) and value.layout is torch.strided and value.untyped_storage()._cdata in written:
            self.of[node] = self.current[value.untyped_storage()._cdata]  # the function returns what it wrote to
        else:
            self.of[node] = self.results(node)
            outputs += [n for n in pytree.tree_leaves(self.of[node]) if n is not None]
        if not outputs:
            if not self.effect(node):
                return  # arithmetic on sizes: no tensors, no time
        made = self.tensors[before:]
        only_views = bool(made) and not written and all(self.storage[t["name"]] in known for t in made)
        op = {"name": node.name, "duration": self.duration(node, only_views), "inputs": inputs, "outputs": outputs}
        if inplace:
            op["inplace"] = inplace
        if self.once(node):
            op["recomputable"] = False
        self.ops.append(op)

    def written(self, node):
        """Storages that the function writes to, by its schema."""
        schema = getattr(node.target, "_schema", None)
        keys = []
        for i, argument in enumerate(schema.arguments if schema is not None else []):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            value = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name)
            for n in pytree.tree_leaves(value):
                for name in pytree.tree_leaves(self.of.get(n)) if isinstance(n, torch.fx.Node) else []:
                    if name is not None and self.storage[name] not in keys:
                        keys.append(self.storage[name])
        return keys

    @staticmethod
    def effect(node):
        """Prints, asserts and the like. (Node.is_impure would also count in-place and random functions.)"""
        return node.target in getattr(torch.fx.node, "_side_effectful_functions", ())

    def once(self, node):
        tags = getattr(node.target, "tags", ())
        text = str(node.target)
        random = torch.Tag.nondeterministic_seeded in tags and not self.drops_nothing(node)
        return (random or "c10d" in text or "rngprims" in text or "run_with_rng_state" in text
                or self.effect(node))

    @staticmethod
    def drops_nothing(node):
        """A fused attention or a dropout with probability 0 draws no random numbers."""
        for i, argument in enumerate(node.target._schema.arguments):
            if argument.name in ("dropout_p", "p"):
                default = argument.default_value if argument.has_default_value() else None
                return (node.args[i] if i < len(node.args) else node.kwargs.get(argument.name, default)) == 0
        return False

    def duration(self, node, only_views):
        if node.name in self.durations:
            return int(self.durations[node.name])
        if only_views:
            return 0
        value = lambda x: x.meta.get("val") if isinstance(x, torch.fx.Node) else x  # noqa: E731
        args, kwargs, out = pytree.tree_map(value, node.args), pytree.tree_map(value, node.kwargs), node.meta.get("val")
        moved = sum(_hint(t.numel()) * t.element_size() for t in pytree.tree_leaves((args, kwargs, out)) if isinstance(t, torch.Tensor))
        return self.machine.nanoseconds(self.flops(node, args, kwargs, out), moved)

    @staticmethod
    def flops(node, args, kwargs, out):
        """By torch's own counter for products and convolutions; else one operation an element of the results."""
        from torch.utils.flop_counter import flop_registry
        packet = getattr(node.target, "overloadpacket", node.target)
        if packet in flop_registry:
            try:
                return _hint(flop_registry[packet](*args, **kwargs, out_val=out))
            except Exception:  # the counter has gaps for unusual arguments
                pass
        return sum(_hint(t.numel()) for t in pytree.tree_leaves(out) if isinstance(t, torch.Tensor))

    def finish(self, node):
        wanted = []
        for argument in node.all_input_nodes:
            wanted += [self.newest(n) for n in pytree.tree_leaves(self.of.get(argument)) if n is not None]
        wanted += [self.current[key] for key in self.current if key in self.inputs]
        made = {t for op in self.ops for t in op["outputs"]}
        self.outputs = [n for n in dict.fromkeys(wanted) if n in made]


def main():
    parser = argparse.ArgumentParser(description="a PyTorch training step as an ebbtide graph")
    parser.add_argument("source", help="package.module:function; the function returns (model, args)")
    parser.add_argument("-o", "--output", required=True, help="graph file (.xz, .gz: packed)")
    parser.add_argument("--name", default="")
    parser.add_argument("--flops", type=float, default=156e12, help="arithmetic operations a second")
    parser.add_argument("--bandwidth", type=float, default=2e12, help="bytes a second")
    parser.add_argument("--launch", type=float, default=2000, help="nanoseconds that every op costs")
    a = parser.parse_args()
    module, _, function = a.source.partition(":")
    if not function:
        parser.error(f"'{a.source}' is no package.module:function")
    sys.path.insert(0, os.getcwd())
    model, args = getattr(importlib.import_module(module), function)()
    graph = export(trace_joint_graph(model, args), a.name or function, Machine(a.flops, a.bandwidth, a.launch))
    save(graph, a.output)
    print(f"{a.output}: {len(graph['ops'])} ops, {len(graph['tensors'])} tensors", file=sys.stderr)


if __name__ == "__main__":
    main()
