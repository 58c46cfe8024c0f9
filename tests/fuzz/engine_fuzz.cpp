// SPDX-License-Identifier: Apache-2.0
// engine_fuzz SEED COUNT [MAX_OPS [FROM]]: the learning engine's models on random graphs with all features, every
// order, caps and budgets, against brute force (up to seven ops; above the exact search over states, which brute force
// has checked), each graph with its own combination of rules on and off, explanations, seeds, incumbents and slices of
// work. A known plan (an optimum, or the optimum of a smaller budget) is held against every inference and learned
// clause. What fails is printed with its seed, and the exit code is 1.
//
// A plain driver, not a libFuzzer program: what is wanted are many graphs that make sense, and coverage says little of
// whether an optimum is one.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include "engine/bounds/moment_rows.hpp"
#include "heuristics/state_search.hpp"
#include "portfolio/interval_solver.hpp"
#include "portfolio/known_plan.hpp"
#include "propagators/learning_solver.hpp"
#include "tests/oracle/brute_force.hpp"
#include "tests/oracle/random_graph.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

constexpr Ticks kMostTicks = 300'000'000;  // for one model; where there is no plan it may grow for long

struct Tally {
  std::int64_t graphs = 0, reruns = 0, infeasible = 0, solves = 0, relaxations = 0, known = 0, grown = 0, conflicts = 0,
               given_up = 0, unfinished = 0;
};

struct Oracle {
  bool feasible = false;
  std::int64_t duration = 0;
  std::vector<std::int32_t> sequence;  // of the instance
};

Oracle Ask(const Graph& graph, const Instance& instance, std::int64_t budget, OrderMode order, std::int32_t cap) {
  Oracle oracle;
  if (graph.num_ops() <= 7) {
    const OracleAnswer answer = BruteForce(graph, budget, order, cap);
    oracle.feasible = answer.feasible;
    oracle.duration = answer.duration;
    oracle.sequence = Collapse(graph, instance, answer.sequence);
    return oracle;
  }
  WorkBudget work;
  const StateSearchResult answer = SearchStates(instance, budget, order, cap, work);
  if (answer.status == SolveStatus::kUnknown) throw std::runtime_error("the oracle gave up");
  oracle.feasible = answer.status == SolveStatus::kOptimal;
  oracle.duration = answer.duration;
  oracle.sequence = answer.sequence;
  return oracle;
}

