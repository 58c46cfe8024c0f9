# SPDX-License-Identifier: Apache-2.0
"""Where the work comes from: graphs (files, generated, or made here) and the suites of instances made of them.

Every graph is brought to the native form once, so that all systems and both judges read the same file."""
import hashlib
import json
import os
import random
import subprocess
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from pathlib import Path

from side import copies, facts
from side.judge import Graph


EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "training_step.json"


class Missing(Exception):
    """A graph that is not there; the text says what to do."""


@dataclass(frozen=True)
class Source:
    name: str
    kind: str  # file, copies: args = path under the data folder, or anywhere; gen: flags of `ebbtide gen`; step: layers, micro
    args: tuple = ()


@dataclass(frozen=True)
class Instance:
    source: Source
    budget: str  # fraction with a decimal point, or bytes
    label: str = ""  # shown for a budget in bytes
    flags: tuple = ()  # of `ebbtide solve`, e.g. --minimise peak

    @property
    def name(self):
        return f"{self.source.name} @{self.label or self.budget}"


@dataclass
class Prepared:
    path: str
    given: str  # plan that runs each op once in the given order
    fingerprint: str
    ops: int
    edges: int
    base: int
    base_peak: int
    plain: bool

    def bytes_of(self, budget):
        if "." not in budget:
            return int(budget)
        return int((Decimal(budget) * self.base_peak).to_integral_value(ROUND_CEILING))


def call(args, limit=3600):
    p = subprocess.run([str(a) for a in args], capture_output=True, text=True, timeout=limit)
    if p.returncode:
        lines = (p.stderr or p.stdout).strip().splitlines()
        raise Missing(lines[-1] if lines else f"{args[0]} failed")
    return p.stdout


def training_step(layers, micro, seed=1):
    """A large training step, native form: blocks of twelve ops with two skips, their backward, `micro` times over."""
    rng = random.Random(seed)
    ops, tensors = [], []

    def add(reads, duration, size):
        name = str(len(ops))
        ops.append({"name": name, "duration": duration, "inputs": [str(r) for r in sorted(set(reads))], "outputs": [name]})
        tensors.append({"name": name, "size": size})
        return len(ops) - 1

    for _ in range(micro):
        x = add([], 1, 64)
        blocks = []
        for _ in range(layers):
            block = [x]
            for j in range(12):
                cost, size = rng.choice([1, 2, 4, 40, 80]), rng.choice([16, 64, 64, 128, 256])
                block.append(add([block[-1]] + ([block[0]] if j in (5, 11) else []), cost, size))
            blocks.append(block)
            x = block[-1]
        gradient = add([x], 5, 64)
        for block in reversed(blocks):
            for j in reversed(range(12)):
                gradient = add([gradient, block[j], block[j + 1]], 2 * ops[block[j + 1]]["duration"],
                               tensors[block[j]]["size"])
    return {"format": "ebbtide-graph", "version": 1, "name": f"training_step_{layers}_{micro}", "tensors": tensors,
            "ops": ops, "order": [o["name"] for o in ops]}


def find_file(data, name):
    place = Path(name)
    if place.is_absolute() or place.exists():
        return place
    for found in sorted(Path(data).glob(name)) if data else []:
        return found
    raise Missing(f"no {name} under {data or 'the data folder (--data)'}")


def prepare(source, program, data, folder):
    """Brings a graph to the native form in `folder`, once."""
    place = Path(folder) / "graphs"
    place.mkdir(parents=True, exist_ok=True)
    stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in source.name)
    origin = find_file(data, source.args[0]) if source.kind in ("file", "copies") else None
    mark = [source.kind, list(map(str, source.args))] + ([origin.stat().st_size] if origin else [])
    stem += "-" + hashlib.sha256(json.dumps(mark).encode()).hexdigest()[:8]
    path, given, meta = (place / (stem + end) for end in (".json", ".given.json", ".meta.json"))
    if meta.exists():
        return Prepared(**json.loads(meta.read_text()))
    part = path.with_suffix(f".part{os.getpid()}.json")
    if source.kind == "file":
        call([program, "convert", origin, "-o", part])
    elif source.kind == "copies":
        log = part.with_suffix(".log")
        copies.rewritten(origin, log)
        call([program, "convert", log, "-o", part])
        log.unlink()
    elif source.kind == "gen":
        call([program, "gen", *source.args, "-o", part])
    else:
        part.write_text(json.dumps(training_step(*source.args)))
    os.replace(part, path)
    # A budget of the whole peak is answered at once with the given order.
    call([program, "solve", path, "--budget", "1.0", "--log-format", "none", "-o", given])
    plan, graph = json.loads(given.read_text()), Graph(path)
    ready = Prepared(str(path), str(given), plan["graph"]["fingerprint"], len(graph.ops), graph.edges(), graph.base,
                     plan["peak"], graph.plain)
    part = meta.with_suffix(f".part{os.getpid()}")
    part.write_text(json.dumps(ready.__dict__))
    os.replace(part, meta)
    return ready


