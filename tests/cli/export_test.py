#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The exported models against exhaustive search on tiny graphs, and against the same models in bench/peers.

usage: export_test.py EBBTIDE SOURCE_DIR VENV
What needs no solver is tested with any Python: sizes, refusals, Moccasin's JSON read by its schema. With HiGHS and
CP-SAT (bench/peers/requirements.txt, in this interpreter or in the virtual environment VENV) the models are solved."""
import itertools, json, os, random, subprocess, sys, tempfile

EBBTIDE, SOURCE, VENV = sys.argv[1:4]
SEED = int(os.environ.get("EBB_TEST_SEED", "5"))


def other_python():
    """The interpreter that has the solvers, or None."""
    for python in (sys.executable, os.path.join(VENV, "bin", "python")):
        if os.path.exists(python) and not subprocess.run([python, "-c", "import highspy, ortools.sat.python.cp_model"],
                                                         capture_output=True).returncode:
            return python
    return None


def export(path, budget, model, *more):
    p = subprocess.run([EBBTIDE, "export", path, "--budget", str(budget), "--model", model, *more],
                       capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def random_graph(rng, n):
    nodes = [dict(id=f"v{i}", size=rng.randint(1, 6) * 10, duration=rng.randint(0, 9)) for i in range(n)]
    reads = [sorted(rng.sample(range(i), min(i, rng.randint(0 if i == 0 else 1, 2)))) for i in range(n)]
    return nodes, reads


def write(path, nodes, reads, kept=()):
    """As a native file; the ops' order is topological and so the given one."""
    with open(path, "w") as f:
        json.dump(dict(format="ebbtide-graph", version=1, outputs=[f"v{v}" for v in kept],
                       tensors=[dict(name=x["id"], size=x["size"]) for x in nodes],
                       ops=[dict(name=x["id"], duration=x["duration"], inputs=[f"v{u}" for u in r], outputs=[x["id"]])
                            for x, r in zip(nodes, reads)]), f)


def measure(sequence, nodes, reads):
    """(duration, peak) of a sequence, or None where a read is not served."""
    latest, last = {}, []
    for p, v in enumerate(sequence):
        for u in reads[v]:
            if u not in latest:
                return None
            last[latest[u]] = p
        last.append(p)
        latest[v] = p
    peak = max(sum(nodes[sequence[q]]["size"] for q in range(p + 1) if last[q] >= p) for p in range(len(sequence)))
    return sum(nodes[v]["duration"] for v in sequence), peak


