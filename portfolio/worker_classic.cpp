// SPDX-License-Identifier: Apache-2.0
//
// The methods of the literature by themselves, so that they can be run beside everything else and judged alike. Plans
// of Chen, revolve, Kusumoto and rotor know a budget of their own model or none: their one parameter (candidates per
// checkpoint, snapshots, the model's bytes) is swept, and each plan that fits counts. DTR and eviction run once, under
// the budget. kKeep has nothing to add to the given order, which was tried.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "engine/base/int128.hpp"
#include "heuristics/chen.hpp"
#include "heuristics/dtr.hpp"
#include "heuristics/eviction.hpp"
#include "heuristics/kusumoto.hpp"
#include "heuristics/list_orders.hpp"
#include "heuristics/revolve.hpp"
#include "heuristics/rotor.hpp"
#include "heuristics/rotor_chain.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMostRuns = 30;  // executions for each op, on average, before a method gives up
constexpr std::size_t kMostForwardOps = 8'192, kMostLowerSets = 20'000;  // Kusumoto: at most, and of all lower sets
constexpr std::size_t kMostPoints = 1'000, kFewPoints = 100;             // pairs a lower set: exact, approximate
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;               // sums of four times as much are made
constexpr std::size_t kMostBlocks = 128;                                 // rotor
constexpr std::int64_t kMostRotorBytes = std::int64_t{1} << 53, kMostRotorTime = std::int64_t{1} << 47;
constexpr std::int32_t kSlots = 500;  // as in the paper

class ClassicWorker : public Worker {
 public:
  explicit ClassicWorker(const Problem& problem) : problem_(problem) {}

  const char* name() const override { return "classic"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    const double limit = problem_.options->work_limit * static_cast<double>(kTicksPerWork);
    WorkBudget work(limit > 0 && limit < 9e18 ? static_cast<Ticks>(limit) : std::numeric_limits<Ticks>::max(),
                    budget.stop_signal());
    switch (problem_.options->method) {
      case Method::kChen: Chen(work, exchange); break;
      case Method::kRevolve: Revolve(work, exchange); break;
      case Method::kKusumoto: Kusumoto(true, work, exchange); break;
      case Method::kKusumotoApprox: Kusumoto(false, work, exchange); break;
      case Method::kRotor: Rotor(work, exchange); break;
      case Method::kEvict: Eviction(work, exchange); break;
      case Method::kDtr: Dtr(DtrRule::kFull, work, exchange); break;
      case Method::kDtrClass: Dtr(DtrRule::kClass, work, exchange); break;
      case Method::kDtrLocal: Dtr(DtrRule::kLocal, work, exchange); break;
      case Method::kDtrLru: Dtr(DtrRule::kLru, work, exchange); break;
      case Method::kDtrLargest: Dtr(DtrRule::kLargest, work, exchange); break;
      case Method::kDtrMsps: Dtr(DtrRule::kMsps, work, exchange); break;
      default:
        if (const auto rule = OrderRuleOf(problem_.options->method))
          Offer(ListOrder(problem_.instance, *rule, static_cast<std::uint64_t>(problem_.options->seed), work), work,
                exchange);
        break;
    }
    budget.Spend(work.spent());
    return false;
  }

 private:
  [[nodiscard]] std::size_t Most() const { return kMostRuns * problem_.instance.num_ops + 1000; }

  // Does it fit?
  bool Offer(const std::vector<std::int32_t>& sequence, WorkBudget& work, Exchange& exchange) const {
    work.Spend(static_cast<Ticks>(100 * sequence.size() + 50 * problem_.instance.num_ops));
    if (sequence.empty()) return false;
    const SequenceFacts facts = EvaluateSequence(problem_.instance, sequence);
    if (!facts.valid || facts.peak > problem_.budget.count()) return false;
    if (exchange.Interesting(facts.duration, sequence.size())) exchange.Offer(sequence, name());
    return true;
  }

  void Refuse(const std::string& why, Exchange& exchange) const { exchange.board().Message("refused: " + why, name()); }

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

