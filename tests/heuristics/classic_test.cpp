// SPDX-License-Identifier: Apache-2.0
// The methods of the literature: their closed forms, the optimum on small chains, validity on random graphs.
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "heuristics/chen.hpp"
#include "heuristics/dtr.hpp"
#include "heuristics/revolve.hpp"
#include "heuristics/state_search.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/chain_graph.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

TEST_CASE("revolve: t(l, s) is the optimum of the recursion") {
  // t(l, s) = min over m of m + t(l - m, s - 1) + t(m, s), t(l, 1) = l (l - 1) / 2, t(1, s) = 0.
  constexpr int kL = 60, kS = 8;
  std::int64_t t[kL + 1][kS + 1];
  for (int s = 1; s <= kS; ++s)
    for (int l = 1; l <= kL; ++l) {
      t[l][s] = s == 1 || l == 1 ? l * (l - 1) / 2 : 1'000'000;
      for (int m = 1; s > 1 && m < l; ++m) t[l][s] = std::min(t[l][s], m + t[l - m][s - 1] + t[m][s]);
      REQUIRE(RevolveSteps(l, s) == t[l][s]);
      if (s == 1 || l == 1) continue;
      const std::int64_t m = RevolveSplit(l, s);
      REQUIRE(m + RevolveSteps(l - m, s - 1) + RevolveSteps(m, s) == t[l][s]);
    }
}

TEST_CASE("revolve on chains: the binomial count, the budget, and at three bytes 2n + (n-1)(n-2)/2") {
  for (int n = 2; n <= 40; ++n) {
    const Instance in = MakeInstance(Chain(n));
    for (int s = 1; s <= 6 && s < n; ++s) {
      RevolveParams params;
      params.snapshots = s;
      const std::vector<std::int32_t> sequence = RevolveSequence(in, params, 1'000'000);
      const SequenceFacts facts = EvaluateSequence(in, sequence);
      INFO("n " << n << " s " << s);
      REQUIRE(facts.valid);
      REQUIRE(FollowsOrder(in, sequence, true, false));
      CHECK(facts.peak <= s + 2);
      CHECK(facts.duration == n + 1 + RevolveSteps(n, s));
      if (s == 1) CHECK(facts.duration == 2 * n + (n - 1) * (n - 2) / 2);
    }
  }
}

TEST_CASE("revolve on small chains is the optimum") {
  for (int n = 3; n <= 7; ++n)
    for (int budget = 3; budget <= n; ++budget) {
      const Instance in = MakeInstance(Chain(n));
      WorkBudget work(2'000'000'000);
      const StateSearchResult best = SearchStates(in, budget, OrderMode::kFixed, 0, work);
      REQUIRE(best.status == SolveStatus::kOptimal);
      INFO("n " << n << " budget " << budget);
      CHECK(best.duration == n + 1 + RevolveSteps(n, budget - 2));
    }
}

TEST_CASE("Chen on a chain: about twice the root of n bytes for one more forward pass") {
  for (const int n : {16, 25, 100, 400}) {
    const Instance in = MakeInstance(Chain(n));
    const std::vector<std::int32_t> sequence = ChenSequence(in, ChenCandidates::kAllForward);
    const SequenceFacts facts = EvaluateSequence(in, sequence);
    const int root = static_cast<int>(std::lround(std::sqrt(n)));
    INFO("n " << n);
    REQUIRE(facts.valid);
    CHECK(facts.duration <= 3 * n);
    CHECK(facts.peak <= 2 * root + 3);
    CHECK(facts.peak >= root);
    // Each value of a chain is an articulation point, but for the last, which leads nowhere forward.
    CHECK(ChenCandidateValues(in, ChenCandidates::kArticulation).size() + 2 >= static_cast<std::size_t>(n));
  }
}

TEST_CASE("DTR on a chain needs less than revolve has bytes for, or fails; with room it repeats nothing") {
  for (const int n : {8, 20, 50}) {
    const Instance in = MakeInstance(Chain(n));
    const std::int64_t peak = EvaluateSequence(in, in.order).peak;
    for (const DtrRule rule :
         {DtrRule::kFull, DtrRule::kClass, DtrRule::kLocal, DtrRule::kLru, DtrRule::kLargest, DtrRule::kMsps}) {
      WorkBudget work;
      CHECK(DtrSequence(in, {peak + 1, rule, 0}, work) == in.order);
      CHECK(DtrSequence(in, {2, rule, 100'000}, work).empty());  // an adjoint alone needs three
    }
    // The paper's theorem 4.1: with about 2 root n bytes a chain takes O(n) repeats.
    WorkBudget work;
    const auto budget = static_cast<std::int64_t>(2 * std::ceil(std::sqrt(n)) + 2);
    const std::vector<std::int32_t> sequence = DtrSequence(in, {budget, DtrRule::kFull, 0}, work);
    REQUIRE(!sequence.empty());
    CHECK(sequence.size() <= static_cast<std::size_t>(5 * n));
    CHECK(EvaluateSequence(in, sequence).duration >= n + 1 + RevolveSteps(n, budget - 2));
  }
}

TEST_CASE("random graphs: every method's answer is a sequence in the given order") {
  Rng rng(Seed("classic methods", 77));
  int found = 0;
  for (int round = 0; round < 1500; ++round) {
    const Graph graph = RandomGraph(rng, SmallAndLarge(round));
    const Instance in = MakeInstance(graph);
    const bool valid = EvaluateSequence(in, in.order).valid;
    const std::int64_t budget = RandomBudget(graph, rng);
    INFO(Describe(graph) << "\nbudget " << budget);
    const auto check = [&](const std::vector<std::int32_t>& sequence, const char* who, std::int64_t limit) {
      INFO(who);
      if (sequence.empty()) return;
      const SequenceFacts facts = EvaluateSequence(in, sequence);
      REQUIRE(facts.valid);
      REQUIRE(FollowsOrder(in, sequence, true, false));
      if (limit > 0) REQUIRE(facts.peak <= limit);
      ++found;
    };
    for (const ChenCandidates which : {ChenCandidates::kAllForward, ChenCandidates::kArticulation})
      for (const std::size_t k : {0, 1, 3}) {
        const auto sequence = ChenSequence(in, which, k);
        REQUIRE(sequence.empty() == !valid);
        check(sequence, "Chen", 0);
      }
    for (const bool cuts : {false, true})
      for (const bool entry : {false, true})
        for (int s = 1; s <= 3; ++s) {
          const auto sequence = RevolveSequence(in, {s, cuts, entry}, 100'000);
          REQUIRE(sequence.empty() == !valid);
          check(sequence, "revolve", 0);
        }
    for (const DtrRule rule :
         {DtrRule::kFull, DtrRule::kClass, DtrRule::kLocal, DtrRule::kLru, DtrRule::kLargest, DtrRule::kMsps}) {
      WorkBudget work;
      check(DtrSequence(in, {budget, rule, 2000}, work), "DTR", budget);
    }
  }
  CHECK(found > 1000);
}

}  // namespace
}  // namespace ebb::test
