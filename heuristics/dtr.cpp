// SPDX-License-Identifier: Apache-2.0
#include "heuristics/dtr.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "heuristics/replay.hpp"

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// What is evicted is a storage: a value of its own with the values that it carries. A storage is called by that value.
class Simulation {
 public:
  Simulation(const Instance& in, const DtrParams& params, WorkBudget& work)
      : in_(in), params_(params), work_(work), room_(params.budget - in.resident_bytes) {
    const std::size_t n = in.num_values;
    Families();
    present_.assign(n, 0), made_.assign(n, 0), alive_.assign(n, 0), listed_.assign(n, 0);
    locks_.assign(n, 0), seen_.assign(n, 0), uses_.assign(n, 0), since_.assign(n, 0);
    accessed_.assign(n, 0.0), class_cost_.assign(n, 0.0), cost_.assign(n, 0.0);
    class_.resize(n);
    std::iota(class_.begin(), class_.end(), 0);
    node_ = class_;
    for (std::size_t v = 0; v < n; ++v) {
      uses_[At(root_[v])] += static_cast<std::int32_t>(in.readers[v].size()) + (in.kept[v] ? 1 : 0);
      if (in.maker[v] < 0) present_[v] = made_[v] = alive_[v] = 1;
    }
    Evictable();
  }

