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

  struct Node {
    Cost done;
    std::int32_t parent, op;
    std::int32_t next_covering = kNone;  // chain of expanded states with the same ops executed
    bool expanded = false;
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
                                     table_.size() * sizeof(std::int32_t) + queue_.size() * sizeof(Entry));
  }

  const Instance& in_;
  StateSpace space_;
  WorkBudget& work_;
  const StateSearchOptions options_;
  std::vector<StateWord> arena_;  // packed states
  std::vector<Node> nodes_;
  std::vector<std::int32_t> table_;     // open addressing over all states
  std::vector<std::int32_t> covering_;  // open addressing: executed ops -> latest expanded state
  std::size_t covering_used_ = 0;
  std::vector<StateWord> packed_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

void StateSearch::Grow() {
  std::vector<std::int32_t> bigger(std::max<std::size_t>(1024, table_.size() * 2), kNone);
  for (const std::int32_t id : table_) {
    if (id == kNone) continue;
    std::size_t at = Hash(Words(id), space_.packed_words()) & (bigger.size() - 1);
    while (bigger[at] != kNone) at = (at + 1) & (bigger.size() - 1);
    bigger[at] = id;
  }
  table_ = std::move(bigger);
}

std::int32_t StateSearch::FindOrAdd(const StateWord* words) {
  const std::size_t count = space_.packed_words();
  if (nodes_.size() * 2 >= table_.size()) Grow();
  std::size_t at = Hash(words, count) & (table_.size() - 1);
  for (; table_[at] != kNone; at = (at + 1) & (table_.size() - 1))
    if (std::equal(words, words + count, Words(table_[at]))) return table_[at];
  const auto id = static_cast<std::int32_t>(nodes_.size());
  table_[at] = id;
  arena_.insert(arena_.end(), words, words + count);
  nodes_.push_back({{options_.upper, 0}, kNone, kNone});
  return id;
}

void StateSearch::Reach(const SearchState& state, Cost done, std::int32_t parent, std::int32_t op) {
  work_.Spend(60);
  const StateSpace::Remaining left = space_.LowerBound(state);
  if (!left.possible) return;
  std::int64_t f = 0;
  if (__builtin_add_overflow(done.duration, left.duration, &f) || f >= options_.upper) return;
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

// Also enters the state among those that may cover others.
bool StateSearch::Covered(std::int32_t id) {
  const std::size_t words = space_.executed_words();
  if (covering_used_ * 2 >= covering_.size()) {
    std::vector<std::int32_t> bigger(std::max<std::size_t>(256, covering_.size() * 2), kNone);
    for (const std::int32_t head : covering_) {
      if (head == kNone) continue;
      std::size_t at = Hash(Words(head), words) & (bigger.size() - 1);
      while (bigger[at] != kNone) at = (at + 1) & (bigger.size() - 1);
      bigger[at] = head;
    }
    covering_ = std::move(bigger);
  }
  std::size_t at = Hash(Words(id), words) & (covering_.size() - 1);
  while (covering_[at] != kNone && !std::equal(Words(id), Words(id) + words, Words(covering_[at])))
    at = (at + 1) & (covering_.size() - 1);
  const Cost cost = nodes_[static_cast<std::size_t>(id)].done;
  std::int64_t looked = 0;
  for (std::int32_t other = covering_[at]; other != kNone;
       other = nodes_[static_cast<std::size_t>(other)].next_covering) {
    ++looked;
    if (nodes_[static_cast<std::size_t>(other)].done <= cost && space_.Covers(Words(other), Words(id))) {
      work_.Spend(4 * looked);
      return true;
    }
  }
  work_.Spend(4 * looked);
  if (covering_[at] == kNone) ++covering_used_;
  nodes_[static_cast<std::size_t>(id)].next_covering = covering_[at];
  covering_[at] = id;
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
    space_.Successors(state, [&](std::int32_t op, const SearchState& next) {
      Reach(next, {top.done.duration + in_.duration[static_cast<std::size_t>(op)], top.done.executions + 1}, top.id,
            op);
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
