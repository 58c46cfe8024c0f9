// SPDX-License-Identifier: Apache-2.0
//
// Written to be read against the model's page, not to be fast: it walks the sequence once with a plain table "tensor ->
// what it holds", and sums every position's bytes from the plan's own frees. It believes nothing the plan says.
#include "engine/problem/validator.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace ebb {
namespace {

// The bytes behind one or more names.
struct Store {
  std::int32_t opened_at = -1;  // -1: a graph input
  TensorId opened_for = TensorId::kNone;
  std::int64_t bytes = 0;
  std::int32_t last_use = -1;
  std::int32_t dies_after = -1;  // -1: never
  bool kept = false;             // a graph output lives in it
  std::vector<TensorId> names;   // that hold a valid value in it now
};

class Check {
 public:
  Check(const Graph& graph, const Plan& plan, const PlanRules& rules) : g_(graph), plan_(plan), rules_(rules) {}

  ValidationResult Run() {
    if (Shape() && Walk() && End() && Deaths() && Order() && Sums()) return {};
    return result_;
  }

 private:
  std::string Op(OpId op) const { return "op '" + g_.op_name(op) + "'"; }
  std::string Tensor(TensorId t) const { return "'" + g_.tensor_name(t) + "'"; }
  static std::string At(std::int32_t pos) { return "position " + std::to_string(pos) + ": "; }

  bool Fail(Verdict v, std::int32_t pos, OpId op, TensorId t, std::string text) {
    result_.verdict = v;
    result_.position = pos;
    result_.op = op;
    result_.tensor = t;
    result_.text = std::move(text);
    return false;
  }

  bool Shape() {
    if (plan_.inputs.rows() != plan_.executions.size())
      return Fail(Verdict::kInputCount, -1, OpId::kNone, TensorId::kNone,
                  "the plan's inputs do not match its executions");
    std::vector<std::int32_t> runs(g_.num_ops(), 0);
    for (std::size_t i = 0; i < plan_.executions.size(); ++i) {
      const OpId op = plan_.executions[i];
      const auto pos = static_cast<std::int32_t>(i);
      if (static_cast<std::int32_t>(op) < 0 || Index(op) >= g_.num_ops())
        return Fail(Verdict::kUnknownOp, pos, OpId::kNone, TensorId::kNone, At(pos) + "no such op");
      const std::int32_t n = ++runs[Index(op)];
      if (n > 1 && !g_.recomputable(op))
        return Fail(Verdict::kRunsAgain, pos, op, TensorId::kNone,
                    At(pos) + Op(op) + " runs again, but may run only once");
      if (rules_.max_executions && n > *rules_.max_executions)
        return Fail(Verdict::kTooManyExecutions, pos, op, TensorId::kNone,
                    At(pos) + Op(op) + " runs more than " + std::to_string(*rules_.max_executions) + " times");
    }
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (runs[i] == 0)
        return Fail(Verdict::kOpNeverRuns, -1, ToOpId(i), TensorId::kNone, Op(ToOpId(i)) + " never runs");
    return true;
  }

  Store* Holder(TensorId t) {
    const std::int64_t s = holds_[Index(t)];
    return s < 0 ? nullptr : &stores_[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::size_t StoreOf(TensorId t) const { return static_cast<std::size_t>(holds_[Index(t)]); }
  void Hold(TensorId t, std::size_t store) {
    if (Store* before = Holder(t)) std::erase(before->names, t);
    holds_[Index(t)] = static_cast<std::int64_t>(store);
    stores_[store].names.push_back(t);
  }

  bool Walk() {
    holds_.assign(g_.num_tensors(), -1);
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (g_.maker(t) != OpId::kNone || g_.view_of(t) != TensorId::kNone) continue;
      stores_.push_back({});
      stores_.back().opened_for = t;
      stores_.back().bytes = g_.size(t).count();
      Hold(t, stores_.size() - 1);
    }
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (g_.maker(t) != OpId::kNone || g_.view_of(t) == TensorId::kNone) continue;
      TensorId root = t;
      while (g_.view_of(root) != TensorId::kNone) root = g_.view_of(root);
      Hold(t, StoreOf(root));
    }
    latest_.assign(g_.num_ops(), -1);
    for (std::size_t i = 0; i < plan_.executions.size(); ++i)
      if (!Execute(static_cast<std::int32_t>(i), plan_.executions[i])) return false;
    return true;
  }

