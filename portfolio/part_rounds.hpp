// SPDX-License-Identifier: Apache-2.0
//
// The parts of a large graph, each with a search of its own (part_search.hpp), worked on in rounds: every part that is
// not finished has a visit of so much work, widest gaps first, each round's visits longer than the last one's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/work_budget.hpp"
#include "engine/problem/instance.hpp"
#include "portfolio/part_search.hpp"
#include "portfolio/problem.hpp"

namespace ebb {

class PartRounds {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  // `growth`: of the visits from round to round.
  PartRounds(const Problem& problem, Ticks first_visit, double growth)
      : problem_(problem), visit_(first_visit), growth_(growth) {}

  // One more part; its index is size() before.
  void Add(std::shared_ptr<const Instance> part);
  // Which parts are worked on here; all are there.
  void Begin(const std::function<bool(std::size_t)>& mine);

  [[nodiscard]] std::size_t size() const { return searches_.size(); }
  [[nodiscard]] PartSearch& operator[](std::size_t i) { return *searches_[i]; }
  [[nodiscard]] const PartSearch& operator[](std::size_t i) const { return *searches_[i]; }

  // Works on the part whose turn it is; which one that was, kNone: nothing is left to do.
  std::size_t Work(WorkBudget& work);
  [[nodiscard]] std::int32_t rounds() const { return rounds_; }  // begun
  // Has any got a better sequence or bound since the last call?
  [[nodiscard]] bool TakeChanged() { return std::exchange(changed_, false); }
  void SetChanged() { changed_ = true; }

 private:
  // Graphs up to this size keep the solvers of all parts between rounds.
  [[nodiscard]] bool KeepsState() const { return problem_.instance.num_ops <= 200'000; }
  [[nodiscard]] std::int64_t Width(std::size_t i) const;

  const Problem& problem_;
  std::vector<std::unique_ptr<PartSearch>> searches_;
  std::vector<std::size_t> turn_;  // those that are worked on and not finished
  std::size_t at_ = 0;
  Ticks visit_, visited_ = 0;
  const double growth_;
  std::int32_t rounds_ = 0;
  bool changed_ = false;
};

}  // namespace ebb
