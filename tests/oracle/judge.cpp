// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/judge.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace ebb::test {

// Names are bound to storages as the sequence runs; each storage lives from its birth to the last position at which one
// of its names is read or made.
JudgeAnswer Judge(const Graph& graph, std::span<const OpId> sequence) {
  constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
  struct Storage {
    std::int64_t bytes, start, end;
  };
  JudgeAnswer answer;
  std::vector<Storage> storages;
  std::map<TensorId, int> bound;  // names without a valid value are absent
  for (std::size_t i = 0; i < graph.num_tensors(); ++i) {
    const TensorId t = ToTensorId(i);
    if (graph.maker(t) != OpId::kNone || graph.view_of(t) != TensorId::kNone) continue;
    bound[t] = static_cast<int>(storages.size());
    storages.push_back({graph.size(t).count(), 0, kForever});
  }
  for (std::size_t i = 0; i < graph.num_tensors(); ++i) {
    const TensorId t = ToTensorId(i);
    if (graph.maker(t) != OpId::kNone) continue;
    TensorId base = t;
    while (graph.view_of(base) != TensorId::kNone) base = graph.view_of(base);
    bound[t] = bound.at(base);
  }
  const auto fail = [&](std::size_t position, OpId op, const std::string& what) {
    answer.fault = "position " + std::to_string(position) + ": " + graph.op_name(op) + " " + what;
    return answer;
  };
  std::map<OpId, int> runs;
  for (std::size_t position = 0; position < sequence.size(); ++position) {
    const OpId op = sequence[position];
    const auto now = static_cast<std::int64_t>(position);
    const auto use = [&](int storage) {
      auto& end = storages[static_cast<std::size_t>(storage)].end;
      end = std::max(end, now);
    };
    if (++runs[op] > 1 && !graph.recomputable(op)) return fail(position, op, "may run only once");
    for (const TensorId t : graph.inputs(op)) {
      if (t == TensorId::kNone) continue;
      if (!bound.contains(t)) return fail(position, op, "reads " + graph.tensor_name(t) + ", which is not there");
      use(bound.at(t));
    }
    for (const TensorId t : graph.outputs(op)) {
      TensorId over = TensorId::kNone;
      for (const InplacePair& pair : graph.inplace(op))
        if (pair.output == t) over = pair.input;
      if (const TensorId base = graph.view_of(t); base != TensorId::kNone) {
        if (!bound.contains(base))
          return fail(position, op, "views " + graph.tensor_name(base) + ", which is not there");
        bound[t] = bound.at(base);
        use(bound.at(t));
      } else if (over != TensorId::kNone) {
        if (!bound.contains(over)) return fail(position, op, "overwrites " + graph.tensor_name(over) + " twice");
        const int storage = bound.at(over);
        std::erase_if(bound, [&](const auto& entry) { return entry.second == storage; });
        bound[t] = storage;
        use(storage);
      } else {
        bound[t] = static_cast<int>(storages.size());
        storages.push_back({graph.size(t).count(), now, now});
      }
    }
    answer.duration += graph.duration(op).count();
  }
  answer.served = true;
  for (std::size_t i = 0; i < graph.num_ops(); ++i) {
    if (runs.contains(ToOpId(i))) continue;
    answer.fault = graph.op_name(ToOpId(i)) + " never runs";
    return answer;
  }
  for (const TensorId t : graph.graph_outputs()) {
    if (!bound.contains(t)) {
      answer.fault = "output " + graph.tensor_name(t) + " is not there at the end";
      return answer;
    }
    storages[static_cast<std::size_t>(bound.at(t))].end = kForever;
  }
  for (std::size_t position = 0; position < sequence.size(); ++position) {
    std::int64_t resident = graph.workspace(sequence[position]).count();
    for (const Storage& s : storages)
      if (s.start <= static_cast<std::int64_t>(position) && static_cast<std::int64_t>(position) <= s.end)
        resident += s.bytes;
    answer.peak = std::max(answer.peak, resident);
  }
  answer.valid = true;
  return answer;
}

bool JudgeOrder(const Graph& graph, std::span<const OpId> sequence, OrderMode mode, std::int32_t max_executions) {
  std::map<OpId, int> runs;
  std::map<OpId, int> rank;
  std::vector<OpId> first;
  for (const OpId op : graph.order()) rank.emplace(op, static_cast<int>(rank.size()));
  int last_repeat = -1;
  for (const OpId op : sequence) {
    if (++runs[op] == 1) {
      first.push_back(op);
      last_repeat = -1;
    } else {
      if (mode == OrderMode::kStaged && rank.at(op) <= last_repeat) return false;
      last_repeat = rank.at(op);
    }
    if (max_executions > 0 && runs[op] > max_executions) return false;
  }
  if (mode == OrderMode::kFree) return true;
  return std::equal(first.begin(), first.end(), graph.order().begin(), graph.order().end());
}

}  // namespace ebb::test
