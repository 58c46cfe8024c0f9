// SPDX-License-Identifier: Apache-2.0
//
// Random 0/1 programs against enumeration: the optimum, the bound at every stop, and every fixing; with all features on
// and off, with cutoffs above, at and below the optimum, and in small slices of work.
#include "engine/linear/branch_and_bound.hpp"

#include <algorithm>
#include <limits>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "tests/support/seed.hpp"

namespace {

using ebb::BinaryProgram;
using ebb::BranchAndBound;

struct Random {
  boost::random::mt19937 engine;
  int operator()(int low, int high) { return boost::random::uniform_int_distribution<int>(low, high)(engine); }
};

BinaryProgram MakeProgram(Random& random, int columns, std::int64_t unit) {
  BinaryProgram p;
  for (int j = 0; j < columns; ++j) p.cost.push_back(random(1, 20) * 3);
  const int rows = random(1, 2 * columns);
  for (int r = 0; r < rows; ++r) {
    const int kind = random(0, 3);
    std::int64_t least = 0, most = 0;
    for (int j = 0; j < columns; ++j) {
      if (random(0, 2) != 0) continue;
      std::int64_t c = 1;
      if (kind == 1) c = -1;
      if (kind == 2) c = random(0, 1) == 0 ? -1 : 1;
      if (kind == 3) c = -unit * random(1, 30);
      p.rows.Term(j, c);
      least += std::min<std::int64_t>(c, 0);
      most += std::max<std::int64_t>(c, 0);
    }
    if (p.rows.open_terms() == 0) continue;
    const std::int64_t rhs = kind == 3 ? least / random(2, 4) : std::min<std::int64_t>(most, random(-1, 2));
    const std::int32_t row = p.rows.EndRow(rhs);
    if (kind == 3) p.knapsacks.push_back(row);
    if (kind == 0 && random(0, 2) == 0) p.lazy.push_back(row);
  }
  // Some columns are given.
  if (random(0, 2) == 0) {
    p.lower.assign(p.cost.size(), 0);
    p.upper.assign(p.cost.size(), 1);
    for (int times = random(1, 2); times > 0; --times) {
      const auto j = static_cast<std::size_t>(random(0, columns - 1));
      p.lower[j] = p.upper[j] = static_cast<std::int8_t>(random(0, 1));
    }
  }
  return p;
}

// A vertex cover of a dense graph: the LP is content with halves, so the tree is deep.
BinaryProgram MakeCover(Random& random, int columns) {
  BinaryProgram p;
  for (int j = 0; j < columns; ++j) p.cost.push_back(100 + random(0, 5));
  for (int i = 0; i < columns; ++i) {
    for (int j = i + 1; j < columns; ++j) {
      if (random(0, 4) == 0) continue;
      p.rows.Term(i, 1);
      p.rows.Term(j, 1);
      p.rows.EndRow(1);
    }
  }
  return p;
}

std::int64_t Enumerate(const BinaryProgram& p) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  const int n = static_cast<int>(p.cost.size());
  for (std::uint32_t m = 0; m < (1U << n); ++m) {
    bool ok = true;
    for (std::size_t j = 0; j < p.lower.size(); ++j) {
      const int value = static_cast<int>(m >> j & 1U);
      ok = ok && p.lower[j] <= value && value <= p.upper[j];
    }
    for (std::size_t r = 0; r < p.rows.size() && ok; ++r) {
      std::int64_t a = 0;
      for (std::size_t k = 0; k < p.rows.columns(r).size(); ++k)
        if (m >> p.rows.columns(r)[k] & 1U) a += p.rows.coefficients(r)[k];
      ok = a >= p.rows.rhs(r);
    }
    if (!ok) continue;
    std::int64_t c = 0;
    for (int j = 0; j < n; ++j)
      if (m >> j & 1U) c += p.cost[static_cast<std::size_t>(j)];
    best = std::min(best, c);
  }
  return best;
}

}  // namespace

