// SPDX-License-Identifier: Apache-2.0
//
// What branching has learnt in a coarse model, read in a finer one, on random boundaries of random small graphs: a
// value's column at a boundary keeps what is its own, each part of a stage that was divided has what was learnt of the
// whole, and a column that is new has what its group has.
#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "engine/bounds/carry_over.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

TEST_CASE("what branching has learnt goes by names") {
  ebb::test::Rng rng(ebb::test::Seed("carried_branching"));
  std::int64_t stays = 0, divided = 0, lent = 0;
  for (int round = 0; round < 500; ++round) {
    CAPTURE(round);
    const ebb::test::RandomCase c = ebb::test::DrawCase(rng, ebb::test::PlainOrNot(rng, 50, 4));
    INFO(c.Text());
    std::vector<std::int32_t> few, more;
    for (std::size_t p = 0; p < c.instance.num_ops; ++p) {
      if (!ebb::test::Chance(rng, 60)) continue;
      more.push_back(static_cast<std::int32_t>(p));
      if (ebb::test::Chance(rng, 60)) few.push_back(static_cast<std::int32_t>(p));
    }
    if (few.empty()) continue;
    const ebb::BoundaryModel coarse(c.instance, c.budget, few, {}, 0, true),
        fine(c.instance, c.budget, more, {}, 0, true);
    ebb::PseudoCosts learnt(coarse.columns().size(), coarse.program().group);
    std::map<std::int32_t, std::pair<double, int>> of_group;  // sum, count
    for (std::size_t j = 0; j < coarse.columns().size(); ++j) {
      const double gain = static_cast<double>(1 + j);
      learnt.Note(static_cast<std::int32_t>(j), 0, gain, 1.0);
      auto& [sum, count] = of_group[coarse.program().group[j]];
      sum += gain;
      ++count;
    }
    const ebb::PseudoCosts given = ebb::CarriedBranching(coarse, learnt).Give(fine);
    for (std::size_t j = 0; j < fine.columns().size(); ++j) {
      const ebb::BoundaryModel::Column& column = fine.columns()[j];
      const std::int32_t position = more[static_cast<std::size_t>(column.stage)];
      const auto at = std::upper_bound(few.begin(), few.end(), position);
      std::int32_t from = -1;
      if (column.kind == ebb::BoundaryModel::Kind::kEver) from = coarse.ever(column.item);
      if (at != few.begin()) {
        const std::int32_t stage = static_cast<std::int32_t>(at - few.begin()) - 1;
        const bool same = few[static_cast<std::size_t>(stage)] == position;
        if (column.kind == ebb::BoundaryModel::Kind::kStay && same) from = coarse.stay(stage, column.item);
        if (column.rerun()) from = coarse.rerun(stage, column.item);
        stays += column.kind == ebb::BoundaryModel::Kind::kStay && from >= 0;
        divided += column.rerun() && from >= 0 && !same;
      }
      const double predicted = given.Predicted(static_cast<std::int32_t>(j), 0, 1.0);
      if (from >= 0) {
        CHECK(predicted == doctest::Approx(1 + from));
      } else if (const auto g = of_group.find(fine.program().group[j]); g != of_group.end()) {
        CHECK(predicted == doctest::Approx(g->second.first / g->second.second));
        ++lent;
      }
    }
  }
  CHECK(stays > 100);
  CHECK(divided > 100);
  CHECK(lent > 100);
}
