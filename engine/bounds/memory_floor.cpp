// SPDX-License-Identifier: Apache-2.0
//
// Pebbling is a bottleneck shortest path over sets of values, from the inputs of one op back to the empty set. A step
// undoes one op o that makes some of the set S: at its execution S, o's inputs and all its outputs were there together,
// and before it (S without o's outputs) with o's inputs. One floor is carried through all starts: states no worse than
// it are expanded depth first (smallest set first), only when none is left does the floor rise to the next best state.
//
// Valid for subsets of what is really there, so values that take no bytes are left out of the sets; several storages of
// one root are counted once. A step that would undo an op which takes over the storage of a value in S is impossible:
// what was overwritten is not there later.
//
// On RL n=100: single op 0.4322, last input 0.5052, pebbling 0.5408 of the peak.
#include "engine/bounds/memory_floor.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/bounds/storage_roots.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::max();
using Set = std::vector<std::int32_t>;  // values, ascending

class FloorFinder {
 public:
  FloorFinder(const Instance& in, Ticks pebbling, std::int64_t enough, const StopSignal* stop)
      : in_(in), root_(StorageRoots(in)), stamp_(in.num_values, 0), purse_(pebbling, stop), enough_(enough) {}

  MemoryFloor Run(bool pebbling) {
    for (std::size_t op = 0; op < in_.num_ops; ++op)
      Raise(MomentBytes({}, static_cast<std::int32_t>(op)), MemoryFloor::Kind::kSingleOp, static_cast<std::int32_t>(op),
            -1);
    struct Start {
      std::int64_t bytes;
      std::int32_t op;
      std::size_t expansions;
    };
    std::vector<Start> starts;
    for (std::int32_t op = -1; op < static_cast<std::int32_t>(in_.num_ops); ++op) {
      const Set set = Needed(op);
      if (op < 0) Raise(SetBytes(set), MemoryFloor::Kind::kEnd, -1, -1);
      if (set.empty()) continue;
      const auto [bytes, last] = LastInput(set);
      if (bytes == kImpossible) continue;
      if (op < 0)
        Raise(bytes, MemoryFloor::Kind::kEnd, -1, last);
      else
        Raise(bytes, MemoryFloor::Kind::kLastInput, op, last);
      starts.push_back({bytes, op, 256});
    }
    if (!pebbling || Done()) return floor_;
    if (enough_ != kImpossible) yardstick_ = enough_;
    // The most promising first; those that were cut short come round again with more patience.
    std::stable_sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) { return a.bytes > b.bytes; });
    while (!starts.empty() && !Done()) {
      std::vector<Start> again;
      for (const Start& s : starts) {
        if (Done()) break;
        if (!Pebble(s.op, s.expansions)) again.push_back({s.bytes, s.op, s.expansions * 8});
      }
      starts = std::move(again);
    }
    return floor_;
  }

 private:
  [[nodiscard]] bool Done() { return floor_.bytes > enough_ || purse_.Exhausted(); }

  void Raise(std::int64_t bytes, MemoryFloor::Kind kind, std::int32_t op, std::int32_t last) {
    if (bytes > floor_.bytes) floor_ = {bytes, kind, op, last};
  }

  [[nodiscard]] bool Counts(std::int32_t v) const { return in_.maker[v] >= 0 && in_.bytes[root_[v]] > 0; }

  [[nodiscard]] Set Needed(std::int32_t op) const {
    Set set;
    if (op < 0) {
      for (std::size_t v = 0; v < in_.num_values; ++v)
        if (in_.kept[v] && Counts(static_cast<std::int32_t>(v))) set.push_back(static_cast<std::int32_t>(v));
    } else {
      for (std::int32_t v : in_.reads[op])
        if (Counts(v)) set.push_back(v);
      std::sort(set.begin(), set.end());
    }
    return set;
  }

  std::int64_t Add(std::span<const std::int32_t> values) {
    std::int64_t sum = 0;
    for (std::int32_t v : values) {
      const std::int32_t r = root_[v];
      if (stamp_[r] == now_) continue;
      stamp_[r] = now_;
      sum += in_.bytes[r];
    }
    purse_.Spend(static_cast<Ticks>(values.size()));
    return sum;
  }
  std::int64_t SetBytes(std::span<const std::int32_t> set) {
    ++now_;
    return in_.resident_bytes + Add(set);
  }
  // While op runs with the set beside it.
  std::int64_t MomentBytes(std::span<const std::int32_t> set, std::int32_t op) {
    ++now_;
    return in_.resident_bytes + in_.moment[op] + Add(set) + Add(in_.reads[op]) + Add(in_.makes[op]);
  }

  [[nodiscard]] bool Overwrites(std::int32_t op, const Set& set) const {
    for (std::int32_t v : in_.consumes[op])
      if (std::binary_search(set.begin(), set.end(), v)) return true;
    return false;
  }

  // Ops that make some of the set, ascending.
  void Makers(const Set& set, std::vector<std::int32_t>& makers) const {
    makers.clear();
    for (std::int32_t v : set) makers.push_back(in_.maker[v]);
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
  }

  std::pair<std::int64_t, std::int32_t> LastInput(const Set& set) {
    std::int64_t best = kImpossible;
    std::int32_t last = -1;
    Makers(set, makers_);
    // the set is stamped once with an old time, so that a set of k inputs costs k and not k * k
    const std::int64_t base = SetBytes(set), set_time = now_;
    for (std::int32_t op : makers_) {
      if (Overwrites(op, set)) continue;
      std::int64_t bytes = base + in_.moment[op];
      touched_.clear();
      for (const auto values : {in_.reads[op], in_.makes[op]})
        for (std::int32_t v : values) {
          const std::int32_t r = root_[v];
          if (stamp_[r] == set_time) continue;
          touched_.push_back(r);
          stamp_[r] = set_time;
          bytes += in_.bytes[r];
        }
      for (std::int32_t r : touched_) stamp_[r] = 0;
      if (bytes < best) {
        best = bytes;
        last = op;
      }
      if (large_ && best <= enough_ && enough_ != kImpossible) break;  // says no more than that nothing is excluded
    }
    return {best, last};
  }

  [[nodiscard]] Set Before(const Set& set, std::int32_t op) const {
    Set out;
    for (std::int32_t v : set)
      if (in_.maker[v] != op) out.push_back(v);
    for (std::int32_t v : in_.reads[op])
      if (Counts(v)) out.push_back(v);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // False: cut short. The floor is raised by what the search excluded either way.
  bool Pebble(std::int32_t start, std::size_t expansions) {
    struct Node {
      std::int64_t needed;  // bottleneck so far, at least the floor
      std::int64_t bytes;   // of the set
      std::int32_t state;
    };
    const auto worse = [](const Node& a, const Node& b) {
      if (a.needed != b.needed) return a.needed > b.needed;
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      return a.state < b.state;
    };
    std::priority_queue<Node, std::vector<Node>, decltype(worse)> open(worse);
    boost::unordered_flat_map<Set, std::int64_t, boost::hash<Set>> seen;
    std::vector<Set> states{Needed(start)};
    // states at or below the yardstick are all alike: only what raises the floor (above `enough`, if given) matters
    const auto clamp = [&](std::int64_t bytes) { return std::max({bytes, floor_.bytes, yardstick_}); };
    seen.emplace(states[0], clamp(0));
    open.push({clamp(0), 0, 0});
    std::vector<std::int32_t> makers;
    while (!open.empty()) {
      const Node node = open.top();
      // everything that is left needs at least this much
      if (node.needed > yardstick_) Raise(node.needed, MemoryFloor::Kind::kPebbling, start, -1);
      if (Done() || expansions-- == 0) return false;
      open.pop();
      const Set set = std::move(states[node.state]);
      if (set.empty()) return true;
      if (seen.find(set)->second < node.needed) continue;  // reached in a better way since
      Makers(set, makers);
      for (std::int32_t op : makers) {
        // What all outputs of a large graph need has thousands of ways back, each a set of its own: one of them may
        // take a second.
        if (purse_.Exhausted()) return false;
        if (Overwrites(op, set)) continue;
        const std::int64_t needed = clamp(std::max(node.needed, MomentBytes(set, op)));
        Set before = Before(set, op);
        purse_.Spend(static_cast<Ticks>(8 * before.size() + 64) * (large_ ? 8 : 1));
        const auto [it, fresh] = seen.emplace(before, needed);
        if (!fresh && it->second <= needed) continue;
        it->second = needed;
        const std::int64_t bytes = SetBytes(before);
        open.push({needed, bytes, static_cast<std::int32_t>(states.size())});
        states.push_back(std::move(before));
      }
    }
    return true;  // no way back at all: nothing that this game may conclude
  }

  const Instance& in_;
  std::vector<std::int32_t> root_;
  std::vector<std::int64_t> stamp_;
  std::int64_t now_ = 0;
  std::vector<std::int32_t> makers_, touched_;
  // In graphs of very many ops this is not to be the longest step before the first plan (layered, 100,000 ops with 46
  // reads each: 3 s of processor time).
  const bool large_ = in_.num_ops > 20'000;
  WorkBudget purse_;
  std::int64_t enough_;
  std::int64_t yardstick_ = std::numeric_limits<std::int64_t>::min();
  MemoryFloor floor_;
};

}  // namespace

MemoryFloor ComputeFloor(const Instance& instance, Ticks pebbling, std::int64_t enough, const StopSignal* stop) {
  return FloorFinder(instance, pebbling, enough, stop).Run(pebbling > 0);
}

}  // namespace ebb
