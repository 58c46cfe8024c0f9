# SPDX-License-Identifier: Apache-2.0
"""Checkmate: Jain et al., "Checkmate: Breaking the Memory Wall with Optimal Tensor Rematerialization" (MLSys 2020).

The MILP of section 4.7 and the LP relaxation with two-phase rounding of section 5, in HiGHS. In stage t op t runs for
the first time. R[t,i]: op i runs in stage t; S[t,i]: its value lies in memory when stage t begins; F[t,i,k]: it is freed
in stage t after op k; U[t,k]: memory while op k may run. O(n^2) variables for R and S, O(n * edges) for F: past some
hundred ops the model alone takes minutes to build. Bytes are scaled by the budget, so the solver's tolerances can cost a
few bytes; the validator has the last word."""
import time

import highspy

SIZE_LIMIT = 400_000  # variables; a larger model is not built


def variables(g):
    reads = sum(len(p) for p in g.preds) + g.n
    return g.n * g.n + g.n * reads // 2 + g.n * g.n // 2


def solve(g, budget, limit, threads, relaxed=False):
    """(sequence or None, status, facts)"""
    begun = time.time()
    if variables(g) > SIZE_LIMIT:
        return None, "too large", {"variables": variables(g)}
    n, inf = g.n, highspy.kHighsInf
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", threads)
    cost = sum(g.duration) or 1
    count = [0]
    lower, upper, costs, whole = [], [], [], []
    rows = ([], [], [], [], [])  # lower, upper, starts, indices, values

    def var(lo, up, c=0.0, integer=True):
        lower.append(lo), upper.append(up), costs.append(c), whole.append(integer)
        count[0] += 1
        return count[0] - 1

    def row(lo, up, terms):
        rows[0].append(lo), rows[1].append(up), rows[2].append(len(rows[3]))
        merged = {}
        for i, a in terms:
            merged[i] = merged.get(i, 0.0) + a
        rows[3].extend(merged), rows[4].extend(merged.values())

    m = [s / budget for s in g.size]
    R = [[var(1.0 if i == t else 0.0, 1.0, g.duration[i] / cost) for i in range(t + 1)] for t in range(n)]
    S = [[var(0.0, 1.0) for i in range(t)] for t in range(n)]
    for t in range(n):
        for j in range(t + 1):
            for i in g.preds[j]:
                row(-inf, 0.0, [(R[t][j], 1), (R[t][i], -1), (S[t][i], -1)])
        if t:
            for i in range(t):
                terms = [(S[t][i], 1), (R[t - 1][i], -1)]
                row(-inf, 0.0, terms + ([(S[t - 1][i], -1)] if i < t - 1 else []))
        before, frees = None, []
        for k in range(t + 1):
            u = var(0.0, 1.0, integer=False)
            if k == 0:
                row(0.0, 0.0, [(u, 1), (R[t][0], -m[0])] + [(S[t][i], -m[i]) for i in range(t)])
            else:
                row(0.0, 0.0, [(u, 1), (before, -1), (R[t][k], -m[k])] + frees)
            before, frees = u, []
            for i in g.preds[k] + [k]:
                users = [j for j in g.succs[i] if k < j <= t]
                hazards = [(R[t][k], -1)] + [(R[t][j], 1) for j in users]
                if t + 1 < n:
                    hazards.append((S[t + 1][i], 1))
                f = var(0.0, 1.0)
                row(0.0, inf, [(f, 1)] + hazards)  # 1 - f <= 1 - R[t,k] + ...
                kappa = len(hazards)
                row(-inf, kappa - 1.0, [(f, kappa)] + hazards)
                frees.append((f, m[i]))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = count[0], len(rows[0])
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, lower, upper
    lp.row_lower_, lp.row_upper_ = rows[0], rows[1]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = rows[2] + [len(rows[3])], rows[3], rows[4]
    if not relaxed:
        kinds = highspy.HighsVarType
        lp.integrality_ = [kinds.kInteger if w else kinds.kContinuous for w in whole]
    facts = {"variables": count[0], "constraints": len(rows[0])}
    left = limit - (time.time() - begun)
    if left <= 0:
        return None, "time (building)", facts
    h.setOptionValue("time_limit", left)
    h.passModel(lp)
    h.run()
    status = h.modelStatusToString(h.getModelStatus()).lower()
    if not h.getSolution().value_valid:
        return None, status, facts
    x = h.getSolution().col_value
    if not relaxed:
        if h.getInfo().primal_solution_status != 2:
            return None, status, facts
        return [i for t in range(n) for i in range(t + 1) if x[R[t][i]] > 0.5], status, facts
    # Two-phase rounding: S by a half, then the least R that serves it.
    if h.getInfo().primal_solution_status != 2:
        return None, status, facts
    keep = [[x[S[t][i]] > 0.5 for i in range(t)] for t in range(n)]
    run = [[False] * (t + 1) for t in range(n)]
    for t in range(n):
        run[t][t] = True
    for t in range(n - 1, -1, -1):
        for i in range(t, -1, -1):
            if t + 1 < n and keep[t + 1][i] and not (i < t and keep[t][i]):
                run[t][i] = True
            if run[t][i]:
                for u in g.preds[i]:
                    if not keep[t][u]:
                        run[t][u] = True
    return [i for t in range(n) for i in range(t + 1) if run[t][i]], "rounded", facts
