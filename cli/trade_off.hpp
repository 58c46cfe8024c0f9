// SPDX-License-Identifier: Apache-2.0
//
// The trade-off between memory and time: points of (budget, answer), made monotone, and written as CSV, JSON or SVG.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/handles.hpp"

namespace ebb::cli {

struct CurvePoint {
  std::int64_t budget = 0;
  ebb_status status = EBB_STATUS_UNKNOWN;
  std::int64_t lower_bound = 0;
  std::int64_t duration = -1, peak = -1, executions = -1;  // -1: no plan
  double seconds = 0;
};

struct Curve {
  std::string graph;
  std::int64_t base_duration = 0, base_peak = 0;
  std::vector<CurvePoint> points;  // by ascending budget
};

// A plan for a budget is a plan for every larger one, and a bound for a budget is one for every smaller one. Afterwards
// a lower budget has no shorter duration, no higher peak, no lower bound, and where one is infeasible so are all below.
// A point closes where its bound meets its duration.
void MakeMonotone(Curve& curve);

[[nodiscard]] std::string CurveCsv(const Curve& curve);
[[nodiscard]] std::string CurveJson(const Curve& curve);
// Duration above the base against the budget, with the bound's curve under it.
[[nodiscard]] std::string CurveSvg(const Curve& curve);

}  // namespace ebb::cli