  std::vector<std::int32_t> Run() {
    for (const std::int32_t op : in_.order) {
      if (!Perform(op)) return {};
      for (const std::int32_t v : in_.reads[At(op)])
        if (--uses_[At(root_[At(v)])] == 0) Free(root_[At(v)]);
      for (const std::int32_t v : in_.makes[At(op)])
        if (root_[At(v)] == v && uses_[At(v)] == 0) Free(v);
    }
    // The results are there at the end, all at once.
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      if (!in_.kept[v]) continue;
      if (!present_[v] && (in_.maker[v] < 0 || !Perform(in_.maker[v]))) return {};
      ++locks_[At(root_[v])];
    }
    return std::move(sequence_);
  }

 private:
  struct Frame {
    std::int32_t op;
    std::size_t next;   // input to look at
    std::size_t locks;  // where its inputs' flags begin in held_: does it hold a lock?
  };

  void Families() {
    root_.resize(in_.num_values);
    Csr<std::int32_t> of_root;
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      std::int32_t r = static_cast<std::int32_t>(v);
      while (in_.carrier[At(r)] >= 0) r = in_.carrier[At(r)];
      root_[v] = r;
      of_root.Push(r);
      of_root.EndRow();
    }
    family_ = of_root.Transpose<std::int32_t>(in_.num_values, At);
  }

  // Can the storage be had again at any later time? All ops that make it and its views may repeat, and what they read
  // can itself be had again, or stays: it is never evicted, and no op overwrites it.
  void Evictable() {
    std::vector<std::uint8_t> overwritten(in_.num_values, 0), settled(in_.num_values, 0);
    for (std::size_t o = 0; o < in_.num_ops; ++o)
      for (const std::int32_t v : in_.consumes[o]) overwritten[At(root_[At(v)])] = 1;
    evictable_.assign(in_.num_values, 0);
    for (std::size_t v = 0; v < in_.num_values; ++v)
      evictable_[v] = in_.maker[v] >= 0 && root_[v] == static_cast<std::int32_t>(v) ? 1 : 0;
    // By rank of the makers; a view is made after its storage, so what falls late is found by going on until nothing
    // falls.
    for (bool fell = true; fell;) {
      fell = false;
      for (const std::int32_t op : in_.order) {
        bool can = in_.may_repeat[At(op)] != 0;
        for (const std::int32_t u : in_.reads[At(op)]) {
          const std::int32_t r = root_[At(u)];
          can = can && (evictable_[At(r)] != 0 || !overwritten[At(r)]);
        }
        // A repeat makes all outputs anew, so they stand or fall together.
        for (const std::int32_t v : in_.makes[At(op)]) can = can && evictable_[At(root_[At(v)])] != 0;
        if (can) continue;
        for (const std::int32_t v : in_.makes[At(op)]) {
          std::uint8_t& e = evictable_[At(root_[At(v)])];
          fell = fell || e != 0;
          e = 0;
        }
      }
    }
  }

  // The op and, first, what it misses: all inputs that are there are locked before the first missing one is made.
  bool Perform(std::int32_t op) {
    stack_.clear(), held_.clear();
    Call(op);
    while (!stack_.empty()) {
      Frame& f = stack_.back();
      const auto reads = in_.reads[At(f.op)];
      if (f.next < reads.size()) {
        const std::int32_t v = reads[f.next];
        if (present_[At(v)]) {
          if (!held_[f.locks + f.next]) Lock(root_[At(v)]), held_[f.locks + f.next] = 1;
          ++f.next;
        } else {
          const std::int32_t maker = in_.maker[At(v)];
          // An op that is under way already waits for something that overwrites its own input, again and again.
          if (maker < 0 || stack_.size() > in_.num_ops) return false;
          work_.Spend(5);
          if (work_.Exhausted()) return false;
          Call(maker);  // f is invalid from here on
        }
        continue;
      }
      // What one input needed may have overwritten another one that was there.
      const auto gone = std::find_if(reads.begin(), reads.end(), [&](std::int32_t v) { return !present_[At(v)]; });
      if (gone != reads.end()) {
        f.next = static_cast<std::size_t>(gone - reads.begin());
        continue;
      }
      const std::int32_t now = f.op;
      const std::size_t locks = f.locks;
      if (!Execute(now)) return false;
      for (const std::int32_t v : reads) Unlock(root_[At(v)]);
      // A released value that was made again for this repeat alone stays, to be evicted when its bytes are needed.
      stack_.pop_back();
      held_.resize(locks);
    }
    return true;
  }
  // An access counts from when it is asked for, not from when it is done.
  void Call(std::int32_t op) {
    const auto reads = in_.reads[At(op)];
    stack_.push_back({op, 0, held_.size()});
    for (const std::int32_t v : reads) accessed_[At(root_[At(v)])] = clock_;
    for (const std::int32_t v : reads) {
      held_.push_back(present_[At(v)]);
      if (present_[At(v)]) Lock(root_[At(v)]);
    }
  }
  void Lock(std::int32_t s) { ++locks_[At(s)]; }
  void Unlock(std::int32_t s) {
    if (--locks_[At(s)] == 0) since_[At(s)] = ++moments_;
  }

  bool Execute(std::int32_t op) {
    work_.Spend(50);
    if (work_.Exhausted() || (params_.most_executions > 0 && sequence_.size() >= params_.most_executions)) return false;
    std::int64_t wanted = in_.moment[At(op)];
    for (const std::int32_t v : in_.makes[At(op)]) wanted += in_.bytes[At(v)];
    while (resident_ + wanted > room_)
      if (!EvictOne()) return false;
    // An output that is there is replaced when its twin is ready, with it its views: they would keep the old storage.
    for (const std::int32_t v : in_.makes[At(op)])
      if (root_[At(v)] == v && alive_[At(v)]) Vanish(v);
    sequence_.push_back(op);
    clock_ += static_cast<double>(in_.duration[At(op)]);
    // In DTR a mutation is a copy, and the old version released: evicted.
    for (const std::int32_t v : in_.consumes[At(op)])
      if (alive_[At(root_[At(v)])]) Evict(root_[At(v)]);
    std::int32_t counted = -1;
    for (const std::int32_t v : in_.makes[At(op)]) {
      const std::int32_t r = root_[At(v)];
      const bool first = !made_[At(v)];
      present_[At(v)] = made_[At(v)] = 1;
      if (first) {
        accessed_[At(r)] = clock_;
        // Paper, section 3.2: a storage's cost is that of all its views together, as far as they are there.
        if (counted != r) cost_[At(r)] += static_cast<double>(in_.duration[At(op)]);
        counted = r;
      }
      if (r != v) continue;
      alive_[At(v)] = 1;
      since_[At(v)] = ++moments_;
      resident_ += in_.bytes[At(v)];
      if (!first) LeaveClass(v);
      if (evictable_[At(v)] && in_.bytes[At(v)] > 0 && !listed_[At(v)]) {
        listed_[At(v)] = 1;
        resident_set_.push_back(v);
      }
    }
    return true;
  }

  // Nobody wants it any more: evicted where it can come back, gone where only that would be the trouble.
  void Free(std::int32_t s) {
    if (!alive_[At(s)] || in_.maker[At(s)] < 0) return;
    if (evictable_[At(s)]) {
      Evict(s);
    } else if (!NeededForRepeats(s)) {
      Vanish(s);
    }
  }
  [[nodiscard]] bool NeededForRepeats(std::int32_t s) const {
    for (const std::int32_t v : family_[At(s)])
      for (const std::int32_t r : in_.readers[At(v)])
        for (const std::int32_t w : in_.makes[At(r)])
          if (evictable_[At(root_[At(w)])]) return true;
    return false;
  }

  // ---- eviction
  void Vanish(std::int32_t s) {
    for (const std::int32_t v : family_[At(s)]) present_[At(v)] = 0;
    alive_[At(s)] = 0;
    resident_ -= in_.bytes[At(s)];
  }
  bool EvictOne() {
    // Of equal scores the one that may be evicted since latest goes, of those that cost nothing the earliest.
    double best = 0;
    std::int32_t found = -1;
    std::size_t kept = 0;
    for (const std::int32_t s : resident_set_) {
      if (!alive_[At(s)]) {
        listed_[At(s)] = 0;
        continue;
      }
      resident_set_[kept++] = s;
      if (locks_[At(s)] > 0) continue;
      const double score = Score(s);
      const bool later = found >= 0 && since_[At(s)] > since_[At(found)];
      if (found < 0 || score < best || (score == best && later == (score > 0))) best = score, found = s;
    }
    resident_set_.resize(kept);
    work_.Spend(static_cast<Ticks>(4 * kept));
    if (found < 0) return false;
    Evict(found);
    return true;
  }
  void Evict(std::int32_t s) {
    Vanish(s);
    if (params_.rule != DtrRule::kClass) return;
    class_cost_[At(Class(s))] += cost_[At(s)];
    ForNeighbours(s, true, true, [&](std::int32_t w) {
      if (!Evicted(w)) return;
      const std::int32_t a = Class(s), b = Class(w);
      if (a == b) return;
      class_[At(b)] = a;
      class_cost_[At(a)] += class_cost_[At(b)];
    });
  }
  // Made again: its cost leaves its class and it is a class of its own; the others stay together.
  void LeaveClass(std::int32_t s) {
    if (params_.rule != DtrRule::kClass) return;
    double& cost = class_cost_[At(Class(s))];
    cost = std::max(0.0, cost - cost_[At(s)]);
    node_[At(s)] = static_cast<std::int32_t>(class_.size());
    class_.push_back(node_[At(s)]);
    class_cost_.push_back(0);
  }

  [[nodiscard]] bool Evicted(std::int32_t s) const { return made_[At(s)] && !alive_[At(s)]; }
  // Storages that it is made from (up) and that are made from it (down); some perhaps twice.
  template <class Fn>
  void ForNeighbours(std::int32_t s, bool up, bool down, const Fn& fn) {
    for (const std::int32_t v : family_[At(s)]) {
      if (up && in_.maker[At(v)] >= 0)
        for (const std::int32_t u : in_.reads[At(in_.maker[At(v)])])
          if (root_[At(u)] != s) fn(root_[At(u)]);
      if (down)
        for (const std::int32_t r : in_.readers[At(v)])
          for (const std::int32_t w : in_.makes[At(r)])
            if (root_[At(w)] != s) fn(root_[At(w)]);
    }
  }
  std::int32_t Class(std::int32_t s) {
    std::int32_t x = node_[At(s)];
    while (class_[At(x)] != x) x = class_[At(x)] = class_[At(class_[At(x)])];
    return x;
  }

  static double Per(double a, double b) { return b > 0 ? a / b : std::numeric_limits<double>::infinity(); }
  double Score(std::int32_t s) {
    const double bytes = static_cast<double>(in_.bytes[At(s)]);
    const double stale = clock_ - accessed_[At(s)];  // 0: just read, and the last to go
    const double cost = cost_[At(s)];
    switch (params_.rule) {
      case DtrRule::kFull: return Per(cost + Spread(s, true) + Spread(s, false), bytes * stale);
      case DtrRule::kClass: {
        double sum = cost;
        classes_.clear();
        ForNeighbours(s, true, true, [&](std::int32_t w) {
          if (Evicted(w)) classes_.push_back(Class(w));
        });
        std::sort(classes_.begin(), classes_.end());
        classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
        for (const std::int32_t c : classes_) sum += class_cost_[At(c)];
        work_.Spend(static_cast<Ticks>(10 + 10 * classes_.size()));
        return Per(sum, bytes * stale);
      }
      case DtrRule::kLocal: return Per(cost, bytes * stale);
      case DtrRule::kLru: return Per(1, stale);
      case DtrRule::kLargest: return 1 / bytes;
      case DtrRule::kMsps: return (cost + Spread(s, true)) / bytes;
    }
    return 0;
  }
  // Sum of costs over the evicted storages reached from s through evicted ones, upwards (inputs) or downwards
  // (readers).
  double Spread(std::int32_t s, bool up) {
    ++mark_;
    seen_[At(s)] = mark_;
    queue_.assign(1, s);
    double sum = 0;
    for (std::size_t i = 0; i < queue_.size(); ++i)
      ForNeighbours(queue_[i], up, !up, [&](std::int32_t w) {
        if (seen_[At(w)] == mark_ || !Evicted(w)) return;
        seen_[At(w)] = mark_;
        sum += cost_[At(w)];
        queue_.push_back(w);
      });
    work_.Spend(static_cast<Ticks>(10 * queue_.size()));
    return sum;
  }

  const Instance& in_;
  const DtrParams params_;
  WorkBudget& work_;
  const std::int64_t room_;
  std::int64_t resident_ = 0;
  double clock_ = 0;
  std::vector<std::int32_t> root_;  // value -> its storage
  Csr<std::int32_t> family_;        // storage -> its values
  std::vector<double> cost_;        // by storage, as what follows
  std::vector<std::uint8_t> evictable_, alive_, listed_;
  std::vector<std::uint8_t> present_, made_;  // by value
  std::vector<std::int32_t> locks_, uses_, node_, class_, classes_, queue_, resident_set_, sequence_;
  std::vector<std::int32_t> seen_;
  std::int32_t mark_ = 0;
  std::vector<std::uint8_t> held_;   // by the frames' inputs
  std::vector<std::int64_t> since_;  // storage -> when it was last unlocked or made
  std::int64_t moments_ = 0;
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
