// SPDX-License-Identifier: Apache-2.0
// The interval model and the boundary relaxation's search with one thing changed at a time.
#include <functional>
#include <memory>
#include <vector>

#include "engine/bounds/boundary_solver.hpp"
#include "heuristics/decode.hpp"
#include "portfolio/interval_solver.hpp"
#include "portfolio/solve.hpp"
#include "propagators/learning_solver.hpp"

#include "bench/engine_table.hpp"

namespace ebb::bench {
namespace {

constexpr Ticks kLimit = 3'000'000'000;

// A row of a table: an instance, and for each change conflicts (or nodes) and millions of ticks; in bold where the
// change costs more than a tenth more ticks, or the answer. What was found stands in the first cell, elsewhere only if
// it differs.
class Row {
 public:
  explicit Row(const std::string& name) { std::cout << "| " << name << " |" << std::flush; }
  ~Row() { std::cout << std::endl; }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  void Cell(const std::string& answer, std::int64_t conflicts, Ticks ticks) {
    if (first_.empty()) {
      first_ = answer;
      ticks_ = ticks;
      std::cout << ' ' << answer << " | " << Text(conflicts, ticks) << " |";
    } else {
      const bool same = answer == first_;
      const char* bold = !same || ticks > ticks_ + ticks_ / 10 ? "**" : "";
      std::cout << ' ' << bold << Text(conflicts, ticks) << bold << (same ? "" : ' ' + answer) << " |";
    }
    std::cout << std::flush;
  }

