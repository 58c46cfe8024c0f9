// SPDX-License-Identifier: Apache-2.0
//
// The methods of the literature by themselves, so that they can be run beside everything else and judged alike. Chen's
// and revolve's plans know no budget: their one parameter (candidates per checkpoint, snapshots) is swept, and each
// plan that fits counts. DTR runs once, under the budget. kKeep has nothing to add to the given order, which was tried.
#include <algorithm>
#include <limits>

#include "heuristics/chen.hpp"
#include "heuristics/dtr.hpp"
#include "heuristics/revolve.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMostRuns = 30;  // executions for each op, on average, before a method gives up

class ClassicWorker : public Worker {
 public:
  explicit ClassicWorker(const Problem& problem) : problem_(problem) {}

  const char* name() const override { return "classic"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    WorkBudget work(std::numeric_limits<Ticks>::max(), budget.stop_signal());
    switch (problem_.options->method) {
      case Method::kChen: Chen(work, exchange); break;
      case Method::kRevolve: Revolve(work, exchange); break;
      case Method::kDtr: return Dtr(DtrRule::kFull, budget, work, exchange);
      case Method::kDtrClass: return Dtr(DtrRule::kClass, budget, work, exchange);
      case Method::kDtrLocal: return Dtr(DtrRule::kLocal, budget, work, exchange);
      case Method::kDtrLru: return Dtr(DtrRule::kLru, budget, work, exchange);
      case Method::kDtrLargest: return Dtr(DtrRule::kLargest, budget, work, exchange);
      case Method::kDtrMsps: return Dtr(DtrRule::kMsps, budget, work, exchange);
      default: break;
    }
    budget.Spend(work.spent());
    return false;
  }

 private:
  [[nodiscard]] std::size_t Most() const { return kMostRuns * problem_.instance.num_ops + 1000; }

  void Offer(const std::vector<std::int32_t>& sequence, WorkBudget& work, Exchange& exchange) const {
    work.Spend(static_cast<Ticks>(100 * sequence.size() + 50 * problem_.instance.num_ops));
    if (sequence.empty()) return;
    const SequenceFacts facts = EvaluateSequence(problem_.instance, sequence);
    if (facts.valid && facts.peak <= problem_.budget.count() && exchange.Interesting(facts.duration, sequence.size()))
      exchange.Offer(sequence, name());
  }

  // 1, 2, 3, ... and from 32 on in steps of an eighth.
  static std::size_t Next(std::size_t k) { return k + std::max<std::size_t>(k / 32 * 4, 1); }

  void Chen(WorkBudget& work, Exchange& exchange) {
    for (const ChenCandidates which : {ChenCandidates::kAllForward, ChenCandidates::kArticulation}) {
      const std::size_t most = ChenCandidateValues(problem_.instance, which).size();
      Offer(ChenSequence(problem_.instance, which), work, exchange);
      for (std::size_t k = 1; k <= most && !work.Exhausted(); k = Next(k))
        Offer(ChenSequence(problem_.instance, which, k), work, exchange);
    }
  }

  void Revolve(WorkBudget& work, Exchange& exchange) {
    RevolveParams params;
    for (const bool cuts : {false, true}) {
      params.cuts_only = cuts;
      const std::size_t most = RevolveSegments(problem_.instance, cuts);
      for (std::size_t s = 1; s <= most && !work.Exhausted(); s = Next(s)) {
        params.snapshots = static_cast<std::int64_t>(s);
        for (const bool entry : {false, true}) {
          params.keep_entry = entry;
          Offer(RevolveSequence(problem_.instance, params, Most()), work, exchange);
        }
      }
    }
  }

  bool Dtr(DtrRule rule, WorkBudget& budget, WorkBudget& work, Exchange& exchange) {
    Offer(DtrSequence(problem_.instance, {problem_.budget.count(), rule, Most()}, work), work, exchange);
    budget.Spend(work.spent());
    return false;
  }

  const Problem& problem_;
};

}  // namespace

bool IsClassic(Method method) { return method >= Method::kKeep; }

std::unique_ptr<Worker> MakeClassicWorker(const Problem& problem) { return std::make_unique<ClassicWorker>(problem); }

}  // namespace ebb
