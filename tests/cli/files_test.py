#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the command reads: flags and files that are refused, every format, pipes, ONNX where it is built in.

usage: files_test.py EBBTIDE SOURCE_DIR [TEST...]
"""
import json

from harness import chain, FINE, graph, main, op, path, refused, run, Skip, tensor, test, TMP, write


@test
def bad_flags_exit_2():
    file = write("g.json", json.dumps(FINE))
    for words, *args in (
            (["budget"], "--budget", "-1"), (["budget"], "--budget", "nan"), (["budget"], "--budget", "lots"),
            (["budget"], "--budget", ""), (["budget"], "--budget", "1e999"), (["budget"], "--budget", "9999999999999999999"),
            (["budget"],), (["threads"], "--budget", "9", "--threads", "0"), (["threads"], "--budget", "9", "--threads", "x"),
            (["time-limit"], "--budget", "9", "--time-limit", "-1"), (["time-limit"], "--budget", "9", "--time-limit", "nan"),
            (["work-limit"], "--budget", "9", "--work-limit", "-1"), (["seed"], "--budget", "9", "--seed", "-1"),
            (["max-executions"], "--budget", "9", "--max-executions", "0"), (["order"], "--budget", "9", "--order", "sideways"),
            (["astrology"], "--budget", "9", "--method", "astrology"), (["frobnicate"], "--budget", "9", "--frobnicate"),
            (["log-format"], "--budget", "9", "--log-format", "xml"), (["surplus"], "surplus", "--budget", "9")):
        refused(words, "solve", file, *args, codes=(2,))
    assert run()[0] == 2 and run("solve")[0] == 2
    code, out, err = run("nonsense")
    assert code == 2 and "'nonsense'" in err
    assert run("gen", "nonsense")[0] == 2 and run("gen", "layered", "--ops", -4)[0] == 2


@test
def bad_files_exit_3():
    deep = "[" * 100000
    for words, text in (
            ([], ""), ([], "{"), ([], json.dumps(FINE)[:-20]), ([], "\x00\x01\x02PK"), ([], "[1,2,3]"), ([], deep),
            (["f", "zzz"], json.dumps(graph([op("f", ["zzz"], ["a"])], [tensor("a", 1)]))),
            (["a"], json.dumps(graph([op("f", [], ["a"]), op("h", [], ["a"])], [tensor("a", 1)]))),
            (["cycle", "A", "B"], json.dumps(graph([op("A", ["b"], ["a"]), op("B", ["a"], ["b"])], [tensor("a", 1), tensor("b", 1)]))),
            (["a"], json.dumps(graph([op("f", [], ["a"])], [tensor("a", -1)]))),
            (["a"], json.dumps(graph([op("f", [], ["a"])], [tensor("a", 1.5)]))),
            (["a"], json.dumps(graph([op("f", [], ["a"])], [tensor("a", None)]))),
            (["a"], json.dumps(graph([op("f", [], ["a"])], [dict(name="a")]))),
            (["f"], json.dumps(graph([op("f", [], ["a"], -3)], [tensor("a", 1)]))),
            (["overflow"], json.dumps(graph([op("f", [], ["a", "b"])], [tensor("a", 2**62), tensor("b", 2**62)]))),
            (["overflow"], json.dumps(graph([op("f", [], ["a"], 2**62), op("h", ["a"], ["b"], 2**62)], [tensor("a", 1), tensor("b", 1)]))),
            (["h", "q"], json.dumps(graph([op("f", [], ["a"]), op("h", ["a"], ["b"], inplace=[["q", "b"]])],
                                          [tensor("a", 1), tensor("b", 1), tensor("q", 1)]))),
            ([], json.dumps(graph([op("f", [], ["a", "b"])], [tensor("a", 1, view_of="b"), tensor("b", 1, view_of="a")]))),
            ([], json.dumps(dict(FINE, order=["h", "f"]))), (["h"], json.dumps(dict(FINE, order=["f"]))),
            (["f"], json.dumps(graph([op("f", [], ["a"]), op("f", [], ["b"])], [tensor("a", 1), tensor("b", 1)]))),
            (["nope"], json.dumps(dict(FINE, outputs=["nope"]))), (["99"], json.dumps(dict(FINE, version=99))),
            (["7"], json.dumps(dict(nodes=[dict(id=0, cost_ram=1, cost_cpu=1)], links=[dict(source=0, target=7)], graph={})))):
        refused(words + ["bad.json"], "solve", write("bad.json", text), "--budget", "100", codes=(3,))
    refused(["absent.json"], "solve", path("absent.json"), "--budget", "100", codes=(3,))
    refused([], "solve", TMP.name, "--budget", "100", codes=(3,))
    file = write("g.json", json.dumps(FINE))
    refused(["hint.json"], "solve", file, "--budget", "9", "--hint", write("hint.json", "{}"), codes=(3,))
    code, out, err = run("solve", file, "--budget", "100", "-o", path("no/such/dir/p.json"))
    assert code == 3 and "no/such/dir/p.json" in err and err.count("\n") == 1
    code, out, err = run("solve", file, "--budget", "100", "-o", TMP.name)
    assert code == 3 and TMP.name in err
    for command in ("info", "convert"):
        code, out, err = run(command, path("absent.json"))
        assert code == 3 and "absent.json" in err and out == ""


@test
def deep_graphs_do_not_overflow_the_stack():
    n = 20000
    ops = [op(f"f{i}", [f"a{i - 1}"] if i else [], [f"a{i}"]) for i in range(n)]
    tensors = [tensor(f"a{i}", 1) for i in range(n)]
    tensors += [tensor(f"v{i}", 1, view_of=f"v{i - 1}" if i else "a0") for i in range(n)]
    ops.append(op("w", ["a0"], [f"v{i}" for i in range(n)]))
    file = write("deep.json", json.dumps(graph(ops, tensors)))
    code, out, err = run("solve", file, "--budget", "1.0", "--log-format", "none", "-o", path("p.json"))
    assert code == 0, err
    assert run("check", file, path("p.json"))[0] == 0


# One small training step in every format that is read: forward a chain, backward along it.
def in_every_format():
    n = 5
    dtr = [dict(INSTRUCTION="ANNOTATE", ANNOTATION="START"), dict(INSTRUCTION="CONSTANT", NAME="w"),
           dict(INSTRUCTION="MEMORY", NAME="w", MEMORY="3")]

    def call(name, args, result, size, time, alias=-1):
        dtr.append(dict(INSTRUCTION="CALL", NAME=name, ARGS=args, RESULT=[result], TIME=str(time)))
        dtr.append(dict(INSTRUCTION="MEMORY", NAME=result, MEMORY=str(size)))
        dtr.append(dict(INSTRUCTION="ALIAS", NAME=result, ALIAS=str(alias)))

    for i in range(n):
        call(f"f{i}", ["w" if i == 0 else f"v{i - 1}"], f"a{i}", 10 + i % 3, 3 + i % 4)
        call("view", [f"a{i}"], f"v{i}", 10 + i % 3, 0, 0)
    for i in reversed(range(n)):
        call(f"b{i}", [f"a{i}"] + ([f"g{i + 1}"] if i + 1 < n else []), f"g{i}", 10, 5)
    dtr.append(dict(INSTRUCTION="MUTATE", NAME="add_", ARGS=["g0", "w"], MUTATE=[0], TIME="2"))
    dtr += [dict(INSTRUCTION="RELEASE", NAME=x) for i in range(n) for x in ([f"a{i}", f"v{i}"] + ([f"g{i}"] if i else []))]

    hlo = "HloModule step, is_scheduled=true\nENTRY %main (w: f32[30]) -> f32[10] {\n  %w = f32[30]{0} parameter(0)\n"
    for i in range(n):
        hlo += f"  %a{i} = f32[{10 + i % 3}]{{0}} custom-call(f32[30]{{0}} %{'w' if i == 0 else f'v{i - 1}'}), custom_call_target=\"f\"\n"
        hlo += f"  %v{i} = f32[{10 + i % 3}]{{0}} bitcast(%a{i})\n"
    for i in reversed(range(n)):
        more = f", %g{i + 1}" if i + 1 < n else ""
        hlo += f"  {'ROOT ' if i == 0 else ''}%g{i} = f32[10]{{0}} custom-call(%a{i}{more}), custom_call_target=\"b\"\n"
    hlo += "}\n"

    nodes, links = [], []
    for i in range(2 * n):
        nodes.append(dict(id=f"n{i}", cost_ram=10 + i % 3, cost_cpu=3 + i % 4))
        if i:
            links.append(dict(source=f"n{i - 1}", target=f"n{i}"))
        if i > n:
            links.append(dict(source=f"n{2 * n - 1 - i}", target=f"n{i}"))

    info = {"x": dict(index=0, target="x", shape="torch.Size([7])", input_arguments=[])}
    for i in range(2 * n):
        reads = [f"m{i - 1}" if i else "x"] + ([f"m{2 * n - 1 - i}"] if i > n else [])
        info[f"m{i}"] = dict(index=i + 1, target="aten.mul.Tensor", shape=f"torch.Size([{10 + i % 3}])", input_arguments=reads,
                             recomputable_candidate_info=dict(recomputable_node_idx=i, memory=0.1, runtime=3 + i % 4))
    info["output"] = dict(index=2 * n + 1, target="output", shape="[]", input_arguments=[f"m{2 * n - 1}"])
    torch = {"Joint Graph Node Information": info, "Absolute Memories": [4.0 * (10 + i % 3) for i in range(2 * n)]}

    full = chain(n)
    full["tensors"] += [tensor("v", 0, view_of="a1"), tensor("u", 10)]
    full["ops"][3:3] = [op("view", ["a1"], ["v"], 0), op("drop", ["v", ""], [], 1, recomputable=False, workspace=4)]
    full["ops"].append(op("add_", ["g0"], ["u"], 2, inplace=[["g0", "u"]]))
    full["outputs"] = ["u"]
    return dict(dtr="\n".join(map(json.dumps, dtr)), hlo=hlo, node_link=json.dumps(dict(nodes=nodes, links=links)),
                torch=json.dumps(torch), native=json.dumps(full))


@test
def converting_changes_nothing():
    for name, text in in_every_format().items():
        file = write(name, text)
        code, once, err = run("convert", file)
        assert code == 0, (name, err)
        native = write(name + ".json", once)
        assert run("convert", native)[1] == once, name
        before, after = (json.loads(run("info", f, "--json")[1]) for f in (file, native))
        assert before["format"] == name.replace("_", "-") and after["format"] == "native"
        for key in ("ops", "tensors", "duration", "peak", "floor", "views", "inplace", "graph_outputs", "once_ops"):
            assert before[key] == after[key], (name, key)
        reruns = 0
        for order in ("fixed", "free"):
            for share in (1, 0.6, 0.2, 0):
                budget = round(before["floor"] + share * (before["peak"] - before["floor"]))
                plans = [run("solve", f, "--budget", budget, "--order", order, "--log-format", "none", "--time-limit", 60)
                         for f in (file, native)]
                assert plans[0][0] == plans[1][0] in (0, 4), (name, budget, plans[0][2])
                if plans[0][0] == 4:
                    continue
                x, y = (json.loads(p[1]) for p in plans)
                assert x["status"] == y["status"] == "optimal", (name, order, budget, x["status"], y["status"])
                assert x["duration"] == y["duration"] and x["graph"]["fingerprint"] == y["graph"]["fingerprint"], (name, budget)
                reruns += len(x["executions"]) > before["ops"]
                # a plan for the one is a plan for the other
                assert run("check", native, write("p.json", plans[0][1]))[0] == 0
                assert run("check", file, write("p.json", plans[1][1]))[0] == 0
        assert reruns > 0, name


@test
def flags_for_graphs_without_durations():
    hlo = write("step.hlo", in_every_format()["hlo"])
    times = write("times.json", json.dumps({"a0": 1000, "%b": 5}))
    durations = []
    for more in ([], ["--launch", 7], ["--durations", times], ["--launch", 7, "--flops", 10**9, "--bandwidth", 10**9]):
        code, out, err = run("convert", hlo, *more)
        assert code == 0, err
        durations.append([o["duration"] for o in json.loads(out)["ops"]])
        file = write("n.json", out)
        code, plan, err = run("solve", hlo, *more, "--budget", "1.0", "--log-format", "none")
        assert code == 0 and json.loads(plan)["base_duration"] == sum(durations[-1]), err
        assert run("check", file, write("p.json", plan))[0] == 0 == run("check", hlo, path("p.json"), *more)[0]
        assert run("info", hlo, *more, "--json")[0] == 0
    assert len({tuple(d) for d in durations}) == 4 and durations[2][0] == 1000
    file = write("g.json", json.dumps(FINE))
    refused(["--flops", "native"], "solve", file, "--budget", "9", "--flops", 5, codes=(2,))
    refused(["--durations"], "convert", file, "--durations", times, codes=(2,))
    refused(["times.json"], "convert", hlo, "--durations", write("times.json", '{"a0": -1}'), codes=(3,))


@test
def what_is_wrong_with_a_command_line():
    file = write("g.json", json.dumps(FINE))
    for words, *args in ((["no command"],), (["'--ordre'", "solve --help"], "solve", file, "--budget", "9", "--ordre", "free"),
                         (["--budget is wanted"], "solve", file), (["graph is required", "info --help"], "info"),
                         (["'x'", "check --help"], "check", file, file, "x"), (["gen chain --help"], "gen", "chain", "--width", 3),
                         (["unknown command 'slove'"], "slove", file)):
        code, out, err = run(*args)
        assert code == 2 and out == "" and err.count("\n") == 1 and err.startswith("ebbtide: error: "), (args, err)
        for word in words:
            assert word in err, (args, err)
    for args in ([], ["solve"], ["info"], ["convert"], ["check"], ["sweep"], ["gen"], ["options"]):
        code, out, err = run(*args, "--help")
        assert code == 0 and "Usage: ebbtide" in out and err == ""


@test
def graphs_from_pipes():
    for text in in_every_format().values():
        code, out, err = run("info", "/dev/stdin", stdin=text)
        assert code == 0 and "floor" in out, err


@test
def profile_info_convert_gen():
    file = write("g.json", json.dumps(chain(8)))
    code, out, err = run("solve", file, "--budget", "0.6", "-o", path("p.json"), "--profile", path("p.svg"))
    assert code == 0, err
    svg = open(path("p.svg")).read()
    assert svg.startswith("<svg") and svg.rstrip().endswith("</svg>") and "budget" in svg
    code, out, err = run("info", file)
    assert code == 0 and "peak" in out and "floor" in out
    code, out, err = run("info", file, "--json")
    facts = json.loads(out)
    assert code == 0 and facts["ops"] == 16 and facts["peak"] >= facts["floor"] > 0
    for kind in ("chain", "layered", "random", "transformer", "unet"):
        code, out, err = run("gen", kind, "--seed", 4, "-o", path(kind + ".json.xz"))
        assert code == 0, err
        code, first, err = run("convert", path(kind + ".json.xz"))
        assert code == 0, err
        second = run("gen", kind, "--seed", 4)[1]
        assert first == second, kind
        assert json.loads(run("info", path(kind + ".json.xz"), "--json")[1])["ops"] == len(json.loads(first)["ops"])


def wire(field, value):
    """A field of a protobuf message: a number, or bytes with their length."""
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])
    if isinstance(value, int):
        return varint(field << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


@test
def onnx_where_it_is_built_in():
    if "onnx" not in run("info", "--help")[1]:
        raise Skip("built without ONNX")

    def array(name):  # float, [batch, 8]
        shape = wire(1, wire(2, "batch")) + wire(1, wire(1, 8))
        return wire(1, name) + wire(2, wire(1, wire(1, 1) + wire(2, shape)))

    def node(kind, source, target):
        return wire(1, wire(1, source) + wire(2, target) + wire(3, target) + wire(4, kind))

    model = wire(1, 8) + wire(7, node("Relu", "x", "y") + node("Relu", "y", "z") + wire(2, "g") + wire(11, array("x")) + wire(12, array("z")))
    model += wire(8, wire(2, 13))
    with open(path("m.onnx"), "wb") as f:
        f.write(model)
    code, out, err = run("info", path("m.onnx"), "--dim", "batch=32", "--json")
    assert code == 0, err
    facts = json.loads(out)
    assert facts["format"] == "onnx" and facts["ops"] == 2 and facts["peak"] == 3 * 32 * 8 * 4, facts
    code, out, err = run("solve", path("m.onnx"), "--dim", "batch=32", "--budget", "1.0", "--log-format", "none")
    assert code == 0 and json.loads(out)["status"] == "optimal", err
    assert run("check", path("m.onnx"), write("p.json", out), "--dim", "batch=32")[0] == 0
    refused(["batch"], "convert", path("m.onnx"), codes=(3,))
    refused(["--dim", "NAME=N"], "convert", path("m.onnx"), "--dim", "batch", codes=(2,))


main()
