# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: a folder of their own, the command's calls, small graphs, the list of tests.

A test file is called as FILE EBBTIDE SOURCE_DIR [TEST...]."""
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback

EBBTIDE, SOURCE = sys.argv[1:3]
TMP = tempfile.TemporaryDirectory()
TESTS = []


class Skip(Exception):
    """The test cannot be had here; says why."""


def test(f):
    TESTS.append(f)
    return f


def path(name):
    return os.path.join(TMP.name, name)


def run(*args, stdin=None, timeout=300, before=None, **more):
    """Exit code, standard output, standard error. `before` runs in the child."""
    p = subprocess.run([EBBTIDE, *map(str, args)], stdout=more.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, text=True,
                       timeout=timeout, input=stdin, preexec_fn=before, **more)
    return p.returncode, p.stdout, p.stderr


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return path(name)


def op(name, inputs, outputs, duration=1, **more):
    return dict(name=name, duration=duration, inputs=inputs, outputs=outputs, **more)


def tensor(name, size, **more):
    return dict(name=name, size=size, **more)


def graph(ops, tensors, **more):
    return dict(format="ebbtide-graph", version=1, ops=ops, tensors=tensors, **more)


FINE = graph([op("f", [], ["a"]), op("h", ["a"], ["b"])], [tensor("a", 4), tensor("b", 4)])


def chain(n, size=10):
    """n steps forward, n back; the step back i reads what the step forward i made."""
    ops, tensors = [], []
    for i in range(n):
        ops.append(op(f"f{i}", [f"a{i - 1}"] if i else [], [f"a{i}"], 3 + i % 4))
        tensors.append(tensor(f"a{i}", size + i % 3))
    for i in reversed(range(n)):
        ops.append(op(f"b{i}", [f"a{i}"] + ([f"g{i + 1}"] if i + 1 < n else []), [f"g{i}"], 5))
        tensors.append(tensor(f"g{i}", size))
    return graph(ops, tensors, name="chain", outputs=["g0"])


def follow(g, plan):
    """Duration and peak by the plan's own producers and deaths; asserts that every read is served."""
    ops = {o["name"]: o for o in g["ops"]}
    sizes = {t["name"]: t["size"] for t in g["tensors"]}
    dies = {}
    for f in plan["frees"]:
        dies[(f["execution"], f["tensor"])] = f["after"]
    live, peak, duration, maker = {}, 0, 0, {t: o["name"] for o in g["ops"] for t in o["outputs"]}
    for i, e in enumerate(plan["executions"]):
        o = ops[e["op"]]
        assert len(e["inputs"]) == len(o["inputs"])
        for t, p in zip(o["inputs"], e["inputs"]):
            assert (p, t) in live and plan["executions"][p]["op"] == maker[t], f"position {i}: {t} of {p} is not there"
        for t in o["outputs"]:
            live[(i, t)] = sizes[t]
        peak = max(peak, sum(live.values()))
        duration += o["duration"]
        for key in [k for k in live if dies.get(k, len(plan["executions"])) == i]:
            del live[key]
    assert {e["op"] for e in plan["executions"]} == set(ops)
    return duration, peak


def refused(words, *args, codes=(2, 3)):
    out_file = path("refused.json")
    code, out, err = run(*args, "-o", out_file)
    assert code in codes, (args, code, err)
    assert err.startswith("ebbtide: error: ") and err.count("\n") == 1, (args, err)
    for word in words:
        assert word.lower() in err.lower(), (args, word, err)
    assert out == "" and not os.path.exists(out_file), args


def main():
    wanted = sys.argv[3:]
    failed = 0
    for t in TESTS:
        if wanted and t.__name__ not in wanted:
            continue
        start = time.time()
        try:
            t()
            print(f"ok    {t.__name__} ({time.time() - start:.1f} s)", flush=True)
        except Skip as e:
            print(f"skip  {t.__name__}: {e}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {t.__name__}", flush=True)
            traceback.print_exc()
    print(f"{failed} failed" if failed else "all held")
    sys.exit(failed > 0)
