#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exporter on real models: usage torch_export_test.py EBBTIDE VENV.

PyTorch is looked for in this order: the interpreter that EBB_TORCH_PYTHON names, this interpreter, VENV, and, with
EBB_TEST_INSTALL_TORCH=1, a VENV that is made now (about 3 minutes and 3 GB). Without any the test is skipped (77) and says so.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

SKIP = 77
PACKAGES = ["torch", "typing_extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec", "filelock", "numpy"]
# A build for accelerators loads these even where it only uses the processor.
LIBRARIES = ["nvidia-cufile", "nvidia-cusparselt-cu13", "nvidia-nvshmem-cu13", "nvidia-nccl-cu13"]


def environment(python):
    """The environment in which `python` finds the libraries of its own packages."""
    found = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True)
    env = dict(os.environ)
    folders = glob.glob(os.path.join(found.stdout.strip(), "nvidia", "*", "lib"))
    env["LD_LIBRARY_PATH"] = ":".join(folders + [p for p in [env.get("LD_LIBRARY_PATH")] if p])
    return env


def has_torch(python):
    try:
        run = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, env=environment(python))
    except OSError:
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def find_python(venv):
    inside = os.path.join(venv, "bin", "python")
    candidates = [p for p in [os.environ.get("EBB_TORCH_PYTHON"), sys.executable, inside] if p]
    for python in candidates:
        if has_torch(python):
            return python
    if os.environ.get("EBB_TEST_INSTALL_TORCH") == "1":
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        for group in (PACKAGES, LIBRARIES):
            run = subprocess.run([inside, "-m", "pip", "install", "-q", "--no-deps", *group])
            if run.returncode:
                break
        if has_torch(inside):
            return inside
        print("skipped: PyTorch could not be installed")
        sys.exit(SKIP)
    print("skipped: no PyTorch in", ", ".join(candidates), "(EBB_TORCH_PYTHON names another, EBB_TEST_INSTALL_TORCH=1 installs one)")
    sys.exit(SKIP)


def check(condition, *what):
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)


def structure(graph):
    """What every graph owes: one maker, declared names, views of earlier tensors, numbers that are whole."""
    tensors, made = {}, {}
    for t in graph["tensors"]:
        check(t["name"] not in tensors, "tensor twice:", t["name"])
        check(isinstance(t["size"], int) and t["size"] >= 0, t)
        check(t.get("view_of") is None or t["view_of"] in tensors, t)
        tensors[t["name"]] = t
    ready = None
    for o in graph["ops"]:
        check(isinstance(o["duration"], int) and o["duration"] >= 0, o)
        for x in o["outputs"]:
            check(x in tensors and x not in made, "made twice or not declared:", x)
            made[x] = o["name"]
    ready = {t for t in tensors if t not in made}
    for o in graph["ops"]:
        for x in o["inputs"]:
            check(x in ready, o["name"], "reads", x, "before it is made")
        ready.update(o["outputs"])
    return tensors, made


def info(ebbtide, graph, folder):
    import ebbtide_torch
    path = os.path.join(folder, "g.json.xz")
    ebbtide_torch.save(graph, path)
    run = subprocess.run([ebbtide, "info", path, "--json"], capture_output=True, text=True)
    check(run.returncode == 0, run.stderr)
    check("warning" not in run.stderr, run.stderr)
    run = subprocess.run([ebbtide, "convert", path, "-o", os.path.join(folder, "h.json")], capture_output=True, text=True)
    check(run.returncode == 0, run.stderr)
    with open(os.path.join(folder, "h.json"), encoding="utf-8") as f:
        again = json.load(f)
    check([o["name"] for o in again["ops"]] == graph["order"], "other ops after convert")
    check(sum(o["duration"] for o in again["ops"]) == sum(o["duration"] for o in graph["ops"]), "other durations after convert")
    plan = os.path.join(folder, "p.json")
    run = subprocess.run([ebbtide, "solve", path, "--budget", "0.9", "--time-limit", "2", "-o", plan], capture_output=True, text=True)
    check(run.returncode in (0, 4, 5), "solve:", run.returncode, run.stderr[-500:])
    if run.returncode == 0:
        run = subprocess.run([ebbtide, "check", path, plan], capture_output=True, text=True)
        check(run.returncode == 0, "check:", run.stdout, run.stderr)


def solved(ebbtide, graph, folder):
    """A plan for the least budget of a few that has one."""
    import ebbtide_torch
    path, plan = os.path.join(folder, "g.json"), os.path.join(folder, "p.json")
    ebbtide_torch.save(graph, path)
    for budget in ("0.7", "0.75", "0.8", "0.85", "0.9", "0.95"):
        run = subprocess.run([ebbtide, "solve", path, "--budget", budget, "--time-limit", "10", "-o", plan], capture_output=True, text=True)
        if run.returncode == 0:
            with open(plan, encoding="utf-8") as f:
                return json.load(f)
        check(run.returncode in (4, 5), "solve:", run.returncode, run.stderr[-500:])
    check(False, "no plan", run.stderr[-500:])