TEST_CASE("branch and bound finds the enumerated optimum and never bounds above it") {
  Random random{boost::random::mt19937(static_cast<std::uint32_t>(ebb::test::Seed("branch_and_bound")))};
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t failures = 0, nodes = 0, cuts = 0;
  for (int round = 0; round < 6000; ++round) {
    CAPTURE(round);
    const BinaryProgram program = MakeProgram(random, random(2, 14), random(0, 1) == 0 ? 1 : 123456789);
    const std::int64_t best = Enumerate(program);
    BranchAndBound::Params params;
    params.reduced_cost_fixing = random(0, 3) != 0;
    params.knapsack_cuts = random(0, 3) != 0;
    params.dive = random(0, 1) == 0;
    params.patient_dives = random(0, 1) == 0;
    params.keep_open = random(0, 1) == 0;
    params.root_rounds = random(0, 10);
    params.reliability = random(0, 4);
    params.thorough_depth = random(0, 3);
    BranchAndBound search(program, nullptr, params);
    std::int64_t cutoff = kNone;
    if (best != kNone && random(0, 1) == 0) search.SetCutoff(cutoff = best + 3 * random(-1, 2));
    const bool sliced = random(0, 1) == 0;
    for (int step = 0;; ++step) {
      REQUIRE(step < 100000);
      ebb::WorkBudget work(sliced ? 20000 + 1000 * step : 1'000'000'000);
      const auto state = search.Step(work);
      if (best < cutoff) REQUIRE(std::min(search.lower_bound(), search.cutoff()) <= best);
      if (state == BranchAndBound::State::kFinished) break;
    }
    if (best < cutoff) {
      REQUIRE(search.has_solution());
      CHECK(search.solution_cost() == best);
      CHECK(search.lower_bound() == best);
    } else {
      CHECK_FALSE(search.has_solution());
    }
    failures += search.counters().exact_failures;
    nodes += search.counters().nodes;
    cuts += search.counters().cuts;
  }
  MESSAGE("nodes " << nodes << ", cuts " << cuts << ", unconfirmed LP verdicts " << failures);
}

// Where the LP stands still the tree alone hardly comes upon a solution: every open node is as good as the others.
TEST_CASE("patient dives find a solution where the bound stands still, also in a tree that goes on with nodes") {
  Random random{boost::random::mt19937(static_cast<std::uint32_t>(ebb::test::Seed("patient_dives")))};
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const BinaryProgram program = MakeCover(random, 40);
    std::int64_t nodes[2];
    for (const bool patient : {false, true}) {
      BranchAndBound::Params params;
      params.dive = false;
      params.patient_dives = patient;
      params.keep_open = true;
      BranchAndBound search(program, nullptr, params);
      search.Adopt({BranchAndBound::OpenNode{{}, 0}});
      ebb::WorkBudget work(10'000'000'000);
      REQUIRE(search.Step(work) == BranchAndBound::State::kSolution);
      nodes[patient ? 1 : 0] = search.nodes();
    }
    CHECK(nodes[1] <= 2 * 32);
    CHECK(nodes[1] < nodes[0]);
  }
}

// Two searches that give each other half of their nodes at any time: nothing is lost on the way.
TEST_CASE("a tree that two search together") {
  Random random{boost::random::mt19937(static_cast<std::uint32_t>(ebb::test::Seed("two_searches")))};
  std::int64_t given = 0;
  for (int round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const BinaryProgram program = random(0, 1) == 0
                                      ? MakeCover(random, random(6, 12))
                                      : MakeProgram(random, random(6, 14), random(0, 1) == 0 ? 1 : 123456789);
    const std::int64_t best = Enumerate(program);
    std::int64_t cutoff = std::numeric_limits<std::int64_t>::max();
    if (best != cutoff && random(0, 2) != 0) cutoff = best + 3 * random(-1, 4);
    BranchAndBound::Params params;
    params.keep_open = true;
    params.root_rounds = random(0, 1);
    params.thorough_depth = random(0, 3);
    params.dive = false;
    BranchAndBound one(program, nullptr, params), other(program, nullptr, params);
    BranchAndBound* const both[] = {&one, &other};
    bool other_began = false, finished[2] = {false, false};
    std::int64_t found = std::numeric_limits<std::int64_t>::max();
    for (int step = 0; !finished[0] || (other_began && !finished[1]); ++step) {
      REQUIRE(step < 10'000);
      const std::size_t who = other_began && random(0, 1) == 0 ? 1 : 0;
      BranchAndBound& search = *both[who];
      if (cutoff != std::numeric_limits<std::int64_t>::max() && random(0, 4) == 0) search.SetCutoff(cutoff);
      ebb::WorkBudget work(random(1000, 50'000));
      const auto state = search.Step(work);
      if (search.has_solution()) found = std::min(found, search.solution_cost());
      std::int64_t bound = std::min(one.open_bound(), one.has_solution() ? one.solution_cost() : one.open_bound());
      if (other_began) bound = std::min({bound, other.open_bound(), found});
      if (best < std::min(one.cutoff(), other.cutoff())) REQUIRE(bound <= best);
      finished[who] = state == BranchAndBound::State::kFinished;
      if (finished[who]) continue;
      std::vector<BranchAndBound::OpenNode> half = search.GiveHalf();
      if (half.empty() || random(0, 2) == 0) {
        search.Adopt(std::move(half));
        continue;
      }
      for (const BranchAndBound::OpenNode& node : half) REQUIRE(node.depth >= 1);  // not even a root
      given += static_cast<std::int64_t>(half.size());
      both[1 - who]->Adopt(std::move(half));
      finished[1 - who] = false;
      other_began = true;
    }
    if (best < std::min(one.cutoff(), other.cutoff())) REQUIRE(found == best);
  }
  MESSAGE("nodes given " << given);
  CHECK(given > 1000);
}

TEST_CASE("near the root branching is thorough, and a node keeps its depth where it goes") {
  Random random{boost::random::mt19937(static_cast<std::uint32_t>(ebb::test::Seed("thorough")))};
  std::int64_t strong[2] = {0, 0}, deep = 0;
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    const BinaryProgram program = MakeCover(random, 14);
    for (const int thorough : {0, 1}) {
      BranchAndBound::Params params;
      params.keep_open = true;
      params.dive = false;
      params.root_rounds = params.reliability = 0;
      params.thorough_depth = thorough * 4;
      BranchAndBound search(program, nullptr, params);
      for (auto state = BranchAndBound::State::kLimit; state != BranchAndBound::State::kFinished;) {
        ebb::WorkBudget work(20'000);
        state = search.Step(work);
        for (const BranchAndBound::OpenNode& node : search.GiveHalf()) {
          REQUIRE(node.depth >= 1);
          REQUIRE(static_cast<std::size_t>(node.depth) <= node.fixed.size());
          deep = std::max<std::int64_t>(deep, node.depth);
        }
      }
      strong[thorough] += search.counters().strong_branchings;
    }
  }
  MESSAGE("strong branchings " << strong[0] << " and " << strong[1] << ", deepest node given " << deep);
  CHECK(strong[0] == 0);  // everything is believed
  CHECK(strong[1] > 300);
  CHECK(deep > 2);
}

TEST_CASE("what one tree leaves open another takes up") {
  Random random{boost::random::mt19937(static_cast<std::uint32_t>(ebb::test::Seed("open_nodes")))};
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t handed = 0, searches = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const BinaryProgram program = MakeProgram(random, random(4, 14), random(0, 1) == 0 ? 1 : 123456789);
    const std::int64_t best = Enumerate(program);
    std::int64_t cutoff = kNone;
    if (best != kNone && random(0, 2) != 0) cutoff = best + 3 * random(-1, 4);
    // The first is left at its first solution, or after a little; the second has its facts as well.
    BinaryProgram next = program;
    std::vector<BranchAndBound::OpenNode> open;
    bool finished = false, found = false;
    for (int leg = 0; !finished; ++leg) {
      REQUIRE(leg < 1000);
      BranchAndBound::Params params;
      params.keep_open = true;
      params.root_rounds = random(0, 2);
      params.thorough_depth = random(0, 3);
      params.dive = random(0, 2) == 0;
      params.patient_dives = random(0, 1) == 0;
      BranchAndBound search(next, nullptr, params);
      if (cutoff != kNone) search.SetCutoff(cutoff);
      if (leg > 0) search.Adopt(open);
      ebb::WorkBudget work(leg > 20 ? 1'000'000'000 : random(1000, 200'000));
      auto state = search.Step(work);
      while (state == BranchAndBound::State::kSolution && random(0, 20) < leg) state = search.Step(work);
      if (best < cutoff) REQUIRE(std::min(search.lower_bound(), search.cutoff()) <= best);
      if (search.has_solution()) {
        found = true;
        REQUIRE(search.solution_cost() >= best);
      }
      if (state == BranchAndBound::State::kFinished) {
        finished = true;
        REQUIRE((best < cutoff) == search.has_solution());
        if (search.has_solution()) REQUIRE(search.solution_cost() == best);
      }
      open = search.OpenNodes();
      handed += static_cast<std::int64_t>(open.size());
      ++searches;
      next.lower.assign(search.root_lower().begin(), search.root_lower().end());
      next.upper.assign(search.root_upper().begin(), search.root_upper().end());
    }
    REQUIRE((found || best >= cutoff));
  }
  MESSAGE("searches " << searches << ", nodes handed on " << handed);
}
