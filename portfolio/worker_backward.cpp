// SPDX-License-Identifier: Apache-2.0
//
// A first plan where memory is scarce (heuristics/backward_plans.hpp), as long as nobody has one; local search goes on
// from there. On RL n=100 at 0.6 nothing else finds any.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "heuristics/backward_plans.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMostOps = 2'000;
constexpr Ticks kMost = 100'000'000'000;

// Presolve says that some ops need no repeat; ways from nothing need them. Of the executions of such an op the first is
// enough (the value stays) or the last (nothing reads it before): whichever fits.
std::vector<std::int32_t> WithoutRepeats(const Instance& free, const Instance& marked, std::int64_t budget,
                                         std::vector<std::int32_t> sequence, WorkBudget& work) {
  for (std::int32_t op = 0; op < static_cast<std::int32_t>(free.num_ops); ++op) {
    if (marked.may_repeat[static_cast<std::size_t>(op)] != 0) continue;
    const auto first = std::find(sequence.begin(), sequence.end(), op);
    if (std::count(first, sequence.end(), op) < 2) continue;
    std::vector<std::int32_t> early(sequence.begin(), first + 1), late;
    std::remove_copy(first + 1, sequence.end(), std::back_inserter(early), op);
    std::remove_copy(sequence.rbegin(), sequence.rend(), std::back_inserter(late), op);
    const auto after = std::find(sequence.rbegin(), sequence.rend(), op) - sequence.rbegin();
    late.insert(late.begin() + after, op);
    std::reverse(late.begin(), late.end());
    work.Spend(static_cast<Ticks>(200 * sequence.size()));
    const SequenceFacts facts = EvaluateSequence(free, early);
    sequence = std::move(facts.valid && facts.peak <= budget ? early : late);
  }
  return sequence;
}

class BackwardWorker : public Worker {
 public:
  explicit BackwardWorker(const Problem& problem)
      : problem_(problem),
        instance_(MakeInstance(*problem.graph)),
        plans_(instance_, {problem.budget.count(), problem.order == OrderMode::kStaged,
                           static_cast<std::uint64_t>(problem.options->seed)}) {}

  const char* name() const override { return "backward"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const Ticks before = budget.spent();
    while (!budget.Exhausted()) {
      if (exchange.known().best) return false;
      if (plans_.Run(budget))
        exchange.Offer(WithoutRepeats(instance_, problem_.instance, problem_.budget.count(), plans_.sequence(), budget),
                       name());
      if (plans_.impossible() >= -1) {
        exchange.ProveInfeasible(Reason());
        return false;
      }
    }
    spent_ += budget.spent() - before;
    return spent_ < kMost;
  }

 private:
  [[nodiscard]] Infeasibility Reason() const {
    Infeasibility why;
    why.bytes_given = problem_.budget.count();
    std::string what = "the graph's outputs";
    if (plans_.impossible() >= 0) {
      why.op = ToOpId(static_cast<std::size_t>(plans_.impossible()));
      what = "the inputs of op '" + problem_.graph->op_name(why.op) + "'";
    }
    why.text = what + " cannot be made within " + std::to_string(why.bytes_given) +
               " bytes, however often and in what order their ops run";
    return why;
  }

  const Problem& problem_;
  const Instance instance_;  // without presolve's marks
  BackwardPlans plans_;
  Ticks spent_ = 0;
};

}  // namespace

bool BackwardFits(const Instance& instance) { return instance.plain && instance.num_ops <= kMostOps; }

std::unique_ptr<Worker> MakeBackwardWorker(const Problem& problem) { return std::make_unique<BackwardWorker>(problem); }

}  // namespace ebb