  bool Execute(std::int32_t pos, OpId op) {
    const auto listed = g_.inputs(op);
    const auto given = plan_.inputs[static_cast<std::size_t>(pos)];
    if (listed.size() != given.size())
      return Fail(Verdict::kInputCount, pos, op, TensorId::kNone,
                  At(pos) + Op(op) + " has " + std::to_string(listed.size()) + " inputs, the plan names " +
                      std::to_string(given.size()));
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const TensorId t = listed[i];
      const OpId maker = t == TensorId::kNone ? OpId::kNone : g_.maker(t);
      const std::int32_t want = t == TensorId::kNone   ? Plan::kAbsent
                                : maker == OpId::kNone ? Plan::kGraphInput
                                                       : latest_[Index(maker)];
      if (t != TensorId::kNone) {
        Store* store = Holder(t);
        if (store == nullptr)
          return Fail(Verdict::kMissingInput, pos, op, t,
                      At(pos) + Op(op) + " needs " + Tensor(t) + ", which is not there");
        store->last_use = std::max(store->last_use, pos);
      }
      if (given[i] != want)
        return Fail(Verdict::kWrongProducer, pos, op, t,
                    At(pos) + Op(op) + ": input " + std::to_string(i) + " is made by execution " +
                        std::to_string(want) + ", the plan says " + std::to_string(given[i]));
    }
    for (const TensorId t : g_.outputs(op)) {
      if (const TensorId base = g_.view_of(t); base != TensorId::kNone) {
        Store* store = Holder(base);
        if (store == nullptr)
          return Fail(Verdict::kMissingViewBase, pos, op, base,
                      At(pos) + Op(op) + " makes a view of " + Tensor(base) + ", which is not there");
        store->last_use = std::max(store->last_use, pos);
        Hold(t, StoreOf(base));
        continue;
      }
      TensorId over = TensorId::kNone;
      for (const InplacePair& p : g_.inplace(op))
        if (p.output == t) over = p.input;
      if (over != TensorId::kNone) {
        const std::size_t store = StoreOf(over);
        for (const TensorId name : std::exchange(stores_[store].names, {})) holds_[Index(name)] = -1;
        Hold(t, store);
        continue;
      }
      stores_.push_back({});
      stores_.back().opened_at = pos;
      stores_.back().opened_for = t;
      stores_.back().bytes = g_.size(t).count();
      stores_.back().last_use = pos;
      Hold(t, stores_.size() - 1);
    }
    latest_[Index(op)] = pos;
    return true;
  }

  bool End() {
    for (const TensorId t : g_.graph_outputs()) {
      Store* store = Holder(t);
      if (store == nullptr)
        return Fail(Verdict::kMissingOutput, -1, g_.maker(t), t,
                    "graph output " + Tensor(t) + " is not there at the end");
      store->kept = true;
    }
    return true;
  }

  bool Deaths() {
    const auto n = static_cast<std::int32_t>(plan_.executions.size());
    // Stores stand in the order in which they were opened.
    const auto find = [&](std::int32_t execution, TensorId t) -> Store* {
      auto it = std::lower_bound(stores_.begin(), stores_.end(), execution,
                                 [](const Store& s, std::int32_t e) { return s.opened_at < e; });
      for (; it != stores_.end() && it->opened_at == execution; ++it)
        if (it->opened_for == t) return execution < 0 ? nullptr : &*it;
      return nullptr;
    };
    const auto bad = [&](std::int32_t pos, TensorId t, const std::string& why) {
      return Fail(Verdict::kBadFree, pos, OpId::kNone, t,
                  "free of " + (t == TensorId::kNone ? "?" : Tensor(t)) + ": " + why);
    };
    for (const Plan::Free& f : plan_.frees) {
      if (static_cast<std::int32_t>(f.tensor) < 0 || Index(f.tensor) >= g_.num_tensors())
        return bad(f.after, TensorId::kNone, "no such tensor");
      Store* const found = find(f.execution, f.tensor);
      if (found == nullptr)
        return bad(f.after, f.tensor, "execution " + std::to_string(f.execution) + " opens no storage for it");
      Store& store = *found;
      if (f.after < 0 || f.after >= n)
        return bad(f.after, f.tensor, "position " + std::to_string(f.after) + " is not in the plan");
      if (store.dies_after >= 0) return bad(f.after, f.tensor, "dies twice");
      if (store.kept) return bad(f.after, f.tensor, "a graph output needs it at the end");
      if (f.after < store.last_use)
        return bad(f.after, f.tensor,
                   "dies after position " + std::to_string(f.after) + ", used at " + std::to_string(store.last_use));
      store.dies_after = f.after;
    }
    return true;
  }