# ---- suites -------------------------------------------------------------------------------------------------------
def _file(name, path):
    return Source(name, "file", (path,))


def _gen(name, *args):
    return Source(name, "gen", args)


PAPER = [_file(f"RL G{i} n={n}", f"moccasin/random_layered_n{n}_*.json") for i, n in enumerate((100, 250, 500, 1000), 1)]
PAPER += [_file("ResNet50 train", "moccasin/ResNet50_256_train.json"),
          _file("FCN8 train", "moccasin/fcn_8_vgg_32_train.json")]


def _grid(sources, budgets):
    return [Instance(s, b) for s in sources for b in budgets]


SHARES = ("0.8", "0.6", "0.5", "0.4", "0.3", "0.2")


def _traces(kind="file", after=""):
    return [Instance(Source(name + after, kind, (f"dtr-logs/{name}.log.xz",)), str(int(peak * Decimal(f))), f)
            for name, peak in facts.DTR_PEAKS.items() for f in SHARES]


def _layered(n):
    return _gen(f"layered n={n}", "layered", "--ops", str(n), "--seed", "1")


SUITES = {
    "paper": lambda: _grid(PAPER, ("0.9", "0.8")),
    "traces": _traces,
    "copies": lambda: _traces("copies", ", copies"),
    "chains": lambda: _grid([_gen(f"chain {n}" + (" even" if seed == 0 else ""), "chain", "--layers", str(n), "--plain", "--seed", str(seed))
                             for n, seed in ((8, 1), (16, 0), (16, 1), (64, 0), (64, 1), (256, 1))], ("0.7", "0.5", "0.3")),
    "unets": lambda: _grid([_gen(f"unet {n}", "unet", "--layers", str(n), "--plain", "--seed", "1") for n in (2, 3, 5, 8)],
                           ("0.9", "0.7", "0.5")),
    "steps": lambda: _grid([Source(f"training step {n}", "step", (layers, micro))
                            for n, layers, micro in (("2k", 96, 1), ("10k", 96, 4), ("92k", 96, 40))], ("0.5", "0.2")),
    "orders": lambda: [Instance(_layered(n), "3.0", "least peak", ("--minimise", "peak", "--duration-limit", "{base}")) for n in (50, 100, 250, 500, 1000)],
    "caps": lambda: _grid(PAPER[:4], ("0.9", "0.8")) + _grid(PAPER[4:5], ("0.8", "0.5")) + _grid(PAPER[:1], ("0.7",)),
    "past250": lambda: _grid([_layered(n) for n in (100, 250, 500, 1000, 2000)], ("0.8",)) + _grid(PAPER[:4], ("0.9", "0.8")),
    "example": lambda: [Instance(Source("training_step", "file", (str(EXAMPLE),)), "0.6")],
    # Small and mixed, for development: what needs no files comes last and is there always.
    "quick": lambda: _grid(PAPER[:2], ("0.9", "0.8")) + _grid(PAPER[2:3], ("0.8",)) + _grid(PAPER[4:5], ("0.8", "0.3"))
        + _grid(PAPER[5:6], ("0.8",)) + _grid([_gen("chain 64", "chain", "--layers", "64", "--seed", "1"),
                                               _gen("unet 4", "unet", "--layers", "4", "--seed", "1"),
                                               _gen("transformer 6", "transformer", "--layers", "6", "--seed", "1"),
                                               _layered(300), Source("training step 2k", "step", (96, 1))], ("0.6",))
        + _grid([_layered(150)], ("0.8",)),
}
