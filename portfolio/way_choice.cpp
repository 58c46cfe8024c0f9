// SPDX-License-Identifier: Apache-2.0
#include "portfolio/way_choice.hpp"

#include <algorithm>
#include <cmath>

#include "portfolio/success.hpp"

namespace ebb {
namespace {
constexpr double kMemory = 3e8;     // ticks of a way's own
constexpr double kLeastWork = 1e8;  // below that a rate says little
}  // namespace

double WayChoice::Way::Rate() const { return gain / std::max(work, kLeastWork); }

std::size_t WayChoice::Next(std::span<const std::uint8_t> sensible) {
  std::size_t next = 0;
  for (std::size_t k = 1; k < ways_.size(); ++k) {
    if (sensible[k] == 0)
      ways_[k].had = std::max(ways_[k].had, ways_[0].had);
    else if (ways_[k].had < ways_[next].had)
      next = k;
  }
  return next;
}

void WayChoice::Book(std::size_t way, double gain, Ticks work) {
  Way& w = ways_[way];
  const double keep = std::exp(-static_cast<double>(work) / kMemory);
  w.gain = w.gain * keep + gain;
  w.work = w.work * keep + static_cast<double>(work);
  double best = 0, total = 0;
  for (const Way& x : ways_) best = std::max(best, x.Rate());
  const auto weight = [&](const Way& x) { return WeightOfRate(x.Rate(), best); };
  for (const Way& x : ways_) total += weight(x);
  w.had += static_cast<double>(work) * total / weight(w);
}

}  // namespace ebb