  bool Order() {
    if (rules_.order == OrderMode::kFree) return true;
    std::vector<std::int32_t> rank(g_.num_ops(), 0);
    for (std::size_t i = 0; i < g_.order().size(); ++i) rank[Index(g_.order()[i])] = static_cast<std::int32_t>(i);
    std::vector<bool> seen(g_.num_ops(), false);
    std::size_t next = 0;
    std::int32_t last_repeat = -1;
    for (std::size_t i = 0; i < plan_.executions.size(); ++i) {
      const OpId op = plan_.executions[i];
      const auto pos = static_cast<std::int32_t>(i);
      if (!seen[Index(op)]) {
        seen[Index(op)] = true;
        if (g_.order()[next] != op)
          return Fail(Verdict::kOutOfOrder, pos, op, TensorId::kNone,
                      At(pos) + Op(op) + " runs first before " + Op(g_.order()[next]) + ", against the order");
        ++next;
        last_repeat = -1;
      } else {
        if (rules_.order == OrderMode::kStaged && rank[Index(op)] <= last_repeat)
          return Fail(Verdict::kStageOutOfOrder, pos, op, TensorId::kNone,
                      At(pos) + Op(op) + " is repeated out of the graph's order within its stage");
        last_repeat = rank[Index(op)];
      }
    }
    return true;
  }

  bool Sums() {
    // Bytes per position, storage by storage.
    const std::size_t n = plan_.executions.size();
    std::vector<std::int64_t> change(n + 1, 0);
    std::int64_t resident = 0;
    for (const Store& s : stores_) {
      if (s.opened_at < 0) {
        resident += s.bytes;
        continue;
      }
      change[static_cast<std::size_t>(s.opened_at)] += s.bytes;
      if (s.dies_after >= 0) change[static_cast<std::size_t>(s.dies_after) + 1] -= s.bytes;
    }
    std::int64_t peak = resident;
    std::int32_t peak_at = -1;
    Int128 duration = 0;
    for (std::size_t i = 0; i < n; ++i) {
      Int128 wide = static_cast<Int128>(resident) + change[i];
      duration += g_.duration(plan_.executions[i]).count();
      Int128 moment = wide + g_.workspace(plan_.executions[i]).count();
      constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();
      if (moment > kMax || duration > kMax)
        return Fail(Verdict::kOverBudget, static_cast<std::int32_t>(i), plan_.executions[i], TensorId::kNone,
                    At(static_cast<std::int32_t>(i)) + "overflow: the sums leave 63 bits");
      resident = static_cast<std::int64_t>(wide);
      if (static_cast<std::int64_t>(moment) > peak) {
        peak = static_cast<std::int64_t>(moment);
        peak_at = static_cast<std::int32_t>(i);
      }
    }
    const OpId peak_op = peak_at < 0 ? OpId::kNone : plan_.executions[static_cast<std::size_t>(peak_at)];
    result_.bytes_needed = Bytes(peak);
    if (rules_.budget && Bytes(peak) > *rules_.budget) {
      result_.bytes_given = *rules_.budget;
      return Fail(Verdict::kOverBudget, peak_at, peak_op, TensorId::kNone,
                  (peak_at < 0 ? "graph inputs" : At(peak_at) + Op(peak_op)) + " need " + std::to_string(peak) +
                      " bytes, the budget is " + std::to_string(rules_.budget->count()));
    }
    if (plan_.duration.count() != duration)
      return Fail(Verdict::kWrongDuration, -1, OpId::kNone, TensorId::kNone,
                  "the plan says duration " + std::to_string(plan_.duration.count()) + ", it is " +
                      std::to_string(static_cast<std::int64_t>(duration)));
    if (plan_.peak.count() != peak) {
      result_.bytes_given = plan_.peak;
      return Fail(Verdict::kWrongPeak, peak_at, peak_op, TensorId::kNone,
                  "the plan says peak " + std::to_string(plan_.peak.count()) + ", it is " + std::to_string(peak));
    }
    result_ = {};
    return true;
  }

  const Graph& g_;
  const Plan& plan_;
  const PlanRules& rules_;
  ValidationResult result_;
  std::vector<Store> stores_;
  std::vector<std::int64_t> holds_;  // tensor -> store that holds its value; -1: none
  std::vector<std::int32_t> latest_;
};

}  // namespace

ValidationResult Validate(const Graph& graph, const Plan& plan, const PlanRules& rules) {
  return Check(graph, plan, rules).Run();
}

}  // namespace ebb