void Want(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

void TryIntervals(const Instance& instance, OrderMode order, std::int64_t budget, std::int32_t cap,
                  const Oracle& oracle, Rng& rng, Tally& tally, std::string& told) {
  if (!IntervalSolver::Fits(instance, order)) return;
  IntervalParams params;
  params.explanation = static_cast<CumulativeMemory::Explanation>(Draw(rng, 0, 2));
  params.relaxation = Chance(rng, 60);
  params.useful = Chance(rng, 80);
  params.boundaries = static_cast<std::int32_t>(Draw(rng, 1, 6));
  params.max_executions = cap;
  params.seed = static_cast<std::int32_t>(Draw(rng, 0, 1000));
  params.time_table = Chance(rng, 70);
  static_cast<void>(Chance(rng, 30));  // a rule that is gone: what was found keeps its seed
  params.reduced_costs = Chance(rng, 70);
  params.path_cuts = Chance(rng, 70);
  static_cast<void>(Chance(rng, 40));  // another
  const bool known = oracle.feasible && Chance(rng, 70);
  if (known) params.known = oracle.sequence;
  params.knapsack_cuts = !known && Chance(rng, 30);  // they may rest on the incumbent without saying so
  tally.known += known;
  told = "intervals: explanation " + std::to_string(static_cast<int>(params.explanation)) + " relaxation " +
         std::to_string(params.relaxation) + " useful " + std::to_string(params.useful) + " boundaries " +
         std::to_string(params.boundaries) + " seed " + std::to_string(params.seed) + " time-table " +
         std::to_string(params.time_table) + " reduced costs " + std::to_string(params.reduced_costs) + " path cuts " +
         std::to_string(params.path_cuts) + " knapsack " + std::to_string(params.knapsack_cuts) + " known " +
         std::to_string(known);
  if (std::getenv("EBB_TEST_TELL") != nullptr) std::cerr << told << std::endl;
  IntervalSolver solver(instance, order, budget, params);
  std::int64_t best = -1;
  if (oracle.feasible && Chance(rng, 40)) {
    best = oracle.duration + Draw(rng, 0, 3);
    solver.SetIncumbent(best);
  }
  const bool sliced = Chance(rng, 20);
  Ticks spent = 0;
  for (std::int64_t step = 1;; ++step) {
    if (spent > kMostTicks) {
      Want(best < 0 || !oracle.feasible || best >= oracle.duration, "a plan better than the optimum");
      ++tally.unfinished;
      return;
    }
    WorkBudget work(sliced ? 300'000 * step : kMostTicks);
    const IntervalSolver::State state = solver.Step(work);
    spent += work.spent();
    if (state == IntervalSolver::State::kProved) break;
    if (state == IntervalSolver::State::kGivenUp) {
      Want(order != OrderMode::kStaged, "gives up in staged order");
      Want(best < 0 || !oracle.feasible || best >= oracle.duration, "a plan better than the optimum");
      ++tally.given_up;
      return;
    }
    if (state == IntervalSolver::State::kLimit) continue;
    const SequenceFacts facts = EvaluateSequence(instance, solver.plan());
    Want(facts.valid && facts.peak <= budget, "a plan that is none");
    Want(FollowsOrder(instance, solver.plan(), order != OrderMode::kFree, order == OrderMode::kStaged), "order");
    Want(best < 0 || facts.duration < best, "a plan that is no better");
    best = facts.duration;
  }
  tally.grown += solver.models() > 1;
  tally.conflicts += solver.conflicts();
  ++tally.solves;
  const std::int64_t expected = oracle.feasible ? oracle.duration : -1;
  Want(best == expected, "says " + std::to_string(best) + ", is " + std::to_string(expected));
}

void TryRelaxation(const Instance& instance, OrderMode order, std::int64_t budget, const Oracle& oracle, Rng& rng,
                   Tally& tally, std::string& told) {
  std::vector<std::int32_t> positions;
  for (std::size_t p = 0; p < instance.num_ops; ++p)
    if (Chance(rng, 50)) positions.push_back(static_cast<std::int32_t>(p));
  if (positions.empty()) return;
  const BoundaryModel model(instance, budget, positions);
  if (model.impossible()) return Want(!oracle.feasible, "a boundary is impossible where there is a plan");
  class Rows : public RowSeparator {
   public:
    Rows(const BoundaryModel& m, std::int64_t bytes, bool staged) : path_(m), moment_(m, bytes, staged) {}
    void Separate(std::span<const double> x, bool integral, bool root, IntegerRows& out) override {
      path_.Separate(x, integral, root, out);
      moment_.Separate(x, integral, root, out);
    }

   private:
    PathCuts path_;
    MomentRows moment_;
  } rows(model, budget, order == OrderMode::kStaged);
  LearningSolver::Params params;
  params.relaxation.reduced_cost_fixing = Chance(rng, 70);
  params.relaxation.min_efficacy = 0.001;
  params.seed = static_cast<std::int32_t>(Draw(rng, 0, 1000));
  params.probe_conflicts = Draw(rng, 1, 20);
  params.first_halvings = static_cast<std::int32_t>(Draw(rng, 0, 4));
  if (oracle.feasible) params.known = KnownColumns(model, oracle.sequence);
  told = "relaxation: reduced costs " + std::to_string(params.relaxation.reduced_cost_fixing) + " seed " +
         std::to_string(params.seed) + " probes " + std::to_string(params.probe_conflicts) + " halvings " +
         std::to_string(params.first_halvings) + " positions";
  for (const std::int32_t p : positions) told += ' ' + std::to_string(p);
  LearningSolver search(model.program(), Chance(rng, 85) ? &rows : nullptr, params);
  const std::int64_t best = oracle.duration - instance.base_duration;
  if (oracle.feasible && Chance(rng, 60)) search.SetCutoff(best + 1);
  for (;;) {
    WorkBudget work;
    const auto state = search.Step(work);
    if (oracle.feasible) Want(std::min(search.lower_bound(), search.cutoff()) <= best, "a bound above the optimum");
    if (state == BinarySolver::State::kFinished) break;
  }
  if (!search.has_solution() && !model.columns().empty()) Want(!oracle.feasible, "no solution where there is a plan");
  ++tally.relaxations;
}

void One(std::uint64_t seed, int max_ops, Tally& tally) {
  Rng rng(seed);
  RandomGraphOptions options = Chance(rng, 30) ? RandomGraphOptions::Plain() : RandomGraphOptions();
  const auto order = static_cast<OrderMode>(Draw(rng, 0, 2));
  options.min_ops = 2;
  options.max_ops = max_ops;
  if (Chance(rng, 40)) options.once = 0;
  if (Chance(rng, 30)) options.views = 60;
  if (Chance(rng, 30)) options.inplace = 50;
  const Graph graph = RandomGraph(rng, options);
  const Instance instance = MakeInstance(graph);
  const std::int64_t budget = RandomBudget(graph, rng);
  const auto cap = static_cast<std::int32_t>(Chance(rng, 75) ? 0 : Draw(rng, 1, 3));
  const Oracle oracle = Ask(graph, instance, budget, order, cap);
  ++tally.graphs;
  tally.reruns += oracle.feasible && oracle.sequence.size() > instance.num_ops;
  tally.infeasible += !oracle.feasible;
  std::string told;
  try {
    TryIntervals(instance, order, budget, cap, oracle, rng, tally, told);
    if (order != OrderMode::kFree && cap == 0) TryRelaxation(instance, order, budget, oracle, rng, tally, told);
  } catch (const std::exception& e) {
    throw std::runtime_error(std::string(e.what()) + "\n" + told + "\n" + ToString(order) + " budget " +
                             std::to_string(budget) + " cap " + std::to_string(cap) + "\n" + Describe(graph));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* given = std::getenv("EBB_TEST_SEED");
  const std::uint64_t first = std::strtoull(given != nullptr ? given : argv[1], nullptr, 10);
  const std::int64_t count = std::atoll(argv[2]);
  const int max_ops = argc > 3 ? std::atoi(argv[3]) : 7;
  const std::int64_t from = argc > 4 ? std::atoll(argv[4]) : 0;
  std::cout << "engine_fuzz: EBB_TEST_SEED=" << first << std::endl;
  Tally tally;
  int bad = 0;
  for (std::int64_t i = from; i < from + count && bad < 5; ++i) {
    const std::uint64_t seed = first * 1'000'003 + static_cast<std::uint64_t>(i);
    try {
      One(seed, max_ops, tally);
    } catch (const std::exception& e) {
      ++bad;
      std::cout << "graph " << i << ": " << e.what() << std::endl;
    }
  }
  std::cout << tally.graphs << " graphs (" << tally.reruns << " with reruns, " << tally.infeasible
            << " without a plan), " << tally.solves << " interval models (" << tally.known << " with a known plan, "
            << tally.grown << " grown, " << tally.conflicts << " conflicts), " << tally.given_up << " given up, "
            << tally.unfinished << " unfinished, " << tally.relaxations << " relaxations; " << bad << " failed\n";
  return bad > 0 ? 1 : 0;
}
