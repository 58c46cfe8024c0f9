// SPDX-License-Identifier: Apache-2.0
// Neighbourhoods cut out of plans: what stands there now has the same memory in the small instance as in the whole, and
// what the relaxation finds for the small instance is as good in the whole.
#include "portfolio/neighbourhood.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/decode.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

namespace ebb::test {
namespace {

// A plan with repeats that is hardly polished.
std::vector<std::int32_t> PoorPlan(const Instance& in, std::int64_t budget, std::uint64_t seed) {
  AnnealingParams params;
  params.budget = budget;
  params.seed = seed;
  params.hot = 100;
  Annealing annealing(in, params);
  annealing.Start(in.order);
  for (int i = 0; i < 50 && !annealing.has_plan(); ++i) {
    WorkBudget work(200'000);
    annealing.Run(work);
  }
  return annealing.has_plan() ? annealing.best_sequence() : std::vector<std::int32_t>{};
}

TEST_CASE("neighbourhoods: the same memory inside as outside, and better is better") {
  Rng rng(Seed("neighbourhood"));
  int cuts = 0, dropped = 0, better = 0;
  for (int round = 0; round < 400; ++round) {
    const RandomCase drawn = DrawCase(rng, PlainInTurn(round, 8, 16));
    if (!Scarce(drawn)) continue;
    const Instance& in = drawn.instance;
    const std::int64_t budget = drawn.budget;
    const std::vector<std::int32_t> plan = PoorPlan(in, budget, static_cast<std::uint64_t>(round));
    if (plan.empty()) continue;
    const SequenceFacts whole = EvaluateSequence(in, plan);
    CAPTURE(round);
    REQUIRE(whole.valid);
    REQUIRE(whole.peak <= budget);
    PlanView view(in, plan, budget);
    CHECK(view.duration() == whole.duration);
    CHECK(view.repeats().size() == plan.size() - in.num_ops);
    for (int k = 0; k < 6; ++k) {
      const auto length = static_cast<std::int64_t>(plan.size());
      const std::int64_t begin = Draw(rng, 1, length - 1), end = Draw(rng, begin + 1, length);
      std::vector<std::uint8_t> free(in.num_ops);
      for (auto& f : free) f = Chance(rng, 60) ? 1 : 0;
      const Neighbourhood cut = view.Cut(static_cast<std::size_t>(begin), static_cast<std::size_t>(end), free);
      ++cuts;
      // The window as it is, in the small instance.
      std::vector<std::int32_t> same;
      for (std::int32_t op = 0; op <= cut.gate; ++op) same.push_back(op);
      std::int32_t next = cut.gate + 1;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int32_t op = plan[static_cast<std::size_t>(i)];
        const bool repeat = std::find(plan.begin(), plan.begin() + i, op) != plan.begin() + i;
        if (next < static_cast<std::int32_t>(cut.op.size()) && cut.op[static_cast<std::size_t>(next)] == op) {
          same.push_back(next++);
          continue;
        }
        REQUIRE(repeat);
        REQUIRE(free[static_cast<std::size_t>(op)]);
        ++dropped;
        const auto at = std::find(cut.op.begin(), cut.op.end(), op);
        REQUIRE(at != cut.op.end());
        same.push_back(static_cast<std::int32_t>(at - cut.op.begin()));
      }
      REQUIRE(next == static_cast<std::int32_t>(cut.instance.num_ops));
      CHECK(view.With(cut, same) == plan);
      if (in.plain) {
        const SequenceFacts inside = EvaluateSequence(cut.instance, same);
        REQUIRE(inside.valid);
        CHECK(inside.duration == cut.duration);
        for (std::int64_t i = begin; i < end; ++i)
          CHECK(inside.profile[static_cast<std::size_t>(cut.gate + 1 + i - begin)] ==
                whole.profile[static_cast<std::size_t>(i)]);
      }
      Decoder decoder;
      BoundarySolver::Params params;
      params.from = cut.gate;
      params.entry = cut.entry;
      BoundarySolver solver(cut.instance, budget, OrderMode::kFixed, &decoder, params);
      solver.SetIncumbent(cut.duration);
      WorkBudget work(50'000'000);
      while (!solver.Step(work) && !work.Exhausted()) {
      }
      for (const BoundarySolver::Candidate& c : solver.TakeCandidates()) {
        if (!c.fits || c.duration >= cut.duration) continue;
        const SequenceFacts after = EvaluateSequence(in, view.With(cut, c.sequence));
        if (!in.plain && !after.valid) continue;  // judged again before it counts
        REQUIRE(after.valid);
        CHECK(after.duration - whole.duration == c.duration - cut.duration);
        if (in.plain) CHECK(after.peak <= budget);
        ++better;
      }
    }
  }
  MESSAGE(cuts << " neighbourhoods, " << dropped << " repeats dropped, " << better << " times better");
  CHECK(dropped > 100);
  CHECK(better > 10);
}

}  // namespace
}  // namespace ebb::test
