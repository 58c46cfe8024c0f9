#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command from end to end: answers, exit codes, interrupts, limits, logs, methods.

usage: cli_test.py EBBTIDE SOURCE_DIR [TEST...]     Time limits are only ever checked to end, never for how soon.
"""
import gzip
import json
import os
import signal
import subprocess
import sys

from harness import chain, EBBTIDE, FINE, follow, graph, main, op, path, refused, run, SOURCE, tensor, test, TMP, write


@test
def help_and_versions():
    code, out, err = run("--help")
    assert code == 0 and "solve" in out and not err
    code, out, err = run("--version")
    assert code == 0 and out.startswith("ebbtide ") and "CaDiCaL " in out
    for command in ("solve", "check", "info", "convert", "gen", "options"):
        code, out, err = run(command, "--help")
        assert code == 0 and out and not err, command


@test
def options_page_is_the_table():
    code, out, _ = run("options", "--markdown")
    assert code == 0
    with open(os.path.join(SOURCE, "docs", "options.md"), encoding="utf-8") as f:
        assert f.read() == out, "run: ebbtide options --markdown > docs/options.md"


@test
def a_plan_to_a_file_and_to_standard_output():
    g = chain(8)
    file = write("chain.json", json.dumps(g))
    code, out, err = run("solve", file, "--budget", "0.6", "--time-limit", 60, "--threads", 2, "-o", path("p.json"))
    assert code == 0 and out == "" and "optimal" in err, err
    plan = json.load(open(path("p.json")))
    duration, peak = follow(g, plan)
    assert duration == plan["duration"] and peak == plan["peak"] and peak <= plan["budget"]
    assert plan["status"] == "optimal" and plan["lower_bound"] == duration and plan["gap"] == 0
    code, out, err = run("solve", file, "--budget", "0.6", "--time-limit", 60, "--log-format", "none")
    assert code == 0 and err == "" and json.loads(out)["duration"] == duration
    code, out, err = run("solve", file, "--budget", "0.6", "--time-limit", 60, "-o", path("p.json.gz"))
    assert code == 0 and json.load(gzip.open(path("p.json.gz")))["duration"] == duration
    code, out, err = run("check", file, path("p.json"))
    assert code == 0 and "holds" in out
    assert not [n for n in os.listdir(TMP.name) if "tmp" in n.lower()], os.listdir(TMP.name)


@test
def check_refuses_what_does_not_hold():
    g = chain(5)
    file = write("g.json", json.dumps(g))
    assert run("solve", file, "--budget", "0.7", "-o", path("p.json"))[0] == 0
    plan = json.load(open(path("p.json")))
    last = len(plan["executions"]) - 1

    def broken(change):
        p = json.loads(json.dumps(plan))
        change(p)
        code, out, err = run("check", file, write("broken.json", json.dumps(p)))
        assert code == 3 and out == "" and err.count("\n") == 1 and "broken.json" in err, (code, out, err)
        return err
    assert "over-budget" in broken(lambda p: p.update(budget=p["peak"] - 1))
    assert "wrong-duration" in broken(lambda p: p.update(duration=p["duration"] + 1))
    assert "wrong-peak" in broken(lambda p: p.update(peak=p["peak"] - 1))
    broken(lambda p: p["executions"].pop())
    broken(lambda p: p["executions"][last].update(op="nobody"))
    broken(lambda p: p["executions"][last]["inputs"].__setitem__(0, 10**6))
    broken(lambda p: p["executions"][last]["inputs"].__setitem__(0, 0))
    broken(lambda p: p["frees"].pop(0))
    broken(lambda p: p.update(version=99))
    broken(lambda p: p["graph"].update(fingerprint="0123"))
    broken(lambda p: p.update(lower_bound=p["duration"] + 1))


@test
def budgets_in_every_form():
    file = write("g.json", json.dumps(graph([op("f", [], ["a"]), op("h", ["a"], ["b"])],
                                            [tensor("a", 600), tensor("b", 424)])))
    for text, bytes_ in (("1024", 1024), ("1KiB", 1024), ("1.0", 1024), ("1.5kB", 1500), ("2.0", 2048), ("1 MiB", 2**20)):
        code, out, err = run("solve", file, "--budget", text, "--log-format", "none")
        assert code == 0 and json.loads(out)["budget"] == bytes_, (text, err)
    assert run("solve", file, "--budget", "1")[0] == 4
    assert run("solve", file, "--budget", "0.999")[0] == 4


@test
def infeasible_names_the_op_and_the_bytes():
    file = write("g.json", json.dumps(FINE))
    code, out, err = run("solve", file, "--budget", "7", "-o", path("none.json"))
    assert code == 4 and "'h'" in err and " 8 bytes" in err and " 7" in err and not os.path.exists(path("none.json"))
    code, out, err = run("solve", file, "--budget", "7", "--log-format", "jsonl")
    answer = [json.loads(line) for line in err.splitlines() if line.startswith("{")][-1]
    assert code == 4 and out == "" and answer["status"] == "infeasible" and "'h'" in answer["reason"]


@test
def infeasible_under_a_cap_says_so():
    file = write("g.json", json.dumps(chain(6)))
    code, out, err = run("solve", file, "--budget", "0.7", "--max-executions", 1)
    assert code == 4 and "the order itself" in err and "max-executions" in err, (code, err)
    code, out, err = run("solve", file, "--budget", "0.7", "--log-format", "none")
    assert code == 0
    code, out, err = run("solve", file, "--budget", "0.7", "--max-executions", 2, "--log-format", "none")
    runs = {}
    for e in json.loads(out)["executions"]:
        runs[e["op"]] = runs.get(e["op"], 0) + 1
    assert code == 0 and max(runs.values()) == 2


@test
def no_plan_within_the_limits_is_unknown():
    code, _, err = run("gen", "layered", "--ops", 300, "--seed", 3, "-o", path("big.json"))
    assert code == 0, err
    code, out, err = run("solve", path("big.json"), "--budget", "0.55", "--time-limit", 0, "-o", path("none.json"))
    assert code in (0, 4, 5)  # a zero limit may still give the quick plan; what it may not is crash or hang
    assert (code == 0) == os.path.exists(path("none.json"))
    assert code != 5 or "unknown" in err


@test
def interrupt_writes_the_best_plan():
    run("gen", "layered", "--ops", 200, "--seed", 5, "-o", path("big.json"))
    for sig in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([EBBTIDE, "solve", path("big.json"), "--budget", "0.8", "--time-limit", "600", "--threads", "2",
                              "--log-format", "jsonl", "-o", path("i.json")], stderr=subprocess.PIPE, text=True)
        lines = []
        for line in p.stderr:  # wait for a first plan
            lines.append(line)
            if '"event":"plan"' in line:
                break
        p.send_signal(sig)
        rest = p.communicate(timeout=120)[1]
        assert p.returncode == 0, rest
        answer = json.loads(rest.splitlines()[-1])
        assert answer["event"] == "answer" and (answer["interrupted"] or answer["status"] == "optimal")
        assert run("check", path("big.json"), path("i.json"))[0] == 0
        os.remove(path("i.json"))


@test
def logs():
    file = write("g.json", json.dumps(chain(12)))
    code, out, err = run("solve", file, "--budget", "0.5", "--time-limit", 5, "--log-format", "jsonl", "-o", path("p.json"))
    assert code == 0
    events = [json.loads(line) for line in err.splitlines()]
    assert events[-1]["event"] == "answer" and any(e["event"] == "plan" for e in events)
    best, bound = None, 0
    for e in events[:-1]:
        if e["event"] == "plan":
            assert e["worker"] and e["peak"] > 0
            assert best is None or e["duration"] <= best
            best = e["duration"]
        assert e.get("lower_bound", bound) >= bound
        bound = e.get("lower_bound", bound)
    assert events[-1]["duration"] == best == json.load(open(path("p.json")))["duration"]


@test
def work_limit_repeats_byte_for_byte():
    run("gen", "layered", "--ops", 80, "--seed", 9, "-o", path("big.json"))
    for threads in (1, 2, 3):
        texts = set()
        for i in range(2):
            code, out, err = run("solve", path("big.json"), "--budget", "0.75", "--threads", threads, "--seed", 3, "--work-limit",
                                 0.1, "--log-format", "none")
            assert code == 0, err
            texts.add(out)
        assert len(texts) == 1, threads


@test
def a_hint_is_no_worse():
    run("gen", "layered", "--ops", 80, "--seed", 2, "-o", path("big.json"))
    code, out, _ = run("solve", path("big.json"), "--budget", "0.8", "--work-limit", 0.3, "-o", path("h.json"))
    assert code == 0
    known = json.load(open(path("h.json")))["duration"]
    code, out, err = run("solve", path("big.json"), "--budget", "0.8", "--time-limit", 0, "--hint", path("h.json"))
    assert code == 0 and json.loads(out)["duration"] <= known, err


@test
def every_switch_can_be_off():
    g = chain(10)
    file = write("g.json", json.dumps(g))
    code, out, _ = run("options")
    switches = [line.split()[0] for line in out.splitlines() if line.split()[1] == "switch"]
    assert switches
    best = json.loads(run("solve", file, "--budget", "0.6", "--time-limit", 20, "--log-format", "none")[1])
    for s in switches:
        code, out, err = run("solve", file, "--budget", "0.6", "--time-limit", 2, "--no-" + s, "--log-format", "none")
        assert code == 0, (s, err)
        plan = json.loads(out)
        assert follow(g, plan)[0] == plan["duration"] >= best["duration"]
        assert plan["lower_bound"] <= best["duration"]
        assert run("solve", file, "--budget", "0.6", "--time-limit", 1, "--" + s, "--log-format", "none")[0] == 0


@test
def sweep_is_monotone():
    file = write("g.json", json.dumps(chain(9)))
    code, out, err = run("sweep", file, "--points", 9, "--time-limit", 5, "--json", path("s.json"), "--svg", path("s.svg"),
                         "--csv", path("s.csv"))
    assert code == 0 and out == "", err
    points = json.load(open(path("s.json")))["points"]
    assert [p["budget"] for p in points] == sorted({p["budget"] for p in points}) and points[-1]["status"] == "optimal"
    for low, high in zip(points, points[1:]):
        assert low["lower_bound"] >= high["lower_bound"]
        if "duration" in low:
            assert low["duration"] >= high["duration"] and low["peak"] <= high["peak"]
        assert not (high["status"] == "infeasible" and low["status"] != "infeasible")
    table = open(path("s.csv")).read().splitlines()
    assert len(table) == len(points) + 1 and table[0].startswith("budget,")
    assert open(path("s.svg")).read().startswith("<svg")
    code, out, err = run("sweep", file, "--budgets", "0.9,1.0,0.1", "--quiet")
    assert code == 0 and err == "" and len(out.splitlines()) == 4 and "infeasible" in out
    assert run("sweep", file, "--budgets", "0.9,lots")[0] == 2
    assert run("sweep", file, "--points", "0")[0] == 2


@test
def certificate():
    file = write("g.json", json.dumps(chain(9)))
    checker = os.path.join(SOURCE, "tests", "certificate", "check_certificate.py")
    code, out, err = run("solve", file, "--budget", "0.6", "-o", path("p.json"), "--certificate", path("c.json"))
    assert code == 0, err
    done = subprocess.run([sys.executable, checker, file, path("c.json")], capture_output=True, text=True)
    assert done.returncode == 0 and "proved" in done.stdout, done.stderr
    refused(["certificate"], "solve", file, "--budget", "0.6", "--order", "free", "--certificate", path("c2.json"))


@test
def least_peak():
    g = chain(6)
    file = write("g.json", json.dumps(g))
    base = sum(o["duration"] for o in g["ops"])
    for limit in (None, base, base + 10):
        more = [] if limit is None else ["--duration-limit", limit]
        code, out, err = run("solve", file, "--minimise", "peak", *more, "--time-limit", 120, "--log-format", "jsonl")
        assert code == 0, err
        plan = json.loads(out)
        duration, peak = follow(g, plan)
        answer = json.loads(err.splitlines()[-1])
        assert plan["status"] == "optimal" and answer["peak_bound"] == peak == plan["peak"]
        assert limit is None or duration <= limit
        # the other way: a byte less is infeasible or takes longer than the limit
        code, out, err = run("solve", file, "--budget", peak - 1, "--time-limit", 60, "--log-format", "none")
        assert code == 4 or (code == 0 and limit is not None and json.loads(out)["lower_bound"] > limit), (limit, code)
    assert run("solve", file, "--minimise", "peak", "--duration-limit", base - 1)[0] == 4
    assert run("solve", file, "--minimise", "peak", "--budget", 20)[0] == 4
    code, out, err = run("solve", file, "--minimise", "peak", "--work-limit", 0.5, "--log-format", "none")
    assert code == 0 and out == run("solve", file, "--minimise", "peak", "--work-limit", 0.5, "--log-format", "none")[1]


@test
def every_method():
    file = write("g.json", json.dumps(chain(8)))
    _, out, _ = run("options", "--markdown")
    row = next(line for line in out.splitlines() if line.startswith("| `method`"))
    best = json.loads(run("solve", file, "--budget", "0.7", "--log-format", "none")[1])["duration"]
    for method in row.split("|")[4].replace(" ", "").split(","):
        ask = ["solve", file, "--budget", "0.7", "--time-limit", 2, "--method", method, "--log-format", "none"]
        if method.startswith("order-"):
            code, out, err = run(*ask)
            assert code == 2 and method in err and "order = free" in err, (method, code, err)
            ask += ["--order", "free"]
        code, out, err = run(*ask)
        assert code in (0, 5), (method, err)
        if code == 0:
            assert method.startswith("order-") or json.loads(out)["duration"] >= best
        code, out, err = run(*ask[:2], *ask[4:], "--minimise", "peak", "--duration-limit", 200)
        assert code == 0, (method, err)
        plan = json.loads(out)
        duration, peak = follow(json.load(open(file)), plan)
        assert peak == plan["peak"] and duration <= 200
        if method.startswith("order-"):
            assert len(plan["executions"]) == 16


main()