 private:
  static std::string Text(std::int64_t conflicts, Ticks ticks) {
    char text[64];
    const double millions = static_cast<double>(ticks) / 1e6;
    std::snprintf(text, sizeof text, "%lld, %.*f", static_cast<long long>(conflicts), millions < 10 ? 1 : 0, millions);
    return text;
  }
  std::string first_;
  Ticks ticks_ = 0;
};

template <typename Changes>
void Head(const char* what, const Changes& changes) {
  std::cout << "\n| " << what << " | answer |";
  for (const auto& change : changes) std::cout << ' ' << change.name << " |";
  std::cout << "\n|---|---|";
  for (std::size_t i = 0; i < changes.size(); ++i) std::cout << "---|";
  std::cout << std::endl;
}

template <typename Params>
struct Change {
  const char* name;
  std::function<void(Params&)> apply;
};

const std::vector<Change<IntervalParams>>& IntervalChanges() {
  using E = CumulativeMemory::Explanation;
  static const std::vector<Change<IntervalParams>> kChanges = {
      {"as it is", [](IntervalParams&) {}},
      {"explanations naive", [](IntervalParams& p) { p.explanation = E::kNaive; }},
      {"explanations big-step", [](IntervalParams& p) { p.explanation = E::kBigStep; }},
      {"no time-table", [](IntervalParams& p) { p.time_table = false; }},
      {"useless reruns allowed", [](IntervalParams& p) { p.useful = false; }},
      {"no LP", [](IntervalParams& p) { p.relaxation = false; }},
      {"no reduced-cost fixing", [](IntervalParams& p) { p.reduced_costs = false; }},
      {"no path cuts", [](IntervalParams& p) { p.path_cuts = false; }},
      {"knapsack cuts", [](IntervalParams& p) { p.knapsack_cuts = true; }},
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
  Row row(name);
  for (const auto& change : IntervalChanges()) {
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
    row.Cell(best + what, conflicts, work.spent());
  }
}

struct SearchParams {
  LearningSolver::Params learning;
  bool cuts = true;
};

const std::vector<Change<SearchParams>>& SearchChanges() {
  static const std::vector<Change<SearchParams>> kChanges = {
      {"as it is", [](SearchParams&) {}},
      {"no reduced-cost fixing", [](SearchParams& p) { p.learning.relaxation.reduced_cost_fixing = false; }},
      {"no path cuts", [](SearchParams& p) { p.cuts = false; }},
      {"knapsack cuts", [](SearchParams& p) { p.learning.relaxation.knapsack_cuts = true; }},
      {"strong branching", [](SearchParams& p) { p.learning.branching.strong_candidates = 12; }},
      {"no probing",
       [](SearchParams& p) {
         p.learning.first_halvings = 0;
         p.learning.probe_conflicts = INT32_MAX;
       }},
  };
  return kChanges;
}

void Search(const std::string& graph, double fraction, const std::vector<std::int32_t>& positions, double cutoff) {
  if (Absent(graph)) return;
  const Case c(graph, fraction);
  std::string name = graph + " " + std::to_string(fraction).substr(0, 4) + " {";
  for (const std::int32_t p : positions) name += (p == positions.front() ? "" : ", ") + std::to_string(p);
  Row row(name + "}, cutoff " + std::to_string(cutoff).substr(0, 6) + " %");
  for (const auto& change : SearchChanges()) {
    SearchParams params;
    change.apply(params);
    const BoundaryModel model(c.instance, c.budget, positions);
    PathCuts path(model);
    LearningSolver search(model.program(), params.cuts ? &path : nullptr, params.learning);
    search.SetCutoff(static_cast<std::int64_t>(cutoff / 100 * static_cast<double>(c.instance.base_duration)));
    WorkBudget work(3 * kLimit);
    BinarySolver::State state;
    do state = search.Step(work);
    while (state == BinarySolver::State::kSolution);
    row.Cell(c.Percent(c.instance.base_duration + std::min(search.lower_bound(), search.cutoff())) +
                 (state == BinarySolver::State::kFinished ? "" : ", no end"),
             search.statistics().conflicts, work.spent());
  }
}

const std::vector<Change<BoundarySolver::Params>>& RefineChanges() {
  using P = BoundarySolver::Params;
  static const std::vector<Change<P>> kChanges = {
      {"as it is", [](P&) {}},
      {"by the tree", [](P& p) { p.search = {}; }},
      {"no moment rows", [](P& p) { p.moment_rows = false; }},
      {"fixings not carried over", [](P& p) { p.carry_fixings = false; }},
      {"rows not carried over", [](P& p) { p.carry_rows = false; }},
      {"one boundary at a time", [](P& p) { p.per_round = p.per_tree = 1; }},
      {"one place probed", [](P& p) { p.probes = 1; }},
  };
  return kChanges;
}

// The refinement from the first boundary on, the best plan's duration (in percent) known.
void Refine(const std::string& graph, double fraction, OrderMode order, double plan) {
  if (Absent(graph)) return;
  const Case c(graph, fraction);
  const BinarySolverFactory learning = [](BinaryProgram program, RowSeparator* separator) {
    return std::unique_ptr<BinarySolver>(
        std::make_unique<LearningSolver>(std::move(program), separator, LearningSolver::Params()));
  };
  Row row(graph + " " + std::to_string(fraction).substr(0, 4) + " " + ToString(order));
  for (const auto& change : RefineChanges()) {
    BoundarySolver::Params params;
    params.search = learning;
    change.apply(params);
    Decoder decoder;
    BoundarySolver solver(c.instance, c.budget, order, &decoder, params);
    const auto base = static_cast<double>(c.instance.base_duration);
    solver.SetIncumbent(c.instance.base_duration + static_cast<std::int64_t>(plan / 100 * base + 0.5));
    WorkBudget work(kLimit);
    while (!solver.Step(work) && !work.Exhausted()) {
    }
    row.Cell(c.Percent(solver.lower_bound()) + (solver.proved() ? ", proved" : ", bound"), solver.progress().nodes,
             work.spent());
  }
}

}  // namespace

void Rules() {
  Head("interval model", IntervalChanges());
  Intervals("layered_n100_", 0.9, OrderMode::kFixed);
  Intervals("layered_n100_", 0.8, OrderMode::kStaged);
  Intervals("layered_n100_", 0.8, OrderMode::kFixed);
  Intervals("fcn_8_vgg_32_train", 0.8, OrderMode::kFixed);
  Intervals("chain", 0.5, OrderMode::kStaged);
  Intervals("unet", 0.8, OrderMode::kFixed);
  Intervals("gen layered 60 1", 0.8, OrderMode::kStaged);
  Intervals("gen layered 80 2", 0.8, OrderMode::kStaged);
  Intervals("gen layered 80 3", 0.8, OrderMode::kFixed);
  Intervals("gen random 45 2", 0.8, OrderMode::kStaged);
}

void Relaxation() {
  Head("one model", SearchChanges());
  Search("layered_n1000_", 0.9, {621, 718, 736}, 0.69);
  Search("layered_n250_", 0.8, {186, 195, 222, 237, 239}, 3.8565);
  Search("layered_n500_", 0.9, {335}, 0.7011);
  Head("refinement", RefineChanges());
  Refine("gen layered 60 1", 0.8, OrderMode::kFixed, 5.7956);
  Refine("gen layered 100 2", 0.8, OrderMode::kFixed, 1.8630);
  Refine("layered_n100_", 0.8, OrderMode::kStaged, 2.2966);
  Refine("layered_n100_", 0.8, OrderMode::kFixed, 2.2966);
  Refine("layered_n250_", 0.9, OrderMode::kFixed, 0.9040);
  Refine("layered_n1000_", 0.9, OrderMode::kFixed, 0.6830);
  Refine("ResNet50_256_train", 0.5, OrderMode::kFixed, 1.4989);
  Refine("ResNet50_256_train", 0.3, OrderMode::kFixed, 3.6385);
  Refine("layered_n500_", 0.9, OrderMode::kFixed, 0.7012);
}

}  // namespace ebb::bench
