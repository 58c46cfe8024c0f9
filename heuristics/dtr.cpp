// SPDX-License-Identifier: Apache-2.0
#include "heuristics/dtr.hpp"

#include <algorithm>
#include <numeric>

#include "heuristics/replay.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

class Simulation {
 public:
  Simulation(const Instance& in, const DtrParams& params, WorkBudget& work)
      : in_(in), params_(params), work_(work), evictable_(Remakeable(in)), room_(params.budget - in.resident_bytes) {
    const std::size_t n = in.num_values;
    present_.assign(n, 0), made_.assign(n, 0), locks_.assign(n, 0), seen_.assign(n, 0);
    accessed_.assign(n, 0.0), class_cost_.assign(n, 0.0);
    uses_.assign(n, 0), class_.resize(n);
    std::iota(class_.begin(), class_.end(), 0);
    node_ = class_;
    listed_.assign(n, 0);
    for (std::size_t v = 0; v < n; ++v) {
      uses_[v] = static_cast<std::int32_t>(in.readers[v].size()) + (in.kept[v] ? 1 : 0);
      if (in.maker[v] < 0) present_[v] = made_[v] = 1;
      if (in.carrier[v] < 0) continue;
      // A storage is in use until its last view is.
      std::int32_t root = in.carrier[v];
      while (in.carrier[At(root)] >= 0) root = in.carrier[At(root)];
      uses_[At(root)] += static_cast<std::int32_t>(in.readers[v].size()) + (in.kept[v] ? 1 : 0);
    }
  }