def applied(ebbtide, folder):
    """A plan put into effect computes the same, runs what the plan runs, and holds no more than the plan says."""
    import torch
    import torch.utils._pytree as pytree
    from torch import nn
    import ebbtide_apply
    import ebbtide_torch

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm, self.last = nn.Linear(32, 128), nn.LayerNorm(128), nn.Linear(64, 8)
            self.attention = nn.MultiheadAttention(128, 2, batch_first=True)

        def forward(self, x):
            y = torch.relu(self.first(x))
            y = self.norm(y + self.attention(y, y, y, need_weights=False)[0])
            a, b = y.chunk(2, dim=-1)  # several results
            return self.last(torch.tanh(a) * torch.sigmoid(b))

    torch.manual_seed(1)
    joint = ebbtide_torch.trace_joint_graph(Model(), (torch.randn(64, 16, 32),))
    graph = ebbtide_torch.export(joint, "applied")
    plan = solved(ebbtide, graph, folder)
    check(len(plan["executions"]) > len(graph["ops"]), "no repeats in the plan")
    again = ebbtide_apply.apply(joint, plan)
    order = [n.meta["ebbtide_execution"] for n in again.graph.nodes if "ebbtide_execution" in n.meta]
    check(order == list(range(len(plan["executions"]))), "executions in order, each once")
    inputs = [torch.randn(n.meta["val"].shape) for n in joint.graph.nodes if n.op == "placeholder"]
    run = lambda module: pytree.tree_leaves(torch.fx.Interpreter(module).run(*inputs, enable_io_processing=False))  # noqa: E731
    for x, y in zip(run(joint), run(again), strict=True):
        check(x is None and y is None or torch.equal(x, y), "another result")

    def execution(node):  # of an op's copy, or of an element of its results
        return node.meta["ebbtide_execution"] if "ebbtide_execution" in node.meta else execution(node.args[0])

    for node in again.graph.nodes:
        if "ebbtide_execution" in node.meta:
            made = {execution(a) for a in node.all_input_nodes if a.op == "call_function"}
            wanted = {p for p in plan["executions"][node.meta["ebbtide_execution"]]["inputs"] if p >= 0}
            check(made == wanted, "makers of", node, made, wanted)

    for broken, word in ((dict(plan, executions=plan["executions"][1:]), "reads"),
                         (dict(plan, executions=[dict(e, op="stranger") for e in plan["executions"]]), "stranger")):
        try:
            ebbtide_apply.apply(joint, broken)
            check(False, "a plan that does not fit is taken")
        except ebbtide_apply.PlanError as error:
            check(word in str(error) or "never runs" in str(error), str(error))


def partitioned(ebbtide, folder):
    """Forward and backward by a plan: the gradients are those without it, and less is kept between the two."""
    import torch
    from torch import nn
    from torch._functorch.aot_autograd import aot_function
    from torch._functorch.partitioners import default_partition
    import ebbtide_apply
    import ebbtide_torch

    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
    parameters = {k: p.detach().clone().requires_grad_() for k, p in model.named_parameters()}
    x = torch.randn(2048, 32)

    def step(p, inputs):
        return torch.func.functional_call(model, p, inputs).sum()

    plan, kept = {}, {}

    def solve_then_partition(joint, inputs, **more):
        plan.update(solved(ebbtide, ebbtide_torch.export(joint, "step"), folder))
        return ebbtide_apply.partition_fn(plan)(joint, inputs, **more)

    def gradients(name, partition):
        def count(joint, inputs, **more):
            forward, backward = partition(joint, inputs, **more)
            values = [n.meta["val"] for n in backward.graph.nodes if n.op == "placeholder" and "tangents" not in str(n.target)]
            kept[name] = sum({v.untyped_storage()._cdata: v.untyped_storage().nbytes() for v in values if isinstance(v, torch.Tensor)}.values())
            return forward, backward

        for p in parameters.values():
            p.grad = None
        aot_function(step, lambda g, _: g, lambda g, _: g, partition_fn=count)(parameters, (x,)).backward()
        return [p.grad.clone() for p in parameters.values()]

    plain, by_plan = gradients("plain", default_partition), gradients("plan", solve_then_partition)
    check(all(torch.equal(a, b) for a, b in zip(plain, by_plan, strict=True)), "other gradients")
    check(kept["plan"] < kept["plain"], "nothing saved", kept)


