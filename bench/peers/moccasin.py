# SPDX-License-Identifier: Apache-2.0
"""Moccasin: Bartan et al., "Moccasin: Efficient Tensor Rematerialization for Neural Networks" (ICML 2023), in CP-SAT.

Up to C (the paper: 2) retention intervals an op on the staged time axis: event (s, o), o <= s, is op o inside stage s,
and stage s ends with the first execution of the s-th op. An execution is covered where for each input one interval of
its maker began before and ends no earlier. Phase 1 looks for the least peak and stops at the budget; phase 2 starts from
its answer and shortens. With a plan as a hint phase 1 is left out. Written from the paper's sections 2 and 3."""
import time

from ortools.sat.python import cp_model

VERSION = 2


def event(s, o):
    return s * (s + 1) // 2 + o


def intervals_of(g, sequence):
    """Per op the [start, end] events of its executions in a staged sequence; ends at the last read."""
    spans = [[] for _ in range(g.n)]
    stage = 0
    for v in sequence:
        at = event(stage, v)
        for u in g.preds[v]:
            spans[u][-1][1] = at
        spans[v].append([at, at])
        if v == stage:
            stage += 1
    return spans


class Model:
    def __init__(self, g, budget, phase, most=2):
        self.g, n = g, g.n
        horizon = event(n - 1, n - 1)
        m = self.model = cp_model.CpModel()
        self.start, self.end, self.there, self.length = [], [], [], []
        self.covers = []  # (literal, u, i, v, j)
        bars, sizes = [], []
        for v in range(n):
            start, end = [m.new_constant(event(v, v))], [m.new_int_var(event(v, v), horizon, "")]
            there = [m.new_constant(1)]
            if v + 1 < n:
                domain = cp_model.Domain.from_values([event(s, v) for s in range(v + 1, n)])
                for _ in range(most - 1):
                    start.append(m.new_int_var_from_domain(domain, ""))
                    end.append(m.new_int_var(0, horizon, ""))
                    there.append(m.new_bool_var(""))
            length = [m.new_int_var(1, horizon + 1, "") for _ in start]
            for i in range(len(start)):
                bars.append(m.new_optional_interval_var(start[i], length[i], end[i] + 1, there[i], ""))
                sizes.append(g.size[v])
                if i:
                    m.add(start[i] > end[i - 1]).only_enforce_if(there[i])
                if i > 1:
                    m.add_implication(there[i], there[i - 1])
            self.start.append(start), self.end.append(end), self.there.append(there), self.length.append(length)
        for v in range(n):
            for j in range(len(self.start[v])):
                for u in g.preds[v]:
                    literals = []
                    for i in range(len(self.start[u])):
                        c = m.new_bool_var("")
                        m.add(self.start[u][i] < self.start[v][j]).only_enforce_if(c)
                        m.add(self.end[u][i] >= self.start[v][j]).only_enforce_if(c)
                        m.add_implication(c, self.there[u][i])
                        literals.append(c)
                        self.covers.append((c, u, i, v, j))
                    m.add_bool_or(literals + ([self.there[v][j].negated()] if j else []))
        free = budget - g.resident
        if phase == 1:
            peak = m.new_int_var(free, max(free, g.base_peak - g.resident), "")
            m.add_cumulative(bars, sizes, peak)
            m.minimize(peak)
        else:
            m.add_cumulative(bars, sizes, free)
            m.minimize(sum(g.duration[v] * t for v in range(n) for t in self.there[v][1:]))

    def sizes(self):
        return {"variables": len(self.model.proto.variables), "constraints": len(self.model.proto.constraints)}

    def hint(self, sequence):
        spans = intervals_of(self.g, sequence)
        if any(len(s) > len(row) for s, row in zip(spans, self.start)):
            raise ValueError("the hint runs an op too often")
        m = self.model
        for v, span in enumerate(spans):
            for i in range(len(self.start[v])):
                there = i < len(span)
                begin, end = span[i] if there else (event(self.g.n - 1, v), self.g.n)
                m.add_hint(self.end[v][i], end)
                m.add_hint(self.length[v][i], end + 1 - begin if there else 1)
                if i:
                    m.add_hint(self.start[v][i], begin)
                    m.add_hint(self.there[v][i], there)
        for c, u, i, v, j in self.covers:
            there = i < len(spans[u]) and j < len(spans[v])
            m.add_hint(c, there and spans[u][i][0] < spans[v][j][0] <= spans[u][i][1])

    def sequence(self, value):
        events = sorted((value(self.start[v][i]), v) for v in range(self.g.n) for i in range(len(self.start[v]))
                        if value(self.there[v][i]))
        return [v for _, v in events]


class Listener(cp_model.CpSolverSolutionCallback):
    def __init__(self, model, run):
        super().__init__()
        self.model, self.run = model, run

    def on_solution_callback(self):
        self.run.found(self.model.sequence(self.value))


def solve(g, budget, run, hint=None, most=2):
    """hint: a staged sequence within the budget that runs no op more than `most` times. (status, facts)"""
    facts = {}
    start, status = hint, f"time ({'phase 2' if hint else 'phase 1'})"
    if hint:
        run.found(hint)
    for phase in ((2,) if hint else (1, 2)):
        model = Model(g, budget, phase, most)
        facts.update(model.sizes())
        run.note(facts)
        left = run.deadline - time.time()
        if left <= 0 or run.expired():
            break
        if start:
            model.hint(start)
        s = cp_model.CpSolver()
        s.parameters.max_time_in_seconds = left
        s.parameters.num_workers = run.threads
        s.parameters.random_seed = run.seed % 2147483647
        run.stop = s.stop_search
        code = s.solve(model.model, Listener(model, run) if phase == 2 else None)
        run.stop = None
        if code == cp_model.MODEL_INVALID:
            raise ValueError(model.model.validate())
        if code == cp_model.INFEASIBLE:
            return f"infeasible under C = {most}", facts
        if code not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            break
        if phase == 1:
            if s.objective_value > budget - g.resident:
                status = f"no plan under C = {most}" if code == cp_model.OPTIMAL else "time (phase 1)"
                facts["least peak seen"] = int(s.objective_value) + g.resident
                break
            start = model.sequence(s.value)
            run.found(start)
            facts["phase 1 seconds"] = round(run.elapsed(), 2)
            status = "time (phase 2)"
        else:
            facts["own bound"] = g.base + s.best_objective_bound
            status = f"optimal under C = {most}" if code == cp_model.OPTIMAL else "time (phase 2)"
    return status, facts
