// SPDX-License-Identifier: Apache-2.0
//
// Large graphs in windows (engine/problem/windows.hpp): the best plan is cut where little lies in memory; each piece is
// an instance that is searched like a small graph, equal pieces once (part_classes.hpp). What is found is put back into
// the best plan of the moment wherever the surroundings still match.
//
// Each lane has such a worker and looks after its own classes of windows, so no two work on the same one.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/problem/windows.hpp"
#include "portfolio/part_classes.hpp"
#include "portfolio/part_rounds.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr Ticks kFirstVisit = 400'000'000;  // per class
constexpr double kGrowth = 1.5;
constexpr std::size_t kTarget = 3000;  // ops of a window

class WindowsWorker : public Worker {
 public:
  WindowsWorker(const Problem& problem, int lane, int lanes)
      : problem_(problem),
        lane_(lane),
        lanes_(lanes),
        cuts_(ChooseCuts(problem.instance, kTarget)),
        parts_(problem, kFirstVisit, kGrowth) {}

  const char* name() const override { return "windows"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (!exchange.known().best) {
      budget.Spend(budget.left());  // nothing to cut yet: the turn goes to the others
      return true;
    }
    if (class_of_.empty()) Cut(*exchange.known().best, budget, exchange);
    while (!budget.Exhausted()) {
      const Ticks before = budget.spent();
      const std::int32_t rounds = parts_.rounds();
      const bool more = parts_.Work(budget) != PartRounds::kNone;
      since_put_back_ += budget.spent() - before;
      if (!more || parts_.rounds() > rounds || since_put_back_ > PutBackEvery()) PutBack(budget, exchange);
      if (!more) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] Ticks PutBackEvery() const {
    return 1'000'000'000 + static_cast<Ticks>(problem_.instance.num_ops) * 20'000;
  }
  [[nodiscard]] bool Mine(std::size_t c) const {
    return static_cast<int>(c % static_cast<std::size_t>(lanes_)) == lane_;
  }
  [[nodiscard]] std::vector<Window> Windows(const Incumbent& plan) const {
    return ExtractWindows(problem_.instance, plan.sequence, cuts_, problem_.order == OrderMode::kFree);
  }

  void Cut(const Incumbent& best, WorkBudget& budget, Exchange& exchange) {
    budget.Spend(static_cast<Ticks>(problem_.instance.num_ops) * 500);
    for (Window& w : Windows(best)) {
      class_of_.push_back(w.instance.num_ops == 0 ? PartRounds::kNone : classes_.Add(std::move(w.instance)));
      if (classes_.size() > parts_.size()) parts_.Add(classes_[parts_.size()]);
      // One of several equal ones may have the better piece.
      if (class_of_.back() != PartRounds::kNone) parts_[class_of_.back()].Take(w.sequence);
    }
    parts_.Begin([&](std::size_t i) { return Mine(i); });
    if (lane_ == 0)
      exchange.board().Message(
          std::to_string(class_of_.size()) + " windows, " + std::to_string(parts_.size()) + " different", name());
    parts_.SetChanged();
  }

  // The best plan known, with every better piece of ours whose surroundings are the same.
  void PutBack(WorkBudget& budget, Exchange& exchange) {
    since_put_back_ = 0;
    if (!parts_.TakeChanged()) return;
    const Instance& in = problem_.instance;
    const IncumbentPtr best = exchange.known().best;
    const std::vector<Window> windows = Windows(*best);
    budget.Spend(static_cast<Ticks>(in.num_ops) * 1000);
    std::vector<std::uint8_t> replace(windows.size(), 0);
    bool better = false;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const Window& w = windows[i];
      std::int64_t duration = 0;
      for (const std::int32_t op : w.sequence) duration += w.instance.duration[op];
      const bool ours = class_of_[i] != PartRounds::kNone && Mine(class_of_[i]) && w.instance.num_ops > 0;
      const PartSearch* s = ours ? &parts_[class_of_[i]] : nullptr;
      if (s == nullptr || !s->has_plan() || s->upper() >= duration || !SameInstance(w.instance, s->instance()))
        continue;
      replace[i] = better = true;
    }
    if (!better) return;
    std::vector<std::int32_t> sequence = Together(*best, windows, replace);
    if (!in.plain) {
      // Where views outlive a window its piece may not fit (windows.hpp): then one after the other.
      if (!Holds(sequence, budget)) {
        std::vector<std::uint8_t> some(windows.size(), 0);
        for (std::size_t i = 0; i < windows.size() && !budget.stopped(); ++i) {
          if (!replace[i]) continue;
          some[i] = 1;
          if (!Holds(Together(*best, windows, some), budget)) some[i] = 0;
          static_cast<void>(budget.Exhausted());  // looks at the clock
        }
        sequence = Together(*best, windows, some);
      }
    }
    exchange.Offer(sequence, name());
  }

  // The plan with the best pieces known of some windows.
  [[nodiscard]] std::vector<std::int32_t> Together(const Incumbent& plan, const std::vector<Window>& windows,
                                                   const std::vector<std::uint8_t>& replace) const {
    std::vector<std::int32_t> sequence;
    sequence.reserve(plan.sequence.size());
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const Window& w = windows[i];
      if (!replace[i]) {
        const auto from = plan.sequence.begin();
        sequence.insert(sequence.end(), from + static_cast<std::ptrdiff_t>(w.begin),
                        from + static_cast<std::ptrdiff_t>(w.end));
        continue;
      }
      for (const std::int32_t op : parts_[class_of_[i]].best())
        if (w.op[op] >= 0) sequence.push_back(w.op[op]);
    }
    return sequence;
  }
  [[nodiscard]] bool Holds(const std::vector<std::int32_t>& sequence, WorkBudget& budget) const {
    budget.Spend(static_cast<Ticks>(sequence.size()) * 100);
    const SequenceFacts facts = EvaluateSequence(problem_.instance, sequence);
    return facts.valid && facts.peak <= problem_.budget.count();
  }

  const Problem& problem_;
  const int lane_, lanes_;
  const std::vector<std::int32_t> cuts_;
  std::vector<std::size_t> class_of_;  // window -> class
  PartClasses classes_;
  PartRounds parts_;
  Ticks since_put_back_ = 0;
};

}  // namespace

bool WindowsFit(const Problem& problem) { return problem.instance.num_ops >= 6000; }

std::unique_ptr<Worker> MakeWindowsWorker(const Problem& problem, int lane, int lanes) {
  return std::make_unique<WindowsWorker>(problem, lane, lanes);
}

}  // namespace ebb