  std::vector<std::int32_t> Run() {
    for (const std::int32_t op : in_.order) {
      if (!Perform(op)) return {};
      for (const std::int32_t v : in_.reads[At(op)]) Release(v);
      for (const std::int32_t v : in_.makes[At(op)])
        if (uses_[At(v)] == 0) Free(v);
    }
    // The results are there at the end, all at once.
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      if (!in_.kept[v]) continue;
      if (!present_[v] && !Perform(in_.maker[v])) return {};
      ++locks_[v];
    }
    return std::move(sequence_);
  }

 private:
  struct Frame {
    std::int32_t op;
    std::size_t next = 0;  // input to look at
  };

  // The op and, first, what it misses. False: out of memory, or given up.
  bool Perform(std::int32_t op) {
    stack_.clear();
    stack_.push_back({op});
    while (!stack_.empty()) {
      Frame& f = stack_.back();
      const auto reads = in_.reads[At(f.op)];
      if (f.next < reads.size()) {
        const std::int32_t v = reads[f.next];
        if (present_[At(v)]) {
          ++locks_[At(v)];
          ++f.next;
        } else {
          const std::int32_t maker = in_.maker[At(v)];
          if (maker < 0) return false;
          stack_.push_back({maker});  // f is invalid from here on
        }
        continue;
      }
      const std::int32_t now = f.op;
      if (!Execute(now)) return false;
      for (const std::int32_t v : reads) --locks_[At(v)];
      // A released value that was made again for this repeat alone stays, to be evicted when its bytes are needed.
      stack_.pop_back();
    }
    return true;
  }

  bool Execute(std::int32_t op) {
    work_.Spend(50);
    if (work_.Exhausted() || (params_.most_executions > 0 && sequence_.size() >= params_.most_executions)) return false;
    std::int64_t wanted = in_.moment[At(op)];
    for (const std::int32_t v : in_.makes[At(op)])
      if (!present_[At(v)]) wanted += in_.bytes[At(v)];
    while (resident_ + wanted > room_)
      if (!EvictOne()) return false;
    sequence_.push_back(op);
    clock_ += static_cast<double>(in_.duration[At(op)]);
    for (const std::int32_t v : in_.reads[At(op)]) accessed_[At(v)] = clock_;
    for (std::int32_t v : in_.consumes[At(op)]) {
      present_[At(v)] = 0;
      while (in_.carrier[At(v)] >= 0) v = in_.carrier[At(v)], present_[At(v)] = 0;
      resident_ -= in_.bytes[At(v)];
    }
    for (const std::int32_t v : in_.makes[At(op)]) {
      if (!present_[At(v)]) {
        present_[At(v)] = 1;
        resident_ += in_.bytes[At(v)];
        if (made_[At(v)]) LeaveClass(v);
        if (evictable_[At(v)] && in_.bytes[At(v)] > 0 && !listed_[At(v)]) {
          listed_[At(v)] = 1;
          resident_set_.push_back(v);
        }
      }
      made_[At(v)] = 1;
      accessed_[At(v)] = clock_;
    }
    return true;
  }

  void Release(std::int32_t v) {
    if (--uses_[At(v)] == 0) Free(v);
    if (in_.carrier[At(v)] < 0) return;
    while (in_.carrier[At(v)] >= 0) v = in_.carrier[At(v)];
    if (--uses_[At(v)] == 0) Free(v);
  }
  // Nobody wants it any more: evicted where it can come back, gone where only that would be the trouble.
  void Free(std::int32_t v) {
    if (!present_[At(v)] || in_.maker[At(v)] < 0) return;
    if (evictable_[At(v)]) {
      Evict(v);
    } else if (!NeededForRepeats(v)) {
      present_[At(v)] = 0;
      resident_ -= in_.bytes[At(v)];
    }
  }
  [[nodiscard]] bool NeededForRepeats(std::int32_t v) const {
    for (const std::int32_t r : in_.readers[At(v)])
      for (const std::int32_t w : in_.makes[At(r)])
        if (evictable_[At(w)] || in_.carrier[At(w)] >= 0) return true;
    return false;
  }

  // ---- eviction
  bool EvictOne() {
    double best = 0;
    std::int32_t found = -1;
    std::size_t kept = 0;
    for (const std::int32_t v : resident_set_) {
      if (!present_[At(v)]) {
        listed_[At(v)] = 0;
        continue;
      }
      resident_set_[kept++] = v;
      if (locks_[At(v)] > 0) continue;
      const double score = Score(v);
      if (found < 0 || score < best) best = score, found = v;
    }
    resident_set_.resize(kept);
    work_.Spend(static_cast<Ticks>(4 * kept));
    if (found < 0) return false;
    Evict(found);
    return true;
  }
  void Evict(std::int32_t v) {
    present_[At(v)] = 0;
    resident_ -= in_.bytes[At(v)];
    if (params_.rule != DtrRule::kClass) return;
    class_cost_[At(Class(v))] += Cost(v);
    ForNeighbours(v, [&](std::int32_t w) {
      if (!Evicted(w)) return;
      const std::int32_t a = Class(v), b = Class(w);
      if (a == b) return;
      class_[At(b)] = a;
      class_cost_[At(a)] += class_cost_[At(b)];
    });
  }
  // Made again: its cost leaves its class and it is a class of its own; the others stay together.
  void LeaveClass(std::int32_t v) {
    if (params_.rule != DtrRule::kClass) return;
    double& cost = class_cost_[At(Class(v))];
    cost = std::max(0.0, cost - Cost(v));
    node_[At(v)] = static_cast<std::int32_t>(class_.size());
    class_.push_back(node_[At(v)]);
    class_cost_.push_back(0);
  }

  [[nodiscard]] double Cost(std::int32_t v) const {
    const std::int32_t op = in_.maker[At(v)];
    return op < 0 ? 0.0 : static_cast<double>(in_.duration[At(op)]);
  }
  [[nodiscard]] bool Evicted(std::int32_t v) const { return made_[At(v)] && !present_[At(v)]; }
  template <class Fn>
  void ForNeighbours(std::int32_t v, const Fn& fn) {
    if (in_.maker[At(v)] >= 0)
      for (const std::int32_t u : in_.reads[At(in_.maker[At(v)])]) fn(u);
    for (const std::int32_t r : in_.readers[At(v)])
      for (const std::int32_t w : in_.makes[At(r)]) fn(w);
  }
  std::int32_t Class(std::int32_t v) {
    std::int32_t x = node_[At(v)];
    while (class_[At(x)] != x) x = class_[At(x)] = class_[At(class_[At(x)])];
    return x;
  }

  double Score(std::int32_t v) {
    const double bytes = static_cast<double>(in_.bytes[At(v)]);
    const double stale = clock_ - accessed_[At(v)] + 1e-9;
    switch (params_.rule) {
      case DtrRule::kFull: return (Cost(v) + Spread(v, true, false) + Spread(v, false, true)) / (bytes * stale);
      case DtrRule::kClass: {
        double sum = Cost(v);
        classes_.clear();
        ForNeighbours(v, [&](std::int32_t w) {
          if (Evicted(w)) classes_.push_back(Class(w));
        });
        std::sort(classes_.begin(), classes_.end());
        classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
        for (const std::int32_t c : classes_) sum += class_cost_[At(c)];
        work_.Spend(static_cast<Ticks>(10 + 10 * classes_.size()));
        return sum / (bytes * stale);
      }
      case DtrRule::kLocal: return Cost(v) / (bytes * stale);
      case DtrRule::kLru: return 1 / stale;
      case DtrRule::kLargest: return 1 / bytes;
      case DtrRule::kMsps: return (Cost(v) + Spread(v, true, false)) / bytes;
    }
    return 0;
  }
  // Sum of costs over the evicted storages reached from v through evicted ones, upwards (inputs) or downwards
  // (readers).
  double Spread(std::int32_t v, bool up, bool down) {
    ++mark_;
    seen_[At(v)] = mark_;
    queue_.assign(1, v);
    double sum = 0;
    const auto visit = [&](std::int32_t w) {
      if (seen_[At(w)] == mark_ || !Evicted(w)) return;
      seen_[At(w)] = mark_;
      sum += Cost(w);
      queue_.push_back(w);
    };
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::int32_t u = queue_[i];
      if (up && in_.maker[At(u)] >= 0)
        for (const std::int32_t w : in_.reads[At(in_.maker[At(u)])]) visit(w);
      if (down)
        for (const std::int32_t r : in_.readers[At(u)])
          for (const std::int32_t w : in_.makes[At(r)]) visit(w);
    }
    work_.Spend(static_cast<Ticks>(10 * queue_.size()));
    return sum;
  }

  const Instance& in_;
  const DtrParams params_;
  WorkBudget& work_;
  const std::vector<std::uint8_t> evictable_;
  const std::int64_t room_;
  std::int64_t resident_ = 0;
  double clock_ = 0;
  std::vector<std::uint8_t> present_, made_, listed_;
  std::vector<std::int32_t> locks_, uses_, node_, class_, classes_, queue_, resident_set_, sequence_;
  std::vector<std::int32_t> seen_;
  std::int32_t mark_ = 0;
  std::vector<double> accessed_, class_cost_;
  std::vector<Frame> stack_;
};

}  // namespace

std::vector<std::int32_t> DtrSequence(const Instance& in, const DtrParams& params, WorkBudget& work) {
  if (!EvaluateSequence(in, in.order).valid) return {};
  std::vector<std::int32_t> out = Simulation(in, params, work).Run();
  // The simulated system counts at least what the plan takes; where a feature of the graph makes it count less, the
  // answer is no plan.
  if (out.empty()) return out;
  const SequenceFacts facts = EvaluateSequence(in, out);
  if (!facts.valid || facts.peak > params.budget) out.clear();
  return out;
}

}  // namespace ebb
