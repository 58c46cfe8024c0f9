// SPDX-License-Identifier: Apache-2.0
//
// What the two makers of gap tables have in common: gaps become rows' bytes, sorted and with their charges beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/bounds/gaps.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

class GapTableBuilder {
 public:
  static constexpr std::int32_t kMaxViews = 16;  // makers charged of a chain of nested views: more could be quadratic

  // Throws InputError where bytes could leave 63 bits.
  GapTableBuilder(const Instance& instance, const std::vector<std::int32_t>& root, std::vector<std::int32_t> row_op);

  // Its rows must not be empty; `charges` may hold repeats (is sorted here). Pinned where one of them may not repeat.
  void Add(const Gap& gap, std::vector<std::int32_t>& charges);
  // Throws Interrupted where `stop` says so.
  [[nodiscard]] GapTable Finish(const StopSignal* stop = nullptr);

 private:
  struct Draft {
    Gap gap;
    std::int64_t charge_begin, charge_end;
  };
  std::int64_t OwnBytes(std::size_t op);
  void Sort(const StopSignal* stop);

  const Instance& in_;
  const std::vector<std::int32_t>& root_;
  GapTable table_;
  std::vector<std::int64_t> stays_, spans_;  // differences of neighbouring rows
  std::vector<Draft> drafts_;
  std::vector<std::int32_t> charged_, scratch_;
};

}  // namespace ebb
