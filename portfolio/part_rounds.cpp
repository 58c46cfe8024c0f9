// SPDX-License-Identifier: Apache-2.0
#include "portfolio/part_rounds.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ebb {
namespace {
constexpr Ticks kLongest = 30;        // visits
constexpr Ticks kLeast = 20'000'000;  // of a visit that is prolonged
}  // namespace

void PartRounds::Add(std::shared_ptr<const Instance> part) {
  searches_.push_back(std::make_unique<PartSearch>(problem_, std::move(part), static_cast<int>(searches_.size())));
}

void PartRounds::Begin(const std::function<bool(std::size_t)>& mine) {
  for (std::size_t i = 0; i < searches_.size(); ++i)
    if (mine(i)) turn_.push_back(i);
  at_ = turn_.size();  // the first round begins with the first call of Work
}

std::int64_t PartRounds::Width(std::size_t i) const {
  const PartSearch& s = *searches_[i];
  return s.has_plan() ? s.upper() - s.lower() : std::numeric_limits<std::int64_t>::max();
}

std::size_t PartRounds::Work(WorkBudget& work) {
  if (at_ >= turn_.size()) {
    std::erase_if(turn_, [&](std::size_t i) { return searches_[i]->exhausted(); });
    if (turn_.empty()) return kNone;
    if (rounds_++ > 0) visit_ = static_cast<Ticks>(static_cast<double>(visit_) * growth_);
    at_ = 0;
    std::stable_sort(turn_.begin(), turn_.end(), [&](std::size_t a, std::size_t b) { return Width(a) > Width(b); });
  }
  const std::size_t i = turn_[at_];
  PartSearch& search = *searches_[i];
  const std::int64_t lower = search.lower();
  WorkBudget part(std::min(work.left(), std::max<Ticks>(visit_ - visited_, kLeast)), work.stop_signal());
  const bool better = search.Run(part);
  changed_ |= better || search.lower() > lower;
  const Ticks spent = std::max<Ticks>(part.spent(), 10'000);
  work.Spend(spent);
  visited_ += spent;
  // Whoever forgets stays until what it would have to find again has paid.
  const bool stays = !KeepsState() && !search.settled() && visited_ < kLongest * visit_;
  if (search.exhausted() || (visited_ >= visit_ && !stays)) {
    if (!KeepsState()) search.Rest();
    visited_ = 0;
    ++at_;
  }
  return i;
}

}  // namespace ebb
