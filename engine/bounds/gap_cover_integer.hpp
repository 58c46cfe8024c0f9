// SPDX-License-Identifier: Apache-2.0
//
// The gap cover with whole gaps: a 0/1 program, far stronger than its linear relaxation where few gaps are large (it
// alone proves ResNet50 and FCN8 at 0.9 and 0.8 optimal). Ops whose duration several storages share get columns of
// their own, so nothing is lost by sharing. Gaps that the flow's reduced costs decide are left out from the start;
// parts of the time line that no gap connects are solved one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

class GapCoverInteger {
 public:
  // `flow` must be a bound without shortage for the same table and budget; all three are only read here.
  // `cutoff`: only covers of less additional duration are of interest (that of the best plan known).
  GapCoverInteger(const Instance& instance, const GapTable& table, const GapCoverBound& flow, std::int64_t budget,
                  std::optional<std::int64_t> cutoff);
  ~GapCoverInteger();
  GapCoverInteger(const GapCoverInteger&) = delete;
  GapCoverInteger& operator=(const GapCoverInteger&) = delete;

  void SetCutoff(std::int64_t cutoff);  // never raised

  // Works until the budget is used up; true once everything is proved. Goes on where it stopped.
  bool Step(WorkBudget& work);

  // Proved: every plan takes at least base duration + extra, or at least as long as the cutoff. Monotone; never below
  // the flow's.
  [[nodiscard]] std::int64_t extra() const;
  // A cover with the least cost found so far, per gap; not a plan, but what one may try to drop. Empty: none yet. Where
  // Step has returned true and extra() is below the cutoff it is an optimal cover.
  [[nodiscard]] std::span<const std::uint8_t> dropped() const;
  [[nodiscard]] std::size_t num_columns() const;  // of all parts together, after fixing

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ebb
