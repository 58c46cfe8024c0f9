# SPDX-License-Identifier: Apache-2.0
"""Plans put into effect: a torch.fx graph and an ebbtide plan of it become the graph that does what the plan says.

    joint = ebbtide_torch.trace_joint_graph(model, args)
    ebbtide_torch.save(ebbtide_torch.export(joint), "step.json")       # ebbtide solve step.json --budget 0.7 -o plan.json
    faster_to_fit = ebbtide_apply.apply(joint, json.load(open("plan.json")))

or, where a compiler asks for a partition of the joint graph into forward and backward:

    aot_function(f, fw_compiler, bw_compiler, partition_fn=ebbtide_apply.partition_fn(plan))

An execution of the plan becomes one node, in the plan's order; a repeat is a copy of its op's node. Every argument is the
copy that the plan names as its maker, so that a value is dead after its last reader in the plan and the memory is what
the plan says. Graphs that write in place are refused: a compiler's joint graph does not.
"""
import copy
import operator

import torch
import torch.utils._pytree as pytree

import ebbtide_torch


class PlanError(ValueError):
    """The plan is not one of this graph."""


def apply(graph_module, plan):
    """A new torch.fx.GraphModule with the parameters of `graph_module` that computes the same, as `plan` (the JSON of a plan
    file) has it. node.meta["ebbtide_execution"] is the execution's number in the plan. Raises PlanError."""
    replay = _Replay(graph_module.graph, plan["executions"])
    return torch.fx.GraphModule(graph_module, replay.run())


def partition_fn(plan):
    """For aot_function and compiler backends: splits the joint graph that `plan` is of where the plan's first execution
    needs a gradient from outside. What stands before it and is read after it is kept for the backward pass; everything
    else the backward pass makes again, as the plan says."""

    def partition(joint, _inputs, *, num_fwd_outputs, **_more):
        from torch._functorch.partitioners import _extract_fwd_bwd_modules
        planned = apply(joint, plan)
        late, kept = set(), []
        for node in planned.graph.nodes:
            tangent = node.op == "placeholder" and "tangents" in str(node.target)
            if tangent or any(n in late for n in node.all_input_nodes):
                late.add(node)
        order = list(planned.graph.nodes)
        begin = next((i for i, n in enumerate(order) if n in late and n.op not in ("placeholder", "output")), len(order))
        after = {n for n in order[begin:] if n.op not in ("placeholder", "get_attr", "output")}
        for node in order:
            if node not in after and node not in late and node.op not in ("get_attr", "output") and any(u in after for u in node.users):
                kept.append(node)
        tensors = [n for n in kept if isinstance(n.meta.get("val"), torch.Tensor)]
        symbols = [n for n in kept if n not in tensors]
        return _extract_fwd_bwd_modules(planned, tensors, symbols, num_fwd_outputs=num_fwd_outputs)

    return partition


class _Replay:
    def __init__(self, graph, executions):
        self.old, self.executions = graph, executions
        self.exporter = ebbtide_torch.exporter_of(graph)
        self.ops = {op["name"]: op for op in self.exporter.ops}
        self.nodes = {node.name: node for node in graph.nodes}
        self.new = torch.fx.Graph()
        self.copies = {}   # (execution, node) -> its node in the new graph; the node: an op's, or a getitem of it
        self.single = {}   # nodes that stand once: inputs, attributes, arithmetic on sizes
        self.latest = {}   # op's node -> its latest execution so far
        self.want()

    def want(self):
        """The plan is one of this graph."""
        seen = set()
        for i, execution in enumerate(self.executions):
            op = self.ops.get(execution["op"])
            if op is None:
                raise PlanError(f"execution {i} is of {execution['op']!r}, which the graph does not have")
            if len(execution["inputs"]) != len(op["inputs"]):
                raise PlanError(f"execution {i} of {op['name']!r} names {len(execution['inputs'])} makers for {len(op['inputs'])} inputs")
            if op.get("inplace"):
                raise PlanError(f"{op['name']!r} writes in place: functionalize the graph first")
            seen.add(op["name"])
        for name in self.ops:
            if name not in seen:
                raise PlanError(f"the plan never runs {name!r}")

    def run(self):
        later = []  # nodes without an op of their own, in their order: arithmetic on sizes
        for node in self.old.nodes:
            if node.op in ("placeholder", "get_attr"):
                self.single[node] = self.new.node_copy(node, None)
            elif node.op != "output" and node.name not in self.ops and not self.is_item(node):
                later.append(node)
        later = self.settle(later)
        for i, execution in enumerate(self.executions):
            node = self.nodes[execution["op"]]
            makers = dict(zip(self.ops[node.name]["inputs"], execution["inputs"]))
            repeat = self.new.node_copy(node, lambda a: self.argument(a, makers, i))
            repeat.meta["ebbtide_execution"] = i
            self.copies[i, node] = repeat
            self.latest[node] = i
            for user in node.users:  # at once, so that a result is not kept for the sake of another
                if self.is_item(user):
                    self.copies[i, user] = self.new.node_copy(user, lambda _, whole=repeat: whole)
            if later:
                later = self.settle(later)
        for node in self.old.nodes:
            if node.op == "output":
                self.new.node_copy(node, self.newest)
        for (_, node), item in self.copies.items():
            if self.is_item(node) and not item.users:
                self.new.erase_node(item)
        self.new.set_codegen(copy.deepcopy(self.old._codegen))  # called in the same way, as with a joint graph's two tuples
        self.new.lint()
        return self.new

    def is_item(self, node):
        """An element of an op's results: no op of its own in the plan."""
        return node.target is operator.getitem and isinstance(node.args[0], torch.fx.Node) and node.args[0].name in self.ops

    def argument(self, node, makers, execution):
        """The copy of `node` that an execution with these makers (tensor -> execution) reads."""
        if node in self.single:
            return self.single[node]
        by = {makers[t] for t in pytree.tree_leaves(self.exporter.of[node]) if t in makers}
        if len(by) != 1 or (by.copy().pop(), node) not in self.copies:
            raise PlanError(f"execution {execution} reads {node.name!r} of executions {sorted(by, key=str)}")
        return self.copies[by.pop(), node]

    def newest(self, node):
        if node in self.single:
            return self.single[node]
        op = node.args[0] if self.is_item(node) else node
        return self.copies[self.latest[op], node]

    def settle(self, later):
        """Copies those of the nodes whose arguments are all there by now; returns the others."""
        left = []
        for node in later:
            ready = all(a in self.single or (a.args[0] if self.is_item(a) else a) in self.latest for a in node.all_input_nodes)
            if ready:
                self.single[node] = self.new.node_copy(node, self.newest)
            else:
                left.append(node)
        return left
