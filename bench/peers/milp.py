# SPDX-License-Identifier: Apache-2.0
"""A mixed-integer program as flat arrays, and HiGHS. Ten million entries take some hundred megabytes, no more."""
import time
from array import array


class OutOfTime(Exception):
    pass


class Program:
    def __init__(self, run):
        """run: one.Run; building stops with OutOfTime when it has expired"""
        self.run = run
        self.lower, self.upper, self.cost = array("d"), array("d"), array("d")
        self.integer = array("b")
        self.row_lower, self.row_upper = array("d"), array("d")
        self.start, self.index, self.value = array("i"), array("i"), array("d")

    def var(self, lower, upper, cost=0.0, integer=True):
        self.lower.append(lower), self.upper.append(upper), self.cost.append(cost), self.integer.append(integer)
        return len(self.lower) - 1

    def row(self, lower, upper, terms):
        """terms: (variable, factor); a variable may come twice"""
        if len(self.start) % 1024 == 0 and self.run.expired():
            raise OutOfTime
        self.row_lower.append(lower), self.row_upper.append(upper), self.start.append(len(self.index))
        merged = {}
        for i, a in terms:
            merged[i] = merged.get(i, 0.0) + a
        self.index.extend(merged), self.value.extend(merged.values())

    def sizes(self):
        return {"variables": len(self.lower), "constraints": len(self.row_lower), "entries": len(self.index)}

    def solve(self, relaxed="", improved=None):
        """(values or None, HiGHS' status, facts). improved(values): at each new incumbent of the search. relaxed: "ipm" or
        "pdlp", the method for the relaxation, without crossover: rounding needs no vertex. PDLP cannot be asked to stop (by
        processor time it is killed when it does not end). It converges slowly past three digits, so it may stop at a gap of 2e-4."""
        import highspy
        import numpy

        h = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", self.run.threads), ("random_seed", self.run.seed % 2147483647)):
            h.setOptionValue(option, value)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self.lower), len(self.row_lower)
        as_numpy = lambda a, kind: numpy.frombuffer(a, dtype=kind) if len(a) else numpy.zeros(0, dtype=kind)
        lp.col_cost_, lp.col_lower_ = as_numpy(self.cost, "d"), as_numpy(self.lower, "d")
        lp.col_upper_ = as_numpy(self.upper, "d")
        lp.row_lower_, lp.row_upper_ = as_numpy(self.row_lower, "d"), as_numpy(self.row_upper, "d")
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = numpy.append(as_numpy(self.start, "i"), numpy.int32(len(self.index)))
        lp.a_matrix_.index_, lp.a_matrix_.value_ = as_numpy(self.index, "i"), as_numpy(self.value, "d")
        if relaxed:
            h.setOptionValue("solver", relaxed)
            h.setOptionValue("run_crossover", "off")
            if relaxed == "pdlp":
                h.setOptionValue("primal_feasibility_tolerance", 1e-5)
                h.setOptionValue("dual_feasibility_tolerance", 1e-5)
                h.setOptionValue("pdlp_optimality_tolerance", 2e-4)
        else:
            kinds = highspy.HighsVarType
            lp.integrality_ = [kinds.kInteger if w else kinds.kContinuous for w in self.integer]
        left = self.run.deadline - time.time()
        if left <= 0 or self.run.expired():
            raise OutOfTime
        h.setOptionValue("time_limit", left)
        h.passModel(lp)
        if improved and not relaxed:
            h.cbMipImprovingSolution += lambda event: improved(event.data_out.mip_solution)
        h.HandleUserInterrupt = True
        self.run.stop = h.cancelSolve
        h.run()
        self.run.stop = None
        status = h.modelStatusToString(h.getModelStatus()).lower()
        info, solution = h.getInfo(), h.getSolution()
        facts = self.sizes()
        if not relaxed and abs(info.mip_dual_bound) < 1e30:
            facts["own bound"] = info.mip_dual_bound
        if relaxed:
            facts["relaxation by"] = relaxed
        solved = info.primal_solution_status == 2
        if relaxed == "pdlp" and status == "unknown" and solution.value_valid:
            status, solved = "optimal", True  # converged as asked; HiGHS' word for that is kept for its stricter default
        if not solution.value_valid or not solved:
            return None, status, facts
        if relaxed:
            facts["relaxation"] = info.objective_function_value
        return solution.col_value, status, facts
