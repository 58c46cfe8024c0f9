// SPDX-License-Identifier: Apache-2.0
// Ways share the work by what they gained for it lately.
#include "portfolio/gain_shares.hpp"

#include <array>

#include <doctest/doctest.h>

namespace ebb {
namespace {

constexpr std::size_t kWays = 4;

// `tries` tries; a try takes `work[way]` and gains `gain[way]`. The work of each way.
std::array<double, kWays> Run(GainShares& shares, int tries, const std::array<Ticks, kWays>& work,
                              const std::array<double, kWays>& gain) {
  std::array<double, kWays> had{};
  for (int i = 0; i < tries; ++i) {
    const std::size_t way = shares.Next();
    shares.Book(way, gain[way], work[way]);
    had[way] += static_cast<double>(work[way]);
  }
  return had;
}

TEST_CASE("gain shares: each way is tried before one is tried again") {
  GainShares shares(kWays);
  std::array<int, kWays> tried{};
  for (std::size_t i = 0; i < kWays; ++i) {
    const std::size_t way = shares.Next();
    ++tried[way];
    shares.Book(way, 0.0, 20'000'000);
  }
  for (const int n : tried) CHECK(n == 1);
}

TEST_CASE("gain shares: work goes where it gains, whatever a try takes, and the others keep a little") {
  GainShares shares(kWays);
  constexpr std::array<Ticks, kWays> kWork{2'000'000, 100'000'000, 20'000'000, 20'000'000};
  // Way 1 gains twice as much for its work as way 0, though way 0 has more tries; the others gain nothing.
  constexpr std::array<double, kWays> kGain{0.005, 0.5, 0, 0};
  Run(shares, 400, kWork, kGain);
  const std::array<double, kWays> had = Run(shares, 4'000, kWork, kGain);
  CHECK(had[1] > 1.4 * had[0]);
  CHECK(had[0] > 2 * had[2]);
  CHECK(had[2] > 0.05 * had[1]);
  CHECK(had[3] > 0.05 * had[1]);
}

TEST_CASE("gain shares: a way that gains no longer gives its share back") {
  GainShares shares(kWays);
  constexpr std::array<Ticks, kWays> kWork{20'000'000, 20'000'000, 20'000'000, 20'000'000};
  const std::array<double, kWays> first = Run(shares, 200, kWork, {1, 0, 0, 0});
  CHECK(first[0] > 2 * (first[1] + first[2] + first[3]));
  Run(shares, 100, kWork, {0, 1, 0, 0});
  const std::array<double, kWays> then = Run(shares, 200, kWork, {0, 1, 0, 0});
  CHECK(then[1] > 2 * (then[0] + then[2] + then[3]));
  CHECK(shares.Rate(0) < 0.1 * shares.Rate(1));
}

}  // namespace
}  // namespace ebb
