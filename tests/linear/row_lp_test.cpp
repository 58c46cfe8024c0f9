// SPDX-License-Identifier: Apache-2.0
//
// The LP of the rows and columns that are needed against the LP of all, under what a search does with it: domains,
// rows that come and go, bases kept and set again, columns left out for good.
#include "engine/linear/row_lp.hpp"

#include <algorithm>
#include <vector>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "tests/support/seed.hpp"

namespace {

using ebb::IntegerRows;
using ebb::LpOutcome;
using ebb::RowLp;

struct Random {
  boost::random::mt19937 engine;
  int operator()(int low, int high) { return boost::random::uniform_int_distribution<int>(low, high)(engine); }
};

ebb::WorkBudget Plenty() { return ebb::WorkBudget(1'000'000'000'000); }

// The value with all rows and columns; negative: infeasible.
double Whole(const std::vector<std::int64_t>& cost, const IntegerRows& rows, const std::vector<std::int8_t>& lower,
             const std::vector<std::int8_t>& upper) {
  ebb::LinearProgram lp(cost);
  for (std::size_t r = 0; r < rows.size(); ++r) lp.AddRow(rows.columns(r), rows.coefficients(r), rows.rhs(r));
  for (std::size_t j = 0; j < cost.size(); ++j) lp.SetBounds(static_cast<std::int32_t>(j), lower[j], upper[j]);
  ebb::WorkBudget work = Plenty();
  return lp.Solve(work, 1e100) == LpOutcome::kOptimal ? lp.objective() : -1e9;
}

}  // namespace

TEST_CASE("the LP of what is needed has the value of the whole one") {
  if (!ebb::LinearProgram::Available()) {
    MESSAGE("no LP library");
    return;
  }
  Random random{boost::random::mt19937(static_cast<std::uint32_t>(ebb::test::Seed("row_lp")))};
  for (int trial = 0; trial < 300; ++trial) {
    const int n = random(2, 14);
    std::vector<std::int64_t> cost;
    for (int j = 0; j < n; ++j) cost.push_back(random(0, 3) == 0 ? 0 : random(-2, 20));
    IntegerRows rows;
    std::vector<std::int32_t> lazy;
    for (int r = random(1, 2 * n); r > 0; --r) {
      for (int j = 0; j < n; ++j)
        if (random(0, 3) == 0) rows.Term(j, random(0, 2) == 0 ? -random(1, 3) : random(1, 3));
      if (rows.open_terms() == 0) continue;
      const std::int32_t row = rows.EndRow(random(-2, 1));
      if (random(0, 3) != 0) lazy.push_back(row);
    }
    if (rows.size() == 0) continue;
    RowLp lp(cost, rows, lazy);
    const std::size_t un = static_cast<std::size_t>(n);
    std::vector<std::int8_t> root_lower(un, 0), root_upper(un, 1);
    std::vector<RowLp::Basis> bases;
    RowLp::Look look;
    look.min_efficacy = 1e-7;
    look.fresh = false;
    for (int step = 0; step < 8; ++step) {
      // A part of the domain.
      std::vector<std::int8_t> lower = root_lower, upper = root_upper;
      for (int times = random(0, n / 2); times > 0; --times) {
        const std::size_t j = static_cast<std::size_t>(random(0, n - 1));
        if (lower[j] != upper[j]) lower[j] = upper[j] = static_cast<std::int8_t>(random(0, 1));
      }
      if (!bases.empty() && random(0, 1) == 0)
        lp.RestoreBasis(bases[static_cast<std::size_t>(random(0, static_cast<int>(bases.size()) - 1))]);
      lp.SetDomain(lower, upper);
      const double wanted = Whole(cost, rows, lower, upper);
      for (;;) {
        ebb::WorkBudget work = Plenty();
        const LpOutcome outcome = lp.Solve(work, 1e100);
        if (outcome == LpOutcome::kInfeasible) {
          CHECK(wanted == -1e9);
          break;
        }
        REQUIRE(outcome == LpOutcome::kOptimal);
        for (std::size_t j = 0; j < un; ++j) {
          CHECK(lp.x()[j] >= lower[j] - 1e-6);
          CHECK(lp.x()[j] <= upper[j] + 1e-6);
        }
        if (lp.AddViolated(lp.x(), look, work) > 0) continue;
        double value = 0.0;
        for (std::size_t j = 0; j < un; ++j) value += static_cast<double>(cost[j]) * lp.x()[j];
        CHECK(lp.value() == doctest::Approx(value).epsilon(1e-6));
        CHECK(lp.value() == doctest::Approx(wanted).epsilon(1e-4));
        bases.push_back(lp.SaveBasis());
        break;
      }
      if (random(0, 3) == 0) lp.DropSlackRows(true);
      if (random(0, 3) == 0) lp.AgeRows(0);
      if (random(0, 3) == 0) {
        const std::size_t j = static_cast<std::size_t>(random(0, n - 1));
        if (root_lower[j] != root_upper[j]) root_lower[j] = root_upper[j] = static_cast<std::int8_t>(random(0, 1));
        if (Whole(cost, rows, root_lower, root_upper) == -1e9) break;
        lp.Rebuild(root_lower, root_upper);
        CHECK(lp.num_columns() ==
              static_cast<std::size_t>(std::count(root_lower.begin(), root_lower.end(), std::int8_t{0}) -
                                       std::count(root_upper.begin(), root_upper.end(), std::int8_t{0})));
      }
    }
  }
}
