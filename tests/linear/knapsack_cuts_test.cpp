// SPDX-License-Identifier: Apache-2.0
//
// Every cut of a random knapsack row holds at every 0/1 point that obeys the row, within random fixed columns.
#include "engine/linear/knapsack_cuts.hpp"

#include <vector>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "tests/support/seed.hpp"

TEST_CASE("knapsack cuts hold at every point of the row") {
  boost::random::mt19937 engine(static_cast<std::uint32_t>(ebb::test::Seed("knapsack_cuts")));
  const auto random = [&](int low, int high) {
    return boost::random::uniform_int_distribution<int>(low, high)(engine);
  };
  std::size_t cuts_seen = 0;
  for (int round = 0; round < 20000; ++round) {
    CAPTURE(round);
    const int n = random(2, 11);
    ebb::IntegerRows rows, cuts;
    std::int64_t least = 0, most = 0;
    const bool signs = random(0, 1) == 0;
    const int large = random(0, 1) == 0 ? 6 : 1000;
    for (int j = 0; j < n; ++j) {
      std::int64_t c = -random(1, large);
      if (signs && random(0, 2) == 0) c = -c;
      rows.Term(j, c);
      (c < 0 ? least : most) += c;
    }
    rows.EndRow(least + (most - least) * random(10, 90) / 100);
    std::vector<std::int8_t> lower(n, 0), upper(n, 1);
    std::vector<double> x(n);
    for (int j = 0; j < n; ++j) {
      x[j] = random(0, 2) == 0 ? random(0, 1) : random(0, 100) / 100.0;
      if (random(0, 5) == 0) {
        lower[j] = upper[j] = static_cast<std::int8_t>(random(0, 1));
        x[j] = lower[j];
      }
    }
    ebb::SeparateKnapsack(rows, 0, x, lower, upper, 0.001, cuts);
    cuts_seen += cuts.size();
    const auto activity = [&](const ebb::IntegerRows& r, std::size_t i, unsigned point) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < r.columns(i).size(); ++k)
        sum += r.coefficients(i)[k] * (point >> r.columns(i)[k] & 1U);
      return sum;
    };
    for (unsigned point = 0; point < 1U << n; ++point) {
      bool inside = activity(rows, 0, point) >= rows.rhs(0);
      for (int j = 0; j < n; ++j) {
        const int v = static_cast<int>(point >> j & 1U);
        inside = inside && v >= lower[j] && v <= upper[j];
      }
      if (!inside) continue;
      for (std::size_t c = 0; c < cuts.size(); ++c) REQUIRE(activity(cuts, c, point) >= cuts.rhs(c));
    }
  }
  CHECK(cuts_seen > 1000);
}
