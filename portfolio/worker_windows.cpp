// SPDX-License-Identifier: Apache-2.0
//
// Large graphs in windows (engine/problem/windows.hpp): the best plan is cut where little lies in memory; each piece is
// an instance that is searched like a small graph (part_search.hpp). Equal pieces are searched once. What is found is
// put back into the best plan of the moment wherever the surroundings still match.
//
// Each lane has such a worker and looks after its own classes of windows, so no two work on the same one.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/problem/windows.hpp"
#include "portfolio/part_search.hpp"
#include "portfolio/workers.hpp"

namespace ebb {
namespace {

constexpr Ticks kFirstVisit = 400'000'000;  // per class; each further round over all of them takes half as much more
constexpr std::size_t kTarget = 3000;       // ops of a window
constexpr std::size_t kNoClass = SIZE_MAX;

// Equal windows, and the search on the first of them.
struct WindowClass {
  std::unique_ptr<PartSearch> search;
  bool improved = false;
};

class WindowsWorker : public Worker {
 public:
  WindowsWorker(const Problem& problem, int lane, int lanes)
      : problem_(problem), lane_(lane), lanes_(lanes), cuts_(ChooseCuts(problem.instance, kTarget)) {}

  const char* name() const override { return "windows"; }

  bool Step(WorkBudget& budget, Exchange& exchange) override {
    if (!exchange.known().best) {
      budget.Spend(budget.left());  // nothing to cut yet: the turn goes to the others
      return true;
    }
    if (classes_.empty()) {
      Cut(*exchange.known().best, exchange);
      budget.Spend(static_cast<Ticks>(problem_.instance.num_ops) * 500);
      if (mine_.empty()) return false;
    }
    while (!budget.Exhausted()) {
      if (at_ == mine_.size()) {
        PutBack(budget, exchange);
        std::erase_if(mine_, [&](std::size_t i) { return classes_[i].search->finished(); });
        if (mine_.empty()) return false;
        at_ = 0;
        visit_ += visit_ / 2;
      }
      WindowClass& c = classes_[mine_[at_]];
      const Ticks before = budget.spent();
      WorkBudget part(std::min(budget.left(), visit_ - visited_), budget.stop_signal());
      c.improved |= c.search->Run(part);
      budget.Spend(std::max<Ticks>(part.spent(), 10'000));
      visited_ += budget.spent() - before;
      since_put_back_ += budget.spent() - before;
      if (c.search->finished() || visited_ >= visit_) {
        if (!KeepsState()) c.search->Rest();
        ++at_;
        visited_ = 0;
      }
      if (since_put_back_ > PutBackEvery()) PutBack(budget, exchange);
    }
    return true;
  }

 private:
  // Graphs up to this size keep all windows' solvers between rounds.
  [[nodiscard]] bool KeepsState() const { return problem_.instance.num_ops <= 200'000; }
  [[nodiscard]] Ticks PutBackEvery() const {
    return 1'000'000'000 + static_cast<Ticks>(problem_.instance.num_ops) * 20'000;
  }
  [[nodiscard]] bool Mine(std::size_t c) const {
    return static_cast<int>(c % static_cast<std::size_t>(lanes_)) == lane_;
  }
  [[nodiscard]] std::vector<Window> Windows(const Incumbent& plan) const {
    return ExtractWindows(problem_.instance, plan.sequence, cuts_, problem_.order == OrderMode::kFree);
  }

  void Cut(const Incumbent& best, Exchange& exchange) {
    std::vector<Window> windows = Windows(best);
    std::multimap<std::uint64_t, std::size_t> by_hash;
    class_of_.assign(windows.size(), kNoClass);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      Window& w = windows[i];
      if (w.instance.num_ops == 0) continue;
      const std::uint64_t hash = InstanceHash(w.instance);
      const auto [from, to] = by_hash.equal_range(hash);
      const auto same = std::find_if(
          from, to, [&](const auto& k) { return SameInstance(classes_[k.second].search->instance(), w.instance); });
      class_of_[i] = same == to ? classes_.size() : same->second;
      if (same == to) {
        by_hash.emplace(hash, classes_.size());
        classes_.push_back(
            {std::make_unique<PartSearch>(problem_, std::move(w.instance), static_cast<int>(classes_.size())), false});
      }
      WindowClass& c = classes_[class_of_[i]];
      c.search->Take(w.sequence);
      c.improved |= same != to;  // one of them may have the better piece
    }
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (Mine(i)) mine_.push_back(i);
    if (lane_ == 0)
      exchange.board().Message(
          std::to_string(windows.size()) + " windows, " + std::to_string(classes_.size()) + " different", name());
  }

  // The best plan known, with every better piece of ours whose surroundings are the same.
  void PutBack(WorkBudget& budget, Exchange& exchange) {
    since_put_back_ = 0;
    if (std::none_of(classes_.begin(), classes_.end(), [](const WindowClass& c) { return c.improved; })) return;
    for (WindowClass& c : classes_) c.improved = false;
    const IncumbentPtr best = exchange.known().best;
    const std::vector<Window> windows = Windows(*best);
    budget.Spend(static_cast<Ticks>(problem_.instance.num_ops) * 1000);
    std::vector<std::int32_t> sequence;
    sequence.reserve(best->sequence.size());
    bool better = false;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const Window& w = windows[i];
      std::int64_t duration = 0;
      for (const std::int32_t op : w.sequence) duration += w.instance.duration[op];
      const PartSearch* s =
          class_of_[i] == kNoClass || !Mine(class_of_[i]) ? nullptr : classes_[class_of_[i]].search.get();
      if (s == nullptr || w.instance.num_ops == 0 || !s->has_plan() || s->upper() >= duration ||
          !SameInstance(w.instance, s->instance())) {
        const auto from = best->sequence.begin();
        sequence.insert(sequence.end(), from + static_cast<std::ptrdiff_t>(w.begin),
                        from + static_cast<std::ptrdiff_t>(w.end));
        continue;
      }
      better = true;
      for (const std::int32_t op : s->best())
        if (w.op[op] >= 0) sequence.push_back(w.op[op]);
    }
    if (better) exchange.Offer(sequence, name());
  }

  const Problem& problem_;
  const int lane_, lanes_;
  const std::vector<std::int32_t> cuts_;
  std::vector<std::size_t> class_of_;  // window -> class
  std::vector<WindowClass> classes_;
  std::vector<std::size_t> mine_;  // classes of this lane that are not finished
  std::size_t at_ = 0;
  Ticks visit_ = kFirstVisit, visited_ = 0, since_put_back_ = 0;
};

}  // namespace

bool WindowsFit(const Problem& problem) { return problem.instance.plain && problem.instance.num_ops >= 6000; }

std::unique_ptr<Worker> MakeWindowsWorker(const Problem& problem, int lane, int lanes) {
  return std::make_unique<WindowsWorker>(problem, lane, lanes);
}

}  // namespace ebb