def inside(ebbtide):
    import torch
    from torch import nn
    from torch.fx.experimental.proxy_tensor import make_fx
    import ebbtide_torch

    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
            self.norm1, self.norm2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

        def forward(self, x):
            return torch.relu_(self.norm2(self.conv2(torch.relu_(self.norm1(self.conv1(x))))) + x)

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.LSTMCell(8, 16), nn.Linear(16, 4)

        def forward(self, x):
            h = c = torch.zeros(x.shape[1], 16)
            for step in x.split(1):
                h, c = self.cell(step.squeeze(0), (h, c))
            return self.out(h)

    with tempfile.TemporaryDirectory() as folder:
        # A residual network: batch norm has several results and updates its statistics.
        model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), *[Block(8) for _ in range(3)], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
        graph = ebbtide_torch.export(ebbtide_torch.trace_joint_graph(model, (torch.randn(4, 3, 16, 16),)), "resnet")
        tensors, made = structure(graph)
        check(any(len(o["outputs"]) > 2 for o in graph["ops"]), "no op with several outputs")
        check(sum(t.startswith("primals") for t in tensors) >= 15, "parameters and statistics are graph inputs")
        gradients = [t for t in graph["outputs"] if t in made]
        check(len(gradients) >= len(list(model.parameters())), "gradients are outputs", len(gradients))
        first = next(o for o in graph["ops"] if o["name"] == "convolution")
        size = tensors["convolution"]["size"]
        check(size == 4 * 8 * 16 * 16 * 4, "size of the first convolution", size)
        flops, moved = 2 * 4 * 8 * 16 * 16 * 27, 4 * (4 * 3 * 256 + 8 * 27 + 8 + 4 * 8 * 256)
        check(first["duration"] == ebbtide_torch.Machine().nanoseconds(flops, moved), "duration of the first convolution", first)
        views = [t for t in tensors.values() if "view_of" in t]
        check(views and all(next(o for o in graph["ops"] if t["name"] in o["outputs"])["duration"] == 0 for t in views if t["name"] in made), "views take no time")
        check(all(o.get("recomputable", True) for o in graph["ops"]), "nothing is random here")
        info(ebbtide, graph, folder)

        # A transformer with dropout: random ops may run only once.
        layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.1, batch_first=True)
        graph = ebbtide_torch.export(ebbtide_torch.trace_joint_graph(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), (torch.randn(2, 8, 32),)), "gpt")
        structure(graph)
        once = [o["name"] for o in graph["ops"] if not o.get("recomputable", True)]
        check(len(once) == 8 and all("dropout" in n or "bernoulli" in n or "rand" in n for n in once), "random ops", once)
        info(ebbtide, graph, folder)

        # Without dropout in evaluation mode nothing is random.
        graph = ebbtide_torch.export(ebbtide_torch.trace_joint_graph(nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), (torch.randn(2, 8, 32),), train=False), "eval")
        check(all(o.get("recomputable", True) for o in graph["ops"]), "dropout is off")

        graph = ebbtide_torch.export(ebbtide_torch.trace_joint_graph(Recurrent(), (torch.randn(6, 3, 8),)), "lstm")
        structure(graph)
        info(ebbtide, graph, folder)

        # In-place: a graph that was not functionalized, with a view that is written through and an input that is updated.
        def f(x, state):
            y = x * 2
            z = y.view(-1)
            z.relu_()
            w = y + 1          # reads what relu_ wrote
            state.add_(w.sum())
            return w, y

        graph = ebbtide_torch.export(make_fx(f, tracing_mode="fake")(torch.randn(4, 4), torch.zeros(())), "inplace", durations={"mul": 77})
        tensors, made = structure(graph)
        ops = {o["name"]: o for o in graph["ops"]}
        check(ops["mul"]["duration"] == 77, "measured durations count")
        check(all(o.get("recomputable", True) for o in graph["ops"]), "in-place is not once")
        check(ops["relu_"]["inplace"] == [["mul", "mul.v"]], ops["relu_"])
        check("mul.v" in ops["add"]["inputs"] and "mul" not in ops["add"]["inputs"], ops["add"])
        check(ops["add_"]["inplace"][0][0].startswith("state") or ops["add_"]["inplace"][0][0] in tensors, ops["add_"])
        check(ops["add_"]["inplace"][0][1] in graph["outputs"], "the updated input is an output", graph["outputs"])
        check("mul.v" in graph["outputs"], "y is returned as it is after relu_", graph["outputs"])
        info(ebbtide, graph, folder)
        applied(ebbtide, folder)
        partitioned(ebbtide, folder)
    print("torch", torch.__version__, "7 passed, 0 failed")


def main():
    ebbtide, venv = sys.argv[1:3]
    if os.environ.get("EBB_TORCH_INSIDE") != "1":
        python = find_python(venv)
        env = environment(python)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")
        env.update(EBB_TORCH_INSIDE="1", PYTHONPATH=source, PYTHONDONTWRITEBYTECODE="1")
        sys.exit(subprocess.run([python, os.path.abspath(__file__), ebbtide, venv], env=env).returncode)
    inside(ebbtide)


main()
