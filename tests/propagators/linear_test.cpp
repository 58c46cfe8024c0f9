// SPDX-License-Identifier: Apache-2.0
// Random 0/1 programs: the optimum by every combination of the linear propagators is that of enumeration. In check
// builds each clause passes its rule's checker.
#include <limits>
#include <memory>

#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>

#include "engine/core/engine.hpp"
#include "propagators/learning_solver.hpp"
#include "propagators/linear_relaxation.hpp"
#include "propagators/linear_rows.hpp"
#include "propagators/relaxation_brancher.hpp"
#include "propagators/weighted_sum.hpp"
#include "tests/support/seed.hpp"

namespace ebb {
namespace {

using core::Engine;
using core::Lit;
using Rng = boost::random::mt19937_64;

std::int64_t Draw(Rng& rng, std::int64_t lo, std::int64_t hi) {
  return boost::random::uniform_int_distribution<std::int64_t>(lo, hi)(rng);
}

struct Program {
  std::vector<std::int64_t> cost;
  IntegerRows shown, hidden;  // hidden: only the separator knows them
};

Program RandomProgram(Rng& rng) {
  Program p;
  const auto n = static_cast<std::int32_t>(Draw(rng, 3, 11));
  const std::int64_t scale = Draw(rng, 0, 1) == 0 ? 1 : 1'000'003;
  for (std::int32_t j = 0; j < n; ++j) p.cost.push_back(Draw(rng, 0, 9) * scale);
  const std::int64_t rows = Draw(rng, 1, 9);
  for (std::int64_t r = 0; r < rows; ++r) {
    IntegerRows& to = Draw(rng, 0, 3) == 0 ? p.hidden : p.shown;
    const std::int64_t kind = Draw(rng, 0, 2);
    std::int64_t most = 0;
    for (std::int32_t j = 0; j < n; ++j) {
      if (Draw(rng, 0, 1) == 0) continue;
      const std::int64_t a = kind == 0 ? 1 : kind == 1 ? Draw(rng, 1, 50) : Draw(rng, -20, 20);
      if (a == 0) continue;
      to.Term(j, kind == 1 ? -a : a);
      most += std::max<std::int64_t>(kind == 1 ? -a : a, 0);
    }
    if (to.open_terms() == 0) continue;
    to.EndRow(kind == 0 ? 1 : kind == 1 ? -Draw(rng, 10, 120) : Draw(rng, -30, most));
  }
  return p;
}

bool Obeys(const IntegerRows& rows, std::uint32_t mask) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < rows.columns(r).size(); ++k)
      if ((mask >> rows.columns(r)[k]) & 1) sum += rows.coefficients(r)[k];
    if (sum < rows.rhs(r)) return false;
  }
  return true;
}

std::int64_t ByEnumeration(const Program& p) {
  std::int64_t best = -1;
  for (std::uint32_t mask = 0; mask < (1u << p.cost.size()); ++mask) {
    if (!Obeys(p.shown, mask) || !Obeys(p.hidden, mask)) continue;
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < p.cost.size(); ++j)
      if ((mask >> j) & 1) sum += p.cost[j];
    if (best < 0 || sum < best) best = sum;
  }
  return best;
}

class Hidden final : public RowSeparator {
 public:
  explicit Hidden(const IntegerRows& rows) : rows_(rows) {}
  void Separate(std::span<const double> x, bool, bool, IntegerRows& out) override {
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      double sum = 0;
      for (std::size_t k = 0; k < rows_.columns(r).size(); ++k)
        sum += static_cast<double>(rows_.coefficients(r)[k]) * x[static_cast<std::size_t>(rows_.columns(r)[k])];
      if (sum >= static_cast<double>(rows_.rhs(r)) - 1e-9) continue;
      for (std::size_t k = 0; k < rows_.columns(r).size(); ++k) out.Term(rows_.columns(r)[k], rows_.coefficients(r)[k]);
      out.EndRow(rows_.rhs(r));
    }
  }

 private:
  const IntegerRows& rows_;
};

struct Switches {
  bool fixing, cuts, brancher, strong, permanent;
};