def staged_optimum(nodes, reads, budget, most):
    """Over all choices of repeats in all stages; each op at most `most` times. None: infeasible."""
    n, best = len(nodes), None
    for bits in itertools.product((0, 1), repeat=n * (n - 1) // 2):
        sequence, b, runs = [], 0, [1] * n
        for t in range(n):
            for i in range(t):
                if bits[b]:
                    sequence.append(i)
                    runs[i] += 1
                b += 1
            sequence.append(t)
        if max(runs) > most:
            continue
        got = measure(sequence, nodes, reads)
        if got and got[1] <= budget and (best is None or got[0] < best):
            best = got[0]
    return best


def checkmate_size(reads):
    n = len(reads)
    frees = sum((n - k) * (len(r) + 1) for k, r in enumerate(reads))
    inputs = sum((n - k) * len(r) for k, r in enumerate(reads))
    return n * (n + 1) + n * (n - 1) // 2 + frees, inputs + n * n + 2 * frees


def moccasin_size(reads, c):
    n = len(reads)
    copies = [c if o + 1 < n else 1 for o in range(n)]
    return (sum(1 + 3 * (k - 1) for k in copies),
            1 + sum(k - 1 + k * len(r) for k, r in zip(copies, reads)))


def moccasin_optimum(model):
    """The JSON as its schema says, by trying every start of the optional intervals and the least ends."""
    event = lambda s, o: s * (s + 1) // 2 + o
    intervals = model["intervals"]
    choices = []
    for i in intervals:
        if i["optional"]:
            lo, hi = i["start_stages"]
            choices.append([None] + [event(s, i["op"]) for s in range(lo, hi + 1)])
        else:
            choices.append([i["start"]])
    best = None
    for start in itertools.product(*choices):
        end = list(start)
        fine = True
        for cover in model["coverage"]:
            at = start[cover["interval"]]
            if at is None:
                continue
            before = [k for k in cover["by"] if start[k] is not None and start[k] < at]
            if not before:
                fine = False
                break
            k = max(before, key=lambda k: start[k])  # an earlier one would only lie longer
            end[k] = max(end[k], at)
        if not fine:
            continue
        for i in intervals:
            k = i["id"]
            if i["optional"] and start[k] is not None:
                before = i["after"]
                if start[before] is None or start[k] <= end[before]:
                    fine = False
                assert i["end"][0] <= end[k] <= i["end"][1]
        if not fine:
            continue
        if any(sum(i["demand"] for i in intervals if start[i["id"]] is not None and start[i["id"]] <= e <= end[i["id"]])
               > model["capacity"] for e in start if e is not None):
            continue
        cost = sum(i["cost"] for i in intervals if start[i["id"]] is not None)
        best = cost if best is None else min(best, cost)
    return best


def without_solver(scratch):
    rng = random.Random(SEED)
    for round in range(12):
        nodes, reads = random_graph(rng, rng.randint(1, 4))
        path = os.path.join(scratch, "graph.json")
        write(path, nodes, reads)
        peak = measure(range(len(nodes)), nodes, reads)[1]
        for budget in sorted({peak, peak - 10, max(10, peak - 20), max(10, peak // 2)}):
            code, text, err = export(path, budget, "checkmate")
            assert code == 0, err
            variables, constraints = checkmate_size(reads)
            assert err == f"ebbtide: {variables} variables, {constraints} constraints\n", (err, variables, constraints)
            lines = text.splitlines()
            rows = lines[lines.index("ROWS") + 2:lines.index("COLUMNS")]
            bounds = lines[lines.index("BOUNDS") + 1:lines.index("ENDATA")]
            assert (len(bounds), len(rows)) == (variables, constraints)
            code, text, err = export(path, budget, "moccasin")
            assert code == 0, err
            variables, constraints = moccasin_size(reads, 2)
            assert err == f"ebbtide: {variables} variables, {constraints} constraints\n", (err, variables, constraints)
            assert moccasin_optimum(json.loads(text)) == staged_optimum(nodes, reads, budget, 2), (nodes, reads, budget)
    # What the models do not know is refused by name.
    def native(ops, tensors, **more):
        path = os.path.join(scratch, "native.json")
        with open(path, "w") as f:
            json.dump({"format": "ebbtide-graph", "version": 1, "ops": ops, "tensors": tensors, "outputs": [], **more}, f)
        return path
    f = dict(name="f", duration=1, inputs=[], outputs=["a"])
    a, b = dict(name="a", size=4), dict(name="b", size=4)
    for ops, tensors, word in [([dict(f, outputs=["a", "b"])], [a, b], "2 outputs"),
                               ([dict(f, workspace=3)], [a], "workspace"),
                               ([dict(f, recomputable=False)], [a], "once")]:
        path = native(ops, tensors)
        code, out, err = export(path, 9, "checkmate")
        assert code == 3 and not out and word in err and err.count("\n") == 1, (code, out, err, word)
    # Kept outputs, as an op that reads them at the end.
    for round in range(6):
        nodes, reads = random_graph(rng, rng.randint(2, 3))
        kept = sorted(rng.sample(range(len(nodes)), rng.randint(1, len(nodes))))
        write(path, nodes, reads, kept)
        nodes, reads = nodes + [dict(id="(end)", size=0, duration=0)], reads + [kept]
        peak = measure(range(len(nodes)), nodes, reads)[1]
        for budget in (peak, peak - 10):
            code, text, err = export(path, budget, "moccasin")
            assert code == 0, err
            assert moccasin_optimum(json.loads(text)) == staged_optimum(nodes, reads, budget, 2), (nodes, reads, budget)
    path = native([dict(f, inputs=["b"])], [a, b])
    code, out, err = export(path, 3, "moccasin")
    assert code == 3 and "inputs alone" in err, err
    code, out, err = export(path, 9, "moccasin")
    assert code == 0 and json.loads(out)["capacity"] == 5
    assert export(path, 9, "moccasin", "--intervals", "0")[0] == 3
    assert export(path, 9, "frobnicate")[0] == 2
    assert export(path, "x", "checkmate")[0] in (2, 3)


def with_solvers(scratch):
    import highspy
    from ortools.sat.python import cp_model
    sys.path.insert(0, os.path.join(SOURCE, "bench", "peers"))
    import checkmate, graph as peer_graph, moccasin, one
    rng = random.Random(SEED + 1)
    for round in range(12):
        nodes, reads = random_graph(rng, rng.randint(2, 5))
        path, mps = os.path.join(scratch, "graph.json"), os.path.join(scratch, "model.mps")
        write(path, nodes, reads)
        peak = measure(range(len(nodes)), nodes, reads)[1]
        peer = peer_graph.Graph(path, [x["id"] for x in nodes])

        def heard(budget):
            """What the peers tell of their plans."""
            return one.Run(dict(seconds=600, threads=1, seed=1, budget=budget, plan=os.path.join(scratch, "plan"),
                                state=os.path.join(scratch, "state")), peer, "")

        def best(run):
            return run.state["duration"] if run.state.get("peak", budget + 1) <= budget else None

        for budget in sorted({peak, peak - 10, max(10, peak - 20), max(10, peak - 30)}):
            where = (nodes, reads, budget)
            wanted = staged_optimum(nodes, reads, budget, 99)
            code, _, err = export(path, budget, "checkmate", "-o", mps)
            assert code == 0, err
            h = highspy.Highs()
            h.setOptionValue("output_flag", False)
            h.setOptionValue("threads", 1)  # the same for all of a process
            assert h.readModel(mps) == highspy.HighsStatus.kOk
            h.run()
            optimal = h.getModelStatus() == highspy.HighsModelStatus.kOptimal
            assert optimal == (wanted is not None), where
            if optimal:
                assert abs(h.getInfo().objective_function_value - wanted) < 1e-6, where
            run = heard(budget)
            status, facts = checkmate.solve(peer, budget, run)
            got = best(run)
            assert got == wanted, (where, got, wanted, status, facts)
            assert (facts["variables"], facts["constraints"]) == checkmate_size(reads)
            capped = staged_optimum(nodes, reads, budget, 2)
            model = json.loads(export(path, budget, "moccasin")[1])
            assert cp_sat(cp_model, model) == capped, where
            run = heard(budget)
            moccasin.solve(peer, budget, run)
            got = best(run)
            assert got == capped, (where, got, capped)


def cp_sat(cp_model, model):
    event = lambda s, o: s * (s + 1) // 2 + o
    m = cp_model.CpModel()
    start, end, there, bars = [], [], [], []
    for i in model["intervals"]:
        if i["optional"]:
            lo, hi = i["start_stages"]
            start.append(m.new_int_var_from_domain(
                cp_model.Domain.from_values([event(s, i["op"]) for s in range(lo, hi + 1)]), ""))
            there.append(m.new_bool_var(""))
        else:
            start.append(m.new_constant(i["start"]))
            there.append(m.new_constant(1))
        end.append(m.new_int_var(*i["end"], ""))
        length = m.new_int_var(1, model["horizon"] + 1, "")
        bars.append(m.new_optional_interval_var(start[-1], length, end[-1] + 1, there[-1], ""))
        if "after" in i:
            m.add_implication(there[-1], there[i["after"]])
            m.add(start[-1] > end[i["after"]]).only_enforce_if(there[-1])
    for cover in model["coverage"]:
        at, covers = cover["interval"], []
        for k in cover["by"]:
            c = m.new_bool_var("")
            m.add(start[k] < start[at]).only_enforce_if(c)
            m.add(end[k] >= start[at]).only_enforce_if(c)
            m.add_implication(c, there[k])
            covers.append(c)
        m.add_bool_or(covers + [there[at].negated()])
    m.add_cumulative(bars, [i["demand"] for i in model["intervals"]], model["capacity"])
    m.minimize(sum(i["cost"] * t for i, t in zip(model["intervals"], there)))
    s = cp_model.CpSolver()
    s.parameters.num_workers = 1
    return round(s.objective_value) if s.solve(m) == cp_model.OPTIMAL else None


def main():
    print(f"export: EBB_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory() as scratch:
        if len(sys.argv) > 4:
            with_solvers(scratch)
            return 0
        without_solver(scratch)
        python = other_python()
        if python is None:
            print("no Python with highspy and ortools (bench/peers/requirements.txt): the models were not solved")
            return 0
        return subprocess.run([python, *sys.argv, "solve"]).returncode


if __name__ == "__main__":
    sys.exit(main())
