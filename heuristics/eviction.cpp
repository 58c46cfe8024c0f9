// SPDX-License-Identifier: Apache-2.0
#include "heuristics/eviction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace ebb {
namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

class OrderEvictor {
 public:
  OrderEvictor(const Instance& in, const EvictionParams& params)
      : in_(in),
        params_(params),
        order_(params.order.empty() ? std::span<const std::int32_t>(in.order) : params.order) {
    left_ = params.max_repeats > 0 ? params.max_repeats : 3 * static_cast<std::int64_t>(in.num_ops) + 100;
    FindUses();
    FindEvictable();
  }

  EvictedSequence Run() {
    for (now_ = 0; now_ < static_cast<std::int32_t>(order_.size()); ++now_) RunOp(order_[At(now_)]);
    EvictedSequence out;
    const SequenceFacts facts = EvaluateSequence(in_, sequence_);
    if (!facts.valid) {
      sequence_.assign(order_.begin(), order_.end());  // an order that needs repeats for what is overwritten
      out.sequence = std::move(sequence_);
      return out;
    }
    out.sequence = std::move(sequence_);
    out.duration = facts.duration;
    out.peak = facts.peak;
    out.fits = facts.peak <= params_.budget;
    return out;
  }

 private:
  static constexpr int kClasses = 48;
  static constexpr std::int32_t kForever = std::numeric_limits<std::int32_t>::max();
  struct Entry {
    std::int32_t next, value;
    bool operator<(const Entry& o) const { return next != o.next ? next < o.next : value < o.value; }
  };

  // Positions in which first executions read each value, ascending.
  void FindUses() {
    Csr<std::int32_t> by_position;
    by_position.Reserve(order_.size(), in_.reads.size());
    for (const std::int32_t o : order_) {
      for (const std::int32_t v : in_.reads[At(o)]) by_position.Push(v);
      by_position.EndRow();
    }
    uses_ = by_position.Transpose<std::int32_t>(in_.num_values, At);
    use_ = std::vector<std::size_t>(in_.num_values, 0);
    resident_.assign(in_.num_values, 0);
    pins_.assign(in_.num_values, 0);
    runs_.assign(in_.num_ops, 0);
    memory_ = in_.resident_bytes;
    for (std::size_t v = 0; v < in_.num_values; ++v)
      if (in_.maker[v] < 0) resident_[v] = 1;
  }

  void FindEvictable() {
    class_.assign(in_.num_values, -1);
    repeatable_.assign(in_.num_ops, 1);
    std::vector<std::uint8_t> fragile(in_.num_values, 0);  // taken over in place, it or what lives in it
    for (std::size_t o = 0; o < in_.num_ops; ++o)
      for (const std::int32_t v : in_.consumes[o])
        for (std::int32_t w = v; w >= 0; w = in_.carrier[At(w)]) fragile[At(w)] = 1;
    if (!in_.plain)
      for (std::size_t v = 0; v < in_.num_values; ++v) {  // carriers come before what they carry
        const std::int32_t w = in_.carrier[v];
        if (w >= 0 && fragile[At(w)]) fragile[v] = 1;
      }
    for (std::size_t o = 0; o < in_.num_ops; ++o) {
      bool may = in_.may_repeat[o] != 0;
      for (const std::int32_t v : in_.reads[o]) may = may && !fragile[At(v)];
      for (const std::int32_t v : in_.makes[o]) may = may && !fragile[At(v)];
      repeatable_[o] = may;
    }
    double mean = 0;
    std::int64_t count = 0;
    for (std::size_t v = 0; v < in_.num_values; ++v)
      if (in_.maker[v] >= 0 && in_.bytes[v] > 0) mean += std::log2(Ratio(v)), ++count;
    mean = count > 0 ? mean / static_cast<double>(count) : 0;
    for (std::size_t v = 0; v < in_.num_values; ++v) {
      if (in_.maker[v] < 0 || !repeatable_[At(in_.maker[v])] || in_.bytes[v] == 0) continue;
      const double c = std::floor((std::log2(Ratio(v)) - mean) * 2.0) + kClasses / 2.0;
      class_[v] = static_cast<std::int32_t>(std::clamp(c, 0.0, kClasses - 1.0));
    }
    if (!in_.plain) {
      Csr<std::int32_t> carriers;
      for (std::size_t v = 0; v < in_.num_values; ++v) {
        if (in_.carrier[v] >= 0) carriers.Push(in_.carrier[v]);
        carriers.EndRow();
      }
      carried_ = carriers.Transpose<std::int32_t>(in_.num_values, At);
    }
    heaps_.resize(kClasses);
  }

  double Ratio(std::size_t v) const {
    const double cost = static_cast<double>(in_.duration[At(in_.maker[v])]) + 1e-3;
    return std::pow(cost, params_.cost_power) / static_cast<double>(in_.bytes[v]);
  }

  std::int32_t NextUse(std::int32_t v) {
    const auto uses = uses_[At(v)];
    std::size_t& i = use_[At(v)];
    while (i < uses.size() && uses[i] < now_) ++i;
    return i < uses.size() ? uses[i] : in_.kept[At(v)] ? kForever : -1;
  }

  // It or something that lives in its storage is still wanted.
  bool Wanted(std::int32_t v, std::int32_t after) {
    std::int32_t next = NextUse(v);
    if (next == after && next != kForever) {
      const auto uses = uses_[At(v)];
      const std::size_t i = use_[At(v)] + 1;
      next = i < uses.size() ? uses[i] : in_.kept[At(v)] ? kForever : -1;
    }
    return next >= 0;
  }
  bool Carries(std::int32_t v) {
    if (in_.plain) return false;
    for (const std::int32_t c : carried_[At(v)])
      if (resident_[At(c)]) return true;
    return false;
  }