  void Kusumoto(bool exact, WorkBudget& work, Exchange& exchange) {
    const ForwardGraph graph = MakeForwardGraph(problem_.instance);
    Int128 bytes = 0;
    for (const std::int64_t b : graph.bytes) bytes += b;
    if (bytes > kMostBytes) return Refuse("the forward part makes more than 2^60 bytes", exchange);
    const std::size_t n = graph.op.size();
    if (n > kMostForwardOps)
      return Refuse(std::to_string(n) + " forward ops, " + std::to_string(kMostForwardOps) + " at most", exchange);
    const std::optional<LowerSets> family =
        exact ? LowerSets::All(graph, kMostLowerSets, work) : LowerSets::Pruned(graph, work);
    if (!family) {
      if (!work.Exhausted())
        Refuse("the " + std::to_string(n) + " forward ops have more than " + std::to_string(kMostLowerSets) +
                   " lower sets (kusumoto-approx has no such limit)",
               exchange);
      return;
    }
    const std::optional<std::int64_t> least = KusumotoLeastBudget(*family, work);
    if (!least) return;
    const auto low = static_cast<double>(*least);
    const auto high = static_cast<double>(2 * family->bytes(family->size() - 1));
    // The model's budget, from the least to what keeps everything by even ratios. True peaks mostly rise with it: by
    // bisection the largest whose plan fits, then its neighbours.
    constexpr int kGrid = 96, kNeighbours = 8;
    const double ratio = low > 0 && high > low ? std::pow(high / low, 1.0 / kGrid) : 1.0;
    const auto attempt = [&](int i, KusumotoAim aim, std::size_t points) {
      const auto chain =
          KusumotoBest(*family, static_cast<std::int64_t>(std::ceil(low * std::pow(ratio, i))), aim, work, points);
      return chain && Offer(KusumotoSequence(problem_.instance, graph, *family, *chain), work, exchange);
    };
    int fits = 0, over = kGrid + 1;
    while (over - fits > 1 && !work.Exhausted()) {
      const int middle = fits + (over - fits) / 2;
      (attempt(middle, KusumotoAim::kTime, kFewPoints) ? fits : over) = middle;
    }
    // From there outwards. With all pairs kept in the bisection, too, the first plan of 2,300 ops came after 68 s, so
    // after less than one.
    for (int step = 0; step <= 2 * kNeighbours && !work.Exhausted(); ++step) {
      const int i = fits + (step % 2 == 0 ? -step / 2 : (step + 1) / 2);
      if (i < 0 || i > kGrid) continue;
      for (const KusumotoAim aim : {KusumotoAim::kTime, KusumotoAim::kMemory})
        static_cast<void>(attempt(i, aim, exact ? kMostPoints : kFewPoints));
    }
  }

  void Rotor(WorkBudget& work, Exchange& exchange) {
    // Bytes are added up over all blocks, times over all runs of them.
    if (problem_.given.peak.count() > kMostRotorBytes) return Refuse("a peak of more than 2^53 bytes", exchange);
    if (problem_.instance.base_duration > kMostRotorTime) return Refuse("durations of more than 2^47", exchange);
    for (const bool cuts : {true, false}) {
      const BlockChain chain = MakeBlockChain(problem_.instance, cuts, kMostBlocks);
      if (chain.blocks.empty() || work.Exhausted()) continue;
      // The second table spends its slots on what the first found to be the range that matters.
      std::int64_t bytes = chain.bytes;
      for (int round = 0; round < 2; ++round) {
        const std::int64_t unit = bytes / kSlots + 1;
        const std::optional<RotorTable> table = RotorTable::Make(chain.blocks, unit, kSlots, work);
        if (!table) return;
        bytes = SweepTable(chain, *table, work, exchange);
        if (bytes <= 0) break;
      }
    }
  }

  // One schedule for each time that the table has, most bytes last: by bisection the largest that fits, for true peaks
  // mostly rise with the table's bytes, then its neighbours. Returns the bytes that a finer table should have.
  std::int64_t SweepTable(const BlockChain& chain, const RotorTable& table, WorkBudget& work, Exchange& exchange) {
    std::vector<std::int32_t> steps;
    for (std::int32_t m = 0; m <= table.slots(); ++m)
      if (table.Time(m) < (steps.empty() ? RotorTable::kNever : table.Time(steps.back()))) steps.push_back(m);
    if (steps.empty()) return 0;
    std::vector<std::int8_t> fits(steps.size(), -1);
    const auto attempt = [&](std::size_t i) {
      if (fits[i] < 0)
        fits[i] = Offer(BlockChainSequence(problem_.instance, chain, table.Schedule(steps[i])), work, exchange) ? 1 : 0;
      return fits[i] == 1;
    };
    std::size_t low = 0, high = steps.size();  // low may fit, high does not
    while (high - low > 1 && !work.Exhausted()) {
      const std::size_t middle = low + (high - low) / 2;
      (attempt(middle) ? low : high) = middle;
    }
    constexpr std::size_t kNeighbours = 16;
    for (std::size_t i = low > kNeighbours ? low - kNeighbours : 0;
         i < std::min(steps.size(), low + kNeighbours) && !work.Exhausted(); ++i)
      static_cast<void>(attempt(i));
    const std::int64_t used = std::int64_t{steps[low]} * table.unit();
    return used < chain.bytes / 2 ? used + used / 8 + table.unit() : 0;
  }

  void Eviction(WorkBudget& work, Exchange& exchange) {
    EvictionParams params;
    params.budget = problem_.budget.count();
    params.max_executions = problem_.max_executions.value_or(0);
    Offer(Evict(problem_.instance, params, work).sequence, work, exchange);
  }

  void Dtr(DtrRule rule, WorkBudget& work, Exchange& exchange) {
    Offer(DtrSequence(problem_.instance, {problem_.budget.count(), rule, Most()}, work), work, exchange);
  }

  const Problem& problem_;
};

}  // namespace

bool IsClassic(Method method) { return method >= Method::kKeep; }

std::optional<OrderRule> OrderRuleOf(Method method) {
  switch (method) {
    case Method::kOrderDfs: return OrderRule::kDepthFirst;
    case Method::kOrderBfs: return OrderRule::kBreadthFirst;
    case Method::kOrderGreedy: return OrderRule::kGreedy;
    case Method::kOrderBeam: return OrderRule::kBeam;
    case Method::kOrderRandom: return OrderRule::kRandom;
    default: return std::nullopt;
  }
}

std::unique_ptr<Worker> MakeClassicWorker(const Problem& problem) { return std::make_unique<ClassicWorker>(problem); }

}  // namespace ebb
