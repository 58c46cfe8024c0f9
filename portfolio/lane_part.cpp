// SPDX-License-Identifier: Apache-2.0
#include "portfolio/lane_part.hpp"

#include <algorithm>
#include <cmath>

namespace ebb {
namespace {
constexpr double kMemory = 5e8;     // ticks of the lane
constexpr double kLeastWork = 1e7;  // below that a rate says nothing
constexpr double kLeast = 0.07, kMost = 0.6;
constexpr double kIdle = 0.25;    // where nobody gains
constexpr double kTrifle = 1e-5;  // of what runs again, for a unit of work: as good as nothing
constexpr double kBarren = 3e9;   // ticks of the lane without a better plan, after which proofs are to have its time
constexpr double kMostCredit = 2e7;
}  // namespace

double LanePart::Record::Rate() const { return gain / std::max(work, kLeastWork); }

double LanePart::Part(std::int64_t repeats) const {
  const double barren = std::max(1.0, static_cast<double>(clock_ - gained_) / kBarren);
  if (repeats <= 0) return kLeast / barren;
  const double trifle = kTrifle * static_cast<double>(repeats) / static_cast<double>(kTicksPerWork);
  const double mine = mine_.Rate(), others = others_.Rate();
  return std::clamp((mine + kIdle / barren * trifle) / (mine + others + trifle), kLeast / barren, kMost);
}

void LanePart::Note(Ticks clock, std::int64_t best, bool mine, std::int64_t repeats) {
  const auto lane = static_cast<double>(clock - clock_), work = static_cast<double>(own_);
  const double rest = std::max(0.0, lane - work), part = Part(repeats);
  clock_ = clock;
  own_ = 0;
  credit_ = std::min(credit_ + part / (1 - part) * rest, kMostCredit);
  due_ = credit_ >= 0;
  const double keep = std::exp(-lane / kMemory);
  for (Record* r : {&mine_, &others_}) {
    r->gain *= keep;
    r->work *= keep;
  }
  mine_.work += work;
  others_.work += rest;
  if (best_ > best) (mine ? mine_ : others_).gain += static_cast<double>(best_ - best);
  if (best_ == 0 || best_ > best) gained_ = clock;
  if (best_ == 0 || (best_ > best && !mine)) others_gained_ = clock;
  best_ = best;
}

}  // namespace ebb
