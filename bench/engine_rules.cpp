// SPDX-License-Identifier: Apache-2.0
// The interval model and the boundary relaxation's search with one thing changed at a time.
#include <functional>
#include <memory>
#include <vector>

#include "portfolio/interval_solver.hpp"
#include "portfolio/solve.hpp"
#include "propagators/learning_solver.hpp"

#include "bench/engine_table.hpp"

namespace ebb::bench {
namespace {

constexpr Ticks kLimit = 3'000'000'000;

void Line(const std::string& name, const std::string& change, const std::string& answer, std::int64_t conflicts,
          Ticks ticks) {
  std::cout << "| " << name << " | " << change << " | " << answer << " | " << conflicts << " | " << ticks / 1'000'000
            << " |" << std::endl;
}

struct Change {
  const char* name;
  std::function<void(IntervalParams&)> apply;
};

const std::vector<Change>& Changes() {
  using E = CumulativeMemory::Explanation;
  static const std::vector<Change> kChanges = {
      {"as it is", [](IntervalParams&) {}},
      {"explanations naive", [](IntervalParams& p) { p.explanation = E::kNaive; }},
      {"explanations big-step", [](IntervalParams& p) { p.explanation = E::kBigStep; }},
      {"no time-table", [](IntervalParams& p) { p.time_table = false; }},
      {"useless reruns allowed", [](IntervalParams& p) { p.useful = false; }},
      {"total raised", [](IntervalParams& p) { p.raise_total = true; }},
      {"no LP", [](IntervalParams& p) { p.relaxation = false; }},
      {"no reduced-cost fixing", [](IntervalParams& p) { p.reduced_costs = false; }},
      {"no path cuts", [](IntervalParams& p) { p.path_cuts = false; }},
      {"knapsack cuts", [](IntervalParams& p) { p.knapsack_cuts = true; }},
      {"R[v,a,b]", [](IntervalParams& p) { p.retention = true; }},
      {"LP at 3 boundaries", [](IntervalParams& p) { p.boundaries = 3; }},
      {"LP at 10 boundaries", [](IntervalParams& p) { p.boundaries = 10; }},
  };
  return kChanges;
}

// From the best plan of a whole solve, as in the portfolio: finding plans is not what the model is good at (RL n=100 at
// 0.8, staged: 2 million ticks to prove 2.2965 %, more than 3000 to find a plan).
void Intervals(const std::string& graph, double fraction, OrderMode order) {
  if (Absent(graph)) return;
  const Case c(graph, fraction);
  const std::string name = graph + " " + std::to_string(fraction).substr(0, 4) + " " + ToString(order);
  Options options;
  options.Set("budget", std::to_string(c.budget));
  options.Set("order", ToString(order));
  options.Set("threads", "1");
  options.Set("work-limit", "2");
  StopSignal stop;
  const Answer answer = Solve(c.graph, options, {}, stop, {});
  if (!answer.plan) return;
  for (const Change& change : Changes()) {
    IntervalParams params;
    change.apply(params);
    IntervalSolver solver(c.instance, order, c.budget, params);
    solver.SetIncumbent(answer.plan->duration.count());
    WorkBudget work(kLimit);
    IntervalSolver::State state;
    std::int64_t conflicts = 0;
    do state = solver.Step(work), conflicts = std::max(conflicts, solver.conflicts());
    while (state == IntervalSolver::State::kPlan);
    const std::string best = solver.incumbent() ? c.Percent(*solver.incumbent()) : "nothing";
    const char* what = state == IntervalSolver::State::kProved    ? ""
                       : state == IntervalSolver::State::kGivenUp ? " gives up"
                                                                  : " not proved";
    Line(name, change.name, best + what, conflicts, work.spent());
  }
}

void Search(const std::string& graph, double fraction, std::vector<std::int32_t> positions, double cutoff,
            const char* change, const std::function<void(LearningSolver::Params&)>& apply, bool cuts = true) {
  if (Absent(graph)) return;
  const Case c(graph, fraction);
  const BoundaryModel model(c.instance, c.budget, std::move(positions));
  PathCuts path(model);
  LearningSolver::Params params;
  apply(params);
  LearningSolver search(model.program(), cuts ? &path : nullptr, params);
  search.SetCutoff(static_cast<std::int64_t>(cutoff / 100 * static_cast<double>(c.instance.base_duration)));
  WorkBudget work(3 * kLimit);
  BinarySolver::State state;
  do state = search.Step(work);
  while (state == BinarySolver::State::kSolution);
  const std::string bound = c.Percent(c.instance.base_duration + std::min(search.lower_bound(), search.cutoff()));
  Line(graph + " " + std::to_string(fraction).substr(0, 4), change,
       bound + (state == BinarySolver::State::kFinished ? "" : " not ended"), search.statistics().conflicts,
       work.spent());
}

}  // namespace

void Rules() {
  std::cout << "| interval model | change | answer | conflicts | ticks (millions) |\n|---|---|---|---|---|\n";
  Intervals("layered_n100_", 0.9, OrderMode::kFixed);
  Intervals("layered_n100_", 0.8, OrderMode::kStaged);
  Intervals("layered_n100_", 0.8, OrderMode::kFixed);
  Intervals("fcn_8_vgg_32_train", 0.8, OrderMode::kFixed);
  Intervals("chain", 0.5, OrderMode::kStaged);
  Intervals("unet", 0.8, OrderMode::kFixed);
  Intervals("gen random 60 2", 0.65, OrderMode::kFixed);
  Intervals("gen random 45 2", 0.8, OrderMode::kStaged);
}

void Relaxation() {
  std::cout << "| boundary relaxation | change | bound | conflicts | ticks (millions) |\n|---|---|---|---|---|\n";
  const auto all = [](const std::string& graph, double fraction, const std::vector<std::int32_t>& at, double cutoff) {
    Search(graph, fraction, at, cutoff, "as it is", [](LearningSolver::Params&) {});
    Search(graph, fraction, at, cutoff, "no reduced-cost fixing",
           [](LearningSolver::Params& p) { p.relaxation.reduced_cost_fixing = false; });
    Search(
        graph, fraction, at, cutoff, "no path cuts", [](LearningSolver::Params&) {}, false);
    Search(graph, fraction, at, cutoff, "knapsack cuts",
           [](LearningSolver::Params& p) { p.relaxation.knapsack_cuts = true; });
    Search(graph, fraction, at, cutoff, "strong branching",
           [](LearningSolver::Params& p) { p.branching.strong_candidates = 12; });
    Search(graph, fraction, at, cutoff, "no probing", [](LearningSolver::Params& p) {
      p.first_halvings = 0;
      p.probe_conflicts = INT32_MAX;
    });
  };
  all("layered_n1000_", 0.9, {621, 718, 736}, 0.69);
  all("layered_n250_", 0.8, {186, 195, 222, 237, 239}, 3.8565);
  all("layered_n500_", 0.9, {335}, 0.7011);
}

}  // namespace ebb::bench
