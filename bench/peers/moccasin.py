# SPDX-License-Identifier: Apache-2.0
"""Moccasin: Bartan et al., "Moccasin: Efficient Tensor Rematerialization for Neural Networks" (ICML 2023), in CP-SAT.

Up to C = 2 retention intervals an op on the staged time axis: event (s, o), o <= s, is op o inside stage s, and stage s
ends with the first execution of the s-th op. An execution is covered where for each input one interval of its maker
began before and ends no earlier. Phase 1 looks for the least peak and stops at the budget; phase 2 starts from its
answer and shortens. Written from the paper's sections 2 and 3."""
import time

from ortools.sat.python import cp_model

INTERVALS = 2


def build(g, budget, phase):
    n = g.n
    event = lambda s, o: s * (s + 1) // 2 + o
    horizon = event(n - 1, n - 1)
    m = cp_model.CpModel()
    start, end, there, bars, sizes = [], [], [], [], []
    for v in range(n):
        start.append([m.new_constant(event(v, v))])
        end.append([m.new_int_var(event(v, v), horizon, "")])
        there.append([m.new_constant(1)])
        if v + 1 < n:
            domain = cp_model.Domain.from_values([event(s, v) for s in range(v + 1, n)])
            for _ in range(INTERVALS - 1):
                start[v].append(m.new_int_var_from_domain(domain, ""))
                end[v].append(m.new_int_var(0, horizon, ""))
                there[v].append(m.new_bool_var(""))
        for i in range(len(start[v])):
            length = m.new_int_var(1, horizon + 1, "")
            bars.append(m.new_optional_interval_var(start[v][i], length, end[v][i] + 1, there[v][i], ""))
            sizes.append(g.size[v])
            if i:
                m.add(start[v][i] > end[v][i - 1]).only_enforce_if(there[v][i])
    for v in range(n):
        for j in range(len(start[v])):
            for u in g.preds[v]:
                covers = []
                for i in range(len(start[u])):
                    c = m.new_bool_var("")
                    m.add(start[u][i] < start[v][j]).only_enforce_if(c)
                    m.add(end[u][i] >= start[v][j]).only_enforce_if(c)
                    m.add_implication(c, there[u][i])
                    covers.append(c)
                m.add_bool_or(covers + ([there[v][j].negated()] if j else []))
    if phase == 1:
        peak = m.new_int_var(budget, max(budget, g.base_peak), "")
        m.add_cumulative(bars, sizes, peak)
        m.minimize(peak)
    else:
        m.add_cumulative(bars, sizes, budget)
        m.minimize(sum(g.duration[v] * there[v][i] for v in range(n) for i in range(1, len(there[v]))))
    return m, start, end, there


def free(start, end, there):
    """The variables: first intervals begin at a constant and are always there."""
    return [x for row in end for x in row] + [x for part in (start, there) for row in part for x in row[1:]]


def solve(g, budget, limit, threads):
    """(sequence or None, status, facts)"""
    begun = time.time()
    found, status, facts = None, "time", {}
    for phase in (1, 2):
        m, start, end, there = build(g, budget, phase)
        facts = {"variables": len(m.proto.variables), "constraints": len(m.proto.constraints)}
        left = limit - (time.time() - begun)
        if left <= 0:
            break
        n = g.n
        if found:
            for x, value in zip(free(start, end, there), found[0]):
                m.add_hint(x, value)
        s = cp_model.CpSolver()
        s.parameters.max_time_in_seconds = left
        s.parameters.num_workers = threads
        code = s.solve(m)
        if code == cp_model.MODEL_INVALID:
            raise ValueError(m.validate())
        if code == cp_model.INFEASIBLE:
            status = "infeasible under C = 2"
            break
        if code not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            break
        if phase == 1 and s.objective_value > budget:
            status = "no plan under C = 2" if code == cp_model.OPTIMAL else "time (phase 1)"
            break
        events = sorted((s.value(start[v][i]), v) for v in range(n) for i in range(len(start[v])) if s.value(there[v][i]))
        found = ([s.value(x) for x in free(start, end, there)], [v for _, v in events])
        facts["phase 1 seconds"] = facts.get("phase 1 seconds", round(time.time() - begun, 2))
        status = "optimal under C = 2" if phase == 2 and code == cp_model.OPTIMAL else "time"
    return (found[1] if found else None), status, facts
