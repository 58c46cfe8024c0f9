// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/brute_force.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "engine/base/units.hpp"

namespace ebb::test {
namespace {

struct State {
  std::vector<std::int8_t> bound;  // tensor -> storage, -1: no valid value
  std::vector<std::int8_t> runs;   // op -> executions (0 or 1 where there is no cap)
  std::int8_t last_repeat = -1;    // staged: rank of the last repeat in this stage

  [[nodiscard]] std::string Key() const {
    std::string key(reinterpret_cast<const char*>(bound.data()), bound.size());
    key.append(reinterpret_cast<const char*>(runs.data()), runs.size());
    key.push_back(static_cast<char>(last_repeat));
    return key;
  }
};

class Search {
 public:
  Search(const Graph& graph, std::int64_t budget, OrderMode mode, std::int32_t cap)
      : graph_(graph), budget_(budget), mode_(mode), cap_(cap), rank_(graph.num_ops()) {
    for (std::size_t i = 0; i < graph.num_ops(); ++i) rank_[Index(graph.order()[i])] = static_cast<std::int8_t>(i);
  }

  OracleAnswer Run();

 private:
  using Cost = std::pair<std::int64_t, std::int64_t>;  // duration, executions
  struct Node {
    State state;
    Cost cost;
    int parent;
    OpId op;  // kNone: a drop
    bool done = false;
  };

  // The tensor whose bytes a name's storage has: follow views and in-place pairs.
  TensorId Root(TensorId t) const {
    for (;;) {
      TensorId next = graph_.view_of(t);
      if (next == TensorId::kNone && graph_.maker(t) != OpId::kNone)
        for (const InplacePair& pair : graph_.inplace(graph_.maker(t)))
          if (pair.output == t) next = pair.input;
      if (next == TensorId::kNone) return t;
      t = next;
    }
  }
  bool IsGraphInput(TensorId t) const { return graph_.maker(t) == OpId::kNone; }

  // Bytes of all live storages that are not graph inputs' (those are in InputBytes always).
  std::int64_t Live(const State& s) const {
    std::map<int, std::int64_t> bytes;
    for (std::size_t i = 0; i < s.bound.size(); ++i) {
      if (s.bound[i] < 0) continue;
      const TensorId root = Root(ToTensorId(i));
      bytes[s.bound[i]] = IsGraphInput(root) ? 0 : graph_.size(root).count();
    }
    std::int64_t sum = 0;
    for (const auto& [storage, size] : bytes) sum += size;
    return sum;
  }
  std::int64_t InputBytes() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < graph_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (IsGraphInput(t) && graph_.view_of(t) == TensorId::kNone) sum += graph_.size(t).count();
    }
    return sum;
  }

  // Storages numbered by their first name, so that equal states have equal keys.
  static void Canonical(State& s) {
    std::map<int, std::int8_t> number;
    for (std::int8_t& b : s.bound)
      if (b >= 0) b = number.emplace(b, static_cast<std::int8_t>(number.size())).first->second;
  }

  // May op run now, memory aside?
  bool Allowed(const State& s, std::size_t op) const {
    const bool repeat = s.runs[op] > 0;
    if (repeat) {
      if (!graph_.recomputable(ToOpId(op))) return false;
      if (cap_ > 0 && s.runs[op] >= cap_) return false;
      if (mode_ == OrderMode::kStaged && rank_[op] <= s.last_repeat) return false;
    } else if (mode_ != OrderMode::kFree) {
      for (std::size_t other = 0; other < s.runs.size(); ++other)
        if (rank_[other] < rank_[op] && s.runs[other] == 0) return false;
    }
    for (const TensorId t : graph_.inputs(ToOpId(op)))
      if (t != TensorId::kNone && s.bound[Index(t)] < 0) return false;
    return true;
  }

  // The state after op; *peak what is resident while it runs. False where an output's base is gone.
  bool Execute(const State& s, std::size_t index, State* after, std::int64_t* peak) const {
    const OpId op = ToOpId(index);
    *after = s;
    State& n = *after;
    std::int64_t fresh = 0;
    std::int8_t next_storage = static_cast<std::int8_t>(s.bound.size());
    for (const TensorId t : graph_.outputs(op)) {
      TensorId over = TensorId::kNone;
      for (const InplacePair& pair : graph_.inplace(op))
        if (pair.output == t) over = pair.input;
      if (graph_.view_of(t) != TensorId::kNone) {
        const std::int8_t storage = n.bound[Index(graph_.view_of(t))];
        if (storage < 0) return false;
        n.bound[Index(t)] = storage;
      } else if (over != TensorId::kNone) {
        const std::int8_t storage = n.bound[Index(over)];
        if (storage < 0) return false;
        for (std::int8_t& b : n.bound)
          if (b == storage) b = -1;
        n.bound[Index(t)] = storage;
      } else {
        n.bound[Index(t)] = next_storage++;
        fresh += graph_.size(t).count();
      }
    }
    *peak = InputBytes() + Live(s) + fresh + graph_.workspace(op).count();
    if (s.runs[index] > 0) {
      n.last_repeat = mode_ == OrderMode::kStaged ? rank_[index] : std::int8_t{-1};
    } else {
      n.last_repeat = -1;
    }
    if (cap_ > 0 || n.runs[index] == 0) ++n.runs[index];
    Canonical(n);
    return true;
  }

