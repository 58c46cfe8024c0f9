// SPDX-License-Identifier: Apache-2.0
//
// One forward pass binds names to storages as the model's page says: an output opens a storage, or joins that of its
// view base, or takes over that of an in-place input, whose other names then hold nothing. One pass over the storages'
// last uses then gives deaths and peak.
#include "engine/problem/plan.hpp"

#include <algorithm>
#include <limits>

namespace ebb {
namespace {

constexpr std::int32_t kUnbound = -1;
constexpr std::int32_t kForever = std::numeric_limits<std::int32_t>::max();

struct Storage {
  std::int32_t execution;  // that opened it; Plan::kGraphInput for graph inputs
  TensorId tensor;         // the output it was opened for
  std::int32_t last_use;
};

class Binder {
 public:
  Binder(const Graph& graph, std::span<const OpId> sequence) : graph_(graph), sequence_(sequence) {}

  bool Run(Plan& plan, SequenceFault& fault) {
    bound_.assign(graph_.num_tensors(), kUnbound);
    made_by_.assign(graph_.num_tensors(), Plan::kGraphInput);
    BindInputs();
    runs_.assign(graph_.num_ops(), 0);
    plan.inputs.Reserve(sequence_.size(), sequence_.size() * 2);
    for (std::size_t pos = 0; pos < sequence_.size(); ++pos)
      if (!Execute(static_cast<std::int32_t>(pos), plan, fault)) return false;
    for (std::size_t i = 0; i < runs_.size(); ++i)
      if (runs_[i] == 0) {
        fault = {SequenceFault::Kind::kOpNeverRuns, -1, ToOpId(i), TensorId::kNone};
        return false;
      }
    for (const TensorId t : graph_.graph_outputs()) {
      if (!IsBound(t)) {
        fault = {SequenceFault::Kind::kMissingOutput, -1, graph_.maker(t), t};
        return false;
      }
      storages_[static_cast<std::size_t>(bound_[Index(t)])].last_use = kForever;
    }
    if (Measure(plan)) return true;
    fault = {SequenceFault::Kind::kOverflow, -1, OpId::kNone, TensorId::kNone};
    return false;
  }

 private:
  // A name is bound while its storage has not been overwritten since.
  [[nodiscard]] bool IsBound(TensorId t) const {
    const std::int32_t s = bound_[Index(t)];
    return s != kUnbound && epoch_of_name_[Index(t)] == epoch_[static_cast<std::size_t>(s)];
  }
  void Bind(TensorId t, std::int32_t storage) {
    bound_[Index(t)] = storage;
    epoch_of_name_[Index(t)] = epoch_[static_cast<std::size_t>(storage)];
  }
  std::int32_t Open(std::int32_t execution, TensorId t, std::int32_t last_use) {
    storages_.push_back({execution, t, last_use});
    epoch_.push_back(0);
    return static_cast<std::int32_t>(storages_.size()) - 1;
  }

  void BindInputs() {
    epoch_of_name_.assign(graph_.num_tensors(), 0);
    for (std::size_t i = 0; i < graph_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (graph_.maker(t) == OpId::kNone && graph_.view_of(t) == TensorId::kNone)
        Bind(t, Open(Plan::kGraphInput, t, kForever));
    }
    for (std::size_t i = 0; i < graph_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (graph_.maker(t) == OpId::kNone && graph_.view_of(t) != TensorId::kNone)
        Bind(t, bound_[Index(graph_.storage_root(t))]);
    }
  }

