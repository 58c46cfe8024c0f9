// SPDX-License-Identifier: Apache-2.0
//
// A* with f = executions done + what must still be done (StateSpace::LowerBound, which is consistent), compared by
// (duration, executions); on ties the state with more ops executed first, so that a plan without repeats is found by
// going straight down. A popped state is dropped when a state expanded before it has run the same ops at no higher cost
// and covers all it holds (StateSpace::Covers).
#include "heuristics/state_search.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>

#include "heuristics/state_space.hpp"

namespace ebb {
namespace {

struct Cost {
  std::int64_t duration = 0;
  std::int32_t executions = 0;
  auto operator<=>(const Cost&) const = default;
};

class StateSearch {
 public:
  StateSearch(const Instance& instance, std::int64_t budget, OrderMode mode, std::int32_t cap, WorkBudget& work,
              const StateSearchOptions& options)
      : in_(instance), space_(instance, budget, mode, cap), work_(work), options_(options) {}

  StateSearchResult Run();

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr Cost kUnreached{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int32_t>::max()};

  struct Node {
    Cost done;
    std::int32_t parent, op;
    bool expanded = false;
  };
  struct Slot {
    std::uint32_t hash = 0;  // saves the look at most states that differ
    std::int32_t id = kNone;
  };
  struct Entry {
    std::int64_t duration;    // f
    std::int32_t executions;  // f
    std::int32_t to_run;      // ops not executed yet
    std::int32_t id;
    Cost done;
    bool operator>(const Entry& o) const {
      return std::tie(duration, executions, to_run, id) > std::tie(o.duration, o.executions, o.to_run, o.id);
    }
  };

  const StateWord* Words(std::int32_t id) const {
    return arena_.data() + static_cast<std::size_t>(id) * space_.packed_words();
  }
  static std::size_t Hash(const StateWord* words, std::size_t count) {
    StateWord h = 0x9e3779b97f4a7c15ULL;
    for (std::size_t i = 0; i < count; ++i) {
      h ^= words[i];
      h *= 0xff51afd7ed558ccdULL;
      h ^= h >> 32;
    }
    return static_cast<std::size_t>(h);
  }
  void Grow();
  std::int32_t FindOrAdd(const StateWord* words);
  void Reach(const SearchState& state, Cost done, std::int32_t parent, std::int32_t op);
  bool Covered(std::int32_t id);
  [[nodiscard]] std::int64_t MemoryUsed() const {
    return static_cast<std::int64_t>(arena_.capacity() * sizeof(StateWord) + nodes_.capacity() * sizeof(Node) +
                                     table_.size() * sizeof(Slot) + queue_.size() * sizeof(Entry)) +
           2 * 8 * covering_words_;
  }