  bool Goal(const State& s) const {
    for (const auto r : s.runs)
      if (r == 0) return false;
    for (const TensorId t : graph_.graph_outputs())
      if (s.bound[Index(t)] < 0) return false;
    return true;
  }

  void Reach(State&& s, Cost cost, int parent, OpId op) {
    const auto [it, is_new] = seen_.emplace(s.Key(), static_cast<int>(nodes_.size()));
    if (is_new) {
      nodes_.push_back({std::move(s), cost, parent, op});
    } else {
      Node& old = nodes_[static_cast<std::size_t>(it->second)];
      if (old.done || old.cost <= cost) return;
      old.cost = cost;
      old.parent = parent;
      old.op = op;
    }
    queue_.emplace(cost, it->second);
  }

  const Graph& graph_;
  const std::int64_t budget_;
  const OrderMode mode_;
  const std::int32_t cap_;
  std::vector<std::int8_t> rank_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, int> seen_;
  std::priority_queue<std::pair<Cost, int>, std::vector<std::pair<Cost, int>>, std::greater<>> queue_;
};

OracleAnswer Search::Run() {
  State start;
  start.bound.assign(graph_.num_tensors(), -1);
  start.runs.assign(graph_.num_ops(), 0);
  for (std::size_t i = 0; i < graph_.num_tensors(); ++i) {
    TensorId base = ToTensorId(i);
    if (!IsGraphInput(base)) continue;
    while (graph_.view_of(base) != TensorId::kNone) base = graph_.view_of(base);
    start.bound[i] = static_cast<std::int8_t>(Index(base));
  }
  Canonical(start);
  Reach(std::move(start), {0, 0}, -1, OpId::kNone);
  while (!queue_.empty()) {
    const auto [cost, id] = queue_.top();
    queue_.pop();
    Node& node = nodes_[static_cast<std::size_t>(id)];
    if (node.done || cost != node.cost) continue;
    node.done = true;
    const State s = node.state;
    if (Goal(s)) {
      OracleAnswer answer;
      answer.feasible = true;
      answer.duration = cost.first;
      for (int i = id; i >= 0; i = nodes_[static_cast<std::size_t>(i)].parent)
        if (const OpId op = nodes_[static_cast<std::size_t>(i)].op; op != OpId::kNone) answer.sequence.push_back(op);
      std::reverse(answer.sequence.begin(), answer.sequence.end());
      return answer;
    }
    bool something_does_not_fit = false;
    for (std::size_t op = 0; op < s.runs.size(); ++op) {
      if (!Allowed(s, op)) continue;
      State after;
      std::int64_t peak = 0;
      if (!Execute(s, op, &after, &peak)) continue;
      if (peak > budget_) {
        something_does_not_fit = true;
        continue;
      }
      Reach(std::move(after), {cost.first + graph_.duration(ToOpId(op)).count(), cost.second + 1}, id, ToOpId(op));
    }
    if (!something_does_not_fit) continue;
    for (int storage = 0; storage < static_cast<int>(s.bound.size()); ++storage) {
      State after = s;
      bool dropped = false;
      for (std::size_t i = 0; i < after.bound.size(); ++i) {
        if (after.bound[i] != storage || IsGraphInput(Root(ToTensorId(i)))) continue;
        after.bound[i] = -1;
        dropped = true;
      }
      if (!dropped) continue;
      Canonical(after);
      Reach(std::move(after), cost, id, OpId::kNone);
    }
  }
  return {};
}

}  // namespace

OracleAnswer BruteForce(const Graph& graph, std::int64_t budget, OrderMode mode, std::int32_t max_executions) {
  return Search(graph, budget, mode, max_executions).Run();
}

std::int64_t LeastBudget(const Graph& graph, OrderMode mode, std::int32_t max_executions) {
  // Everything alive at once is mostly enough; more is needed where old storages live on for views that may not be made
  // again. Hence the doubling.
  std::int64_t high = 1;
  for (std::size_t i = 0; i < graph.num_tensors(); ++i) high += graph.size(ToTensorId(i)).count();
  for (std::size_t i = 0; i < graph.num_ops(); ++i) high += graph.workspace(ToOpId(i)).count();
  bool feasible = BruteForce(graph, high, mode, max_executions).feasible;
  for (int i = 0; i < 5 && !feasible && high < std::int64_t{1} << 60; ++i) {
    high *= 2;
    feasible = BruteForce(graph, high, mode, max_executions).feasible;
  }
  if (!feasible) return -1;
  std::int64_t low = 0;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (BruteForce(graph, middle, mode, max_executions).feasible) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace ebb::test