  void MakeResident(std::int32_t v) {
    if (!resident_[At(v)]) {
      resident_[At(v)] = 1;
      memory_ += in_.bytes[At(v)];
    }
    if (class_[At(v)] >= 0) {
      const std::int32_t next = NextUse(v);
      heaps_[At(class_[At(v)])].push({next < 0 ? now_ : next, v});
    }
  }
  void Drop(std::int32_t v) {
    resident_[At(v)] = 0;
    memory_ -= in_.bytes[At(v)];
    if (in_.plain) return;
    // the storage of a carrier that was only held for this one
    const std::int32_t w = in_.carrier[At(v)];
    if (w >= 0 && resident_[At(w)] && pins_[At(w)] == 0 && !Carries(w) && !Wanted(w, -1) && in_.maker[At(w)] >= 0)
      Drop(w);
  }

  // Frees until `need` more bytes fit; false where nothing is left to evict.
  bool MakeRoom(std::int64_t need) {
    while (memory_ + need > params_.budget) {
      std::int32_t victim = -1;
      double least = 0;
      int from = 0;
      for (int c = 0; c < kClasses; ++c) {
        auto& heap = heaps_[At(c)];
        while (!heap.empty()) {
          const Entry top = heap.top();
          const bool alive = resident_[At(top.value)] != 0;
          const std::int32_t next = alive ? NextUse(top.value) : -1;
          if (!alive || next != top.next) {
            heap.pop();
            if (alive && next > top.next) heap.push({next, top.value});
            continue;
          }
          if (pins_[At(top.value)] > 0 || Carries(top.value)) {  // comes back when it is free
            heap.pop();
            held_.push_back(top);
            continue;
          }
          break;
        }
        if (heap.empty()) continue;
        const Entry top = heap.top();
        const double distance =
            top.next == kForever ? 4.0 * static_cast<double>(order_.size()) : static_cast<double>(top.next - now_ + 1);
        const double score = Ratio(At(top.value)) / std::pow(distance, params_.distance_power);
        if (victim < 0 || score < least) {
          victim = top.value;
          least = score;
          from = c;
        }
      }
      if (victim < 0) break;
      heaps_[At(from)].pop();
      Drop(victim);
    }
    for (const Entry& e : held_) heaps_[At(class_[At(e.value)])].push(e);
    held_.clear();
    return memory_ + need <= params_.budget;
  }

  // Runs `op` after whatever it misses.
  void RunOp(std::int32_t op) {
    struct Frame {
      std::int32_t op;
      std::size_t input;
    };
    std::vector<Frame> stack{{op, 0}};
    while (!stack.empty()) {
      Frame& f = stack.back();
      const auto reads = in_.reads[At(f.op)];
      if (f.input < reads.size()) {
        const std::int32_t v = reads[f.input];
        if (!resident_[At(v)]) {
          const std::int32_t maker = in_.maker[At(v)];
          if (left_ <= 0 || maker < 0 || !repeatable_[At(maker)] ||
              (params_.max_executions > 0 && runs_[At(maker)] >= params_.max_executions)) {
            // No (more) repeats of this one: as if it had never been let go. Valid, since its latest execution serves
            // the read, but then what was counted in between is too little.
            MakeResident(v);
          } else {
            --left_;
            stack.push_back({maker, 0});
            continue;
          }
        }
        ++pins_[At(v)];
        ++f.input;
        continue;
      }
      const std::int32_t o = f.op;
      stack.pop_back();
      // what the op that waits for it reads must outlive it, though nobody in the order may ask for it again
      Execute(o, stack.empty() ? -1 : in_.reads[At(stack.back().op)][stack.back().input]);
    }
  }

  void Execute(std::int32_t o, std::int32_t awaited) {
    std::int64_t need = in_.moment[At(o)];
    for (const std::int32_t v : in_.makes[At(o)])
      if (!resident_[At(v)]) need += in_.bytes[At(v)];
    MakeRoom(need);
    sequence_.push_back(o);
    ++runs_[At(o)];
    const bool first = order_[At(now_)] == o;
    for (const std::int32_t v : in_.makes[At(o)]) MakeResident(v);
    const std::int32_t done = first ? now_ : -1;
    for (const std::int32_t v : in_.reads[At(o)]) --pins_[At(v)];
    for (const std::int32_t v : in_.reads[At(o)])
      if (in_.maker[At(v)] >= 0 && pins_[At(v)] == 0 && v != awaited && resident_[At(v)] && !Wanted(v, done) &&
          !Carries(v))
        Drop(v);
    for (const std::int32_t v : in_.makes[At(o)])
      if (v != awaited && resident_[At(v)] && pins_[At(v)] == 0 && NextUse(v) < 0 && !Carries(v)) Drop(v);
  }

  const Instance& in_;
  const EvictionParams& params_;
  std::span<const std::int32_t> order_;
  Csr<std::int32_t> uses_, carried_;
  std::vector<std::size_t> use_;
  std::vector<std::uint8_t> resident_, repeatable_;
  std::vector<std::int32_t> pins_, runs_, class_;
  std::vector<std::priority_queue<Entry>> heaps_;
  std::vector<Entry> held_;
  std::vector<std::int32_t> sequence_;
  std::int64_t memory_ = 0, left_ = 0;
  std::int32_t now_ = 0;
};

}  // namespace

EvictedSequence Evict(const Instance& instance, const EvictionParams& params) {
  return OrderEvictor(instance, params).Run();
}

}  // namespace ebb