  const Instance& in_;
  StateSpace space_;
  WorkBudget& work_;
  const StateSearchOptions options_;
  std::vector<StateWord> arena_;  // packed states
  std::vector<Node> nodes_;
  std::vector<Slot> table_;  // open addressing over all states
  // Executed ops -> expanded states, each as its remaining words, duration, executions.
  boost::unordered_flat_map<std::vector<StateWord>, std::vector<StateWord>, StateSpace::WordsHash> covering_;
  std::int64_t covering_words_ = 0;
  std::vector<StateWord> key_;
  bool overflow_ = false;  // some duration did not fit
  std::vector<StateWord> packed_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

void StateSearch::Grow() {
  std::vector<Slot> bigger(std::max<std::size_t>(1024, table_.size() * 2));
  for (const Slot& slot : table_) {
    if (slot.id == kNone) continue;
    std::size_t at = slot.hash & (bigger.size() - 1);
    while (bigger[at].id != kNone) at = (at + 1) & (bigger.size() - 1);
    bigger[at] = slot;
  }
  table_ = std::move(bigger);
}

std::int32_t StateSearch::FindOrAdd(const StateWord* words) {
  const std::size_t count = space_.packed_words();
  if (nodes_.size() * 2 >= table_.size()) Grow();
  const auto hash = static_cast<std::uint32_t>(Hash(words, count) >> 8);
  std::size_t at = hash & (table_.size() - 1);
  for (; table_[at].id != kNone; at = (at + 1) & (table_.size() - 1))
    if (table_[at].hash == hash && std::equal(words, words + count, Words(table_[at].id))) return table_[at].id;
  const auto id = static_cast<std::int32_t>(nodes_.size());
  table_[at] = {hash, id};
  arena_.insert(arena_.end(), words, words + count);
  nodes_.push_back({kUnreached, kNone, kNone});
  return id;
}

void StateSearch::Reach(const SearchState& state, Cost done, std::int32_t parent, std::int32_t op) {
  work_.Spend(200);
  const StateSpace::Remaining left = space_.LowerBound(state);
  if (!left.possible) return;
  std::int64_t f = 0;
  if (left.overflow || __builtin_add_overflow(done.duration, left.duration, &f)) {
    overflow_ = true;
    return;
  }
  constexpr std::int64_t kNoUpper = std::numeric_limits<std::int64_t>::max();
  if (f >= options_.upper && options_.upper != kNoUpper) return;
  space_.Pack(state, packed_.data());
  const std::int32_t id = FindOrAdd(packed_.data());
  Node& node = nodes_[static_cast<std::size_t>(id)];
  if (node.expanded || node.done <= done) return;  // consistent bound: an expanded state has its least cost
  node.done = done;
  node.parent = parent;
  node.op = op;
  std::int32_t to_run = static_cast<std::int32_t>(in_.num_ops);
  for (const StateWord w : state.executed) to_run -= std::popcount(w);
  queue_.push({f, done.executions + left.executions, to_run, id, done});
}

// Also enters the state among those that may cover others. The rows of one set of executed ops lie side by side: this
// scan is where the time goes, and chains through the states' own storage were five times as slow.
bool StateSearch::Covered(std::int32_t id) {
  const std::size_t head = space_.executed_words(), tail = space_.packed_words() - head;
  const StateWord* words = Words(id);
  key_.assign(words, words + head);
  std::vector<StateWord>& rows = covering_[key_];
  const Cost cost = nodes_[static_cast<std::size_t>(id)].done;
  const std::size_t width = tail + 2;
  std::size_t at = 0;
  bool covered = false;
  for (; at < rows.size() && !covered; at += width) {
    const StateWord* row = rows.data() + at;
    const auto duration = static_cast<std::int64_t>(row[tail]);
    covered = space_.Covers(row, words + head) &&
              (duration < cost.duration ||
               (duration == cost.duration && static_cast<std::int32_t>(row[tail + 1]) <= cost.executions));
  }
  work_.Spend(static_cast<Ticks>(at) + 60);
  if (covered) return true;
  covering_words_ += static_cast<std::int64_t>(width);
  rows.insert(rows.end(), words + head, words + head + tail);
  rows.push_back(static_cast<StateWord>(cost.duration));
  rows.push_back(static_cast<StateWord>(cost.executions));
  return false;
}

StateSearchResult StateSearch::Run() {
  StateSearchResult result;
  result.bound = in_.base_duration;
  if (!space_.supported()) return result;
  packed_.assign(space_.packed_words(), 0);
  Reach(space_.Start(), {}, kNone, kNone);
  SearchState state;
  while (!queue_.empty()) {
    const Entry top = queue_.top();
    queue_.pop();
    const auto id = static_cast<std::size_t>(top.id);
    if (nodes_[id].expanded || nodes_[id].done != top.done) continue;
    result.bound = std::max(result.bound, top.duration);
    space_.Unpack(Words(top.id), state);
    if (space_.IsGoal(state)) {
      result.status = SolveStatus::kOptimal;
      result.duration = top.done.duration;
      result.states = static_cast<std::int64_t>(nodes_.size());
      for (std::int32_t i = top.id; nodes_[static_cast<std::size_t>(i)].parent != kNone;
           i = nodes_[static_cast<std::size_t>(i)].parent)
        result.sequence.push_back(nodes_[static_cast<std::size_t>(i)].op);
      std::reverse(result.sequence.begin(), result.sequence.end());
      return result;
    }
    nodes_[id].expanded = true;
    if (Covered(top.id)) continue;
    if (options_.expanded) options_.expanded(space_, state, top.done.duration);
    space_.Successors(state, [&](std::int32_t op, const SearchState& next) {
      Cost done{0, top.done.executions + 1};
      if (__builtin_add_overflow(top.done.duration, in_.duration[static_cast<std::size_t>(op)], &done.duration)) {
        overflow_ = true;
      } else {
        Reach(next, done, top.id, op);
      }
      return true;
    });
    work_.Spend(100 + space_.TakeTicks());
    if (work_.Exhausted() || MemoryUsed() > options_.memory_bytes) {
      // What is still open begins with the least f.
      if (!queue_.empty()) result.bound = std::max(result.bound, queue_.top().duration);
      result.states = static_cast<std::int64_t>(nodes_.size());
      if (queue_.empty()) break;
      return result;
    }
  }
  if (overflow_) return result;  // plans that last longer than 63 bits can say were not looked at
  result.status = SolveStatus::kInfeasible;
  result.bound = options_.upper;
  result.states = static_cast<std::int64_t>(nodes_.size());
  return result;
}

}  // namespace

StateSearchResult SearchStates(const Instance& instance, std::int64_t budget, OrderMode mode,
                               std::int32_t max_executions, WorkBudget& work, const StateSearchOptions& options) {
  return StateSearch(instance, budget, mode, max_executions, work, options).Run();
}

}  // namespace ebb