  bool Execute(std::int32_t pos, Plan& plan, SequenceFault& fault) {
    const OpId op = sequence_[static_cast<std::size_t>(pos)];
    if (++runs_[Index(op)] > 1 && !graph_.recomputable(op)) {
      fault = {SequenceFault::Kind::kRunsAgain, pos, op, TensorId::kNone};
      return false;
    }
    const auto use = [&](TensorId t) {
      if (!IsBound(t)) {
        fault = {SequenceFault::Kind::kMissingInput, pos, op, t};
        return false;
      }
      std::int32_t& last = storages_[static_cast<std::size_t>(bound_[Index(t)])].last_use;
      last = std::max(last, pos);
      return true;
    };
    for (const TensorId t : graph_.inputs(op)) {
      if (t == TensorId::kNone) {
        plan.inputs.Push(Plan::kAbsent);
        continue;
      }
      if (!use(t)) return false;
      plan.inputs.Push(made_by_[Index(t)]);
    }
    plan.inputs.EndRow();
    for (const TensorId t : graph_.outputs(op)) {
      const TensorId base = graph_.view_of(t), over = graph_.overwrites(t);
      if (base != TensorId::kNone) {
        if (!use(base)) return false;
        Bind(t, bound_[Index(base)]);
      } else if (over != TensorId::kNone) {
        const std::int32_t s = bound_[Index(over)];
        ++epoch_[static_cast<std::size_t>(s)];  // unbinds every name it had
        Bind(t, s);
      } else {
        Bind(t, Open(pos, t, pos));
      }
      made_by_[Index(t)] = pos;
    }
    return true;
  }

  // False where a sum leaves 63 bits.
  bool Measure(Plan& plan) const {
    const std::size_t n = sequence_.size();
    plan.executions.assign(sequence_.begin(), sequence_.end());
    std::vector<Int128> change(n + 1, 0);
    std::int64_t resident = 0;
    for (const Storage& s : storages_) {
      const std::int64_t bytes = graph_.size(s.tensor).count();
      if (s.execution == Plan::kGraphInput) {
        resident += bytes;
        continue;
      }
      change[static_cast<std::size_t>(s.execution)] += bytes;
      if (s.last_use != kForever) {
        change[static_cast<std::size_t>(s.last_use) + 1] -= bytes;
        plan.frees.push_back({s.last_use, s.execution, s.tensor});
      }
    }
    // Storages were opened by execution, then output position: a stable sort by death keeps that.
    std::stable_sort(plan.frees.begin(), plan.frees.end(),
                     [](const Plan::Free& a, const Plan::Free& b) { return a.after < b.after; });
    Int128 wide = resident, peak = resident, duration = 0;
    for (std::size_t pos = 0; pos < n; ++pos) {
      wide += change[pos];
      peak = std::max(peak, wide + graph_.workspace(sequence_[pos]).count());
      duration += graph_.duration(sequence_[pos]).count();
    }
    constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();
    if (peak > kMax || duration > kMax) return false;
    plan.duration = Duration(static_cast<std::int64_t>(duration));
    plan.peak = Bytes(static_cast<std::int64_t>(peak));
    return true;
  }

  const Graph& graph_;
  std::span<const OpId> sequence_;
  std::vector<std::int32_t> bound_;          // tensor -> storage
  std::vector<std::int32_t> epoch_of_name_;  // tensor -> its storage's epoch when it was bound
  std::vector<std::int32_t> epoch_;          // storage -> times it was overwritten
  std::vector<std::int32_t> made_by_;        // tensor -> latest execution of its maker
  std::vector<std::int32_t> runs_;
  std::vector<Storage> storages_;
};

}  // namespace

std::optional<Plan> MakePlan(const Graph& graph, std::span<const OpId> sequence, SequenceFault* fault) {
  Plan plan;
  SequenceFault what{};
  if (Binder(graph, sequence).Run(plan, what)) return plan;
  if (fault != nullptr) *fault = what;
  return std::nullopt;
}

std::string Describe(const Graph& graph, const SequenceFault& fault) {
  const std::string op = fault.op == OpId::kNone ? "" : "op '" + graph.op_name(fault.op) + "'";
  const std::string tensor = fault.tensor == TensorId::kNone ? "" : "'" + graph.tensor_name(fault.tensor) + "'";
  switch (fault.kind) {
    case SequenceFault::Kind::kOverflow: return "overflow: the plan's bytes or duration sum to more than 2^63 - 1";
    case SequenceFault::Kind::kMissingInput:
      return "position " + std::to_string(fault.position) + ": " + op + " needs " + tensor + ", which is not resident";
    case SequenceFault::Kind::kMissingOutput: return "graph output " + tensor + " is not resident at the end";
    case SequenceFault::Kind::kOpNeverRuns: return op + " never runs";
    case SequenceFault::Kind::kRunsAgain:
      return "position " + std::to_string(fault.position) + ": " + op + " runs again, but may run only once";
  }
  return "not a plan";
}

}  // namespace ebb