// The optimum by descending; -1: none.
std::int64_t ByEngine(const Program& p, const Switches& s, std::int32_t seed, std::int64_t expected) {
  Engine e(seed);
  LinearModel model;
  std::int64_t sum = 0;
  std::vector<WeightedSum::Term> terms;
  for (const std::int64_t c : p.cost) {
    model.column.push_back(e.NewLit());
    model.cost.push_back(c);
    if (c > 0) terms.push_back({model.column.back(), c});
    sum += c;
  }
  std::vector<std::int32_t> all;
  for (std::size_t r = 0; r < p.shown.size(); ++r) {
    for (std::size_t k = 0; k < p.shown.columns(r).size(); ++k)
      model.rows.Term(p.shown.columns(r)[k], p.shown.coefficients(r)[k]);
    all.push_back(model.rows.EndRow(p.shown.rhs(r)));
  }
  Hidden hidden(p.hidden);
  const core::IntVar total = e.NewInt(0, sum);
  auto rows = std::make_unique<LinearRows>(model);
  LinearRelaxation::Params params;
  params.reduced_cost_fixing = s.fixing;
  params.knapsack_cuts = s.cuts;
  auto relaxation =
      std::make_unique<LinearRelaxation>(model, rows.get(), &hidden, total, all, std::vector<std::int32_t>(), params);
  RelaxationBrancher brancher(*relaxation, {.strong_candidates = s.strong ? 4 : 0, .hard_side_first = seed % 3 == 0});
  if (s.brancher) e.SetBrancher(&brancher);
  LinearRelaxation& lp = *relaxation;
  e.Add(std::move(rows));
  e.Add(std::make_unique<WeightedSum>(terms, 0, total));
  e.Add(std::move(relaxation));
  std::int64_t best = -1;
  for (;;) {
    std::vector<Lit> assumptions;
    if (best >= 0) {
      if (best == 0) break;
      const Lit better = e.Leq(total, best - 1);
      if (s.permanent)
        e.AddClause({better});
      else
        assumptions.push_back(better);
    }
    lp.SetRootLevel(static_cast<std::int32_t>(assumptions.size()));
    WorkBudget budget;
    const core::SatResult result = e.Solve(assumptions, budget);
    REQUIRE(result != core::SatResult::kUnknown);
    if (best < 0 && expected >= 0) CHECK(lp.root_bound() <= expected);
    if (result == core::SatResult::kUnsat) break;
    std::int64_t cost = 0;
    std::uint32_t mask = 0;
    for (std::size_t j = 0; j < p.cost.size(); ++j)
      if (e.SolutionValue(model.column[j])) {
        cost += p.cost[j];
        mask |= 1u << j;
      }
    REQUIRE(Obeys(p.shown, mask));
    REQUIRE(Obeys(p.hidden, mask));
    REQUIRE((best < 0 || cost < best));
    REQUIRE(e.SolutionValue(total) >= cost);
    best = cost;
  }
  return best;
}

TEST_CASE("random 0/1 programs: every combination finds and proves the optimum of enumeration") {
  Rng rng(ebb::test::Seed("0/1 programs"));
  for (int round = 0; round < 60; ++round) {
    const Program p = RandomProgram(rng);
    const std::int64_t expected = ByEnumeration(p);
    for (int code = 0; code < 32; ++code) {
      const Switches s{(code & 1) != 0, (code & 2) != 0, (code & 4) != 0, (code & 8) != 0, (code & 16) != 0};
      const std::int64_t found = ByEngine(p, s, round, expected);
      REQUIRE_MESSAGE(found == expected, "round " << round << " switches " << code);
    }
  }
}

TEST_CASE("the learning solver finds the optimum in small steps of work, and its bound never passes it") {
  Rng rng(ebb::test::Seed("learning solver"));
  for (int round = 0; round < 150; ++round) {
    const Program p = RandomProgram(rng);
    const std::int64_t expected = ByEnumeration(p);
    BinaryProgram program;
    program.cost = p.cost;
    program.rows = p.shown;
    for (std::size_t r = 0; r < p.shown.size(); ++r)
      if (r % 2 == 0) program.knapsacks.push_back(static_cast<std::int32_t>(r));
    Hidden hidden(p.hidden);
    LearningSolver::Params params;
    params.probe_conflicts = Draw(rng, 1, 3);
    LearningSolver solver(program, &hidden, params);
    const bool cut = expected > 0 && Draw(rng, 0, 3) == 0;  // nothing below the cutoff
    if (cut) solver.SetCutoff(expected);
    for (;;) {
      WorkBudget work(Draw(rng, 100'000, 10'000'000));
      const LearningSolver::State state = solver.Step(work);
      if (expected >= 0) REQUIRE(std::min(solver.lower_bound(), solver.cutoff()) <= expected);
      if (expected >= 0 && !cut)
        for (std::size_t j = 0; j < p.cost.size(); ++j) REQUIRE(solver.root_lower()[j] <= solver.root_upper()[j]);
      if (state == LearningSolver::State::kFinished) break;
    }
    REQUIRE_MESSAGE(solver.has_solution() == (expected >= 0 && !cut), "round " << round);
    if (solver.has_solution()) REQUIRE_MESSAGE(solver.solution_cost() == expected, "round " << round);
  }
}

}  // namespace
}  // namespace ebb
