// SPDX-License-Identifier: Apache-2.0
#include "engine/problem/facts.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/problem/plan.hpp"
#include "engine/problem/repeated_blocks.hpp"

namespace ebb {
namespace {

class Finder {
 public:
  Finder(const Graph& graph, const FactsOptions& options) : g_(graph), options_(options) {}

  GraphFacts Run() {
    rank_.assign(g_.num_ops(), 0);
    for (std::size_t i = 0; i < g_.order().size(); ++i) rank_[Index(g_.order()[i])] = static_cast<std::int64_t>(i);
    Count();
    Uses();
    Peak();
    Floor();
    Gaps();
    Once();
    out_.blocks = FindRepeatedBlocks(g_);
    Instance instance = MakeInstance(g_);
    out_.presolved = MarkOnceOps(instance, OrderMode::kFixed);
    for (const GraphFacts::Blocks& b : out_.blocks) out_.blocks_ops += b.period * b.count;
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool Opens(TensorId t) const {  // a storage of its own
    return g_.view_of(t) == TensorId::kNone && g_.overwrites(t) == TensorId::kNone;
  }
  [[nodiscard]] bool IsInput(TensorId t) const { return g_.maker(t) == OpId::kNone; }

  void Count() {
    out_.ops = static_cast<std::int64_t>(g_.num_ops());
    out_.tensors = static_cast<std::int64_t>(g_.num_tensors());
    out_.graph_outputs = static_cast<std::int64_t>(g_.graph_outputs().size());
    out_.duration = g_.base_duration();
    out_.input_bytes = g_.input_bytes();
    std::vector<std::uint8_t> kept(g_.num_tensors(), 0);
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      out_.views += g_.view_of(t) != TensorId::kNone;
      out_.inplace += g_.overwrites(t) != TensorId::kNone;
      out_.graph_inputs += IsInput(t);
      if (Opens(t)) out_.bytes += g_.size(t);
      const TensorId root = g_.storage_root(t);
      if (g_.is_graph_output(t) && !IsInput(root) && !std::exchange(kept[Index(root)], 1))
        out_.output_bytes += g_.size(root);
    }
    for (std::size_t i = 0; i < g_.num_ops(); ++i) {
      const OpId op = ToOpId(i);
      out_.once_ops += !g_.recomputable(op);
      out_.zero_ops += g_.duration(op).count() == 0;
      out_.largest_workspace = std::max(out_.largest_workspace, g_.workspace(op));
    }
  }

  // Per storage root the positions that use it, ascending, each once; and the op there is the order's.
  void Uses() {
    std::vector<std::vector<std::int64_t>> uses(g_.num_tensors());
    std::vector<std::int64_t> seen(g_.num_tensors(), -1);  // tensor -> last op position that read it
    for (std::size_t i = 0; i < g_.order().size(); ++i) {
      const OpId op = g_.order()[i];
      const auto pos = static_cast<std::int64_t>(i);
      const auto use = [&](TensorId t) {
        auto& row = uses[Index(g_.storage_root(t))];
        if (row.empty() || row.back() != pos) row.push_back(pos);
      };
      for (const TensorId t : g_.inputs(op)) {
        if (t == TensorId::kNone) continue;
        if (std::exchange(seen[Index(t)], pos) != pos) ++out_.reads;
        use(t);
      }
      for (const TensorId t : g_.outputs(op)) use(t);
    }
    uses_ = std::move(uses);
  }

  void Peak() {
    const std::optional<Plan> plan = MakePlan(g_, g_.order());
    if (!plan) return;
    out_.runs = true;
    out_.peak = plan->peak;
    const std::size_t n = plan->executions.size();
    death_.assign(g_.num_tensors(), kEnd);
    std::vector<std::int64_t> change(n + 1, 0);
    for (const Plan::Free& f : plan->frees) {
      death_[Index(f.tensor)] = f.after;
      change[static_cast<std::size_t>(f.after) + 1] -= g_.size(f.tensor).count();
    }
    for (std::size_t i = 0; i < n; ++i)
      for (const TensorId t : g_.outputs(plan->executions[i]))
        if (Opens(t)) change[i] += g_.size(t).count();
    std::int64_t resident = g_.input_bytes().count();
    for (std::size_t i = 0; i < n; ++i) {
      resident += change[i];
      if (resident + g_.workspace(plan->executions[i]).count() != plan->peak.count()) continue;
      out_.peak_position = static_cast<std::int64_t>(i);
      out_.peak_op = plan->executions[i];
      break;
    }
    if (out_.peak_position >= 0) Holders();
  }

  void Holders() {
    const std::int64_t at = out_.peak_position;
    std::vector<GraphFacts::Holder> all;
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (!Opens(t) || g_.size(t).count() == 0) continue;
      const OpId maker = g_.maker(t);
      const std::int64_t born = maker == OpId::kNone ? -1 : rank_[Index(maker)];
      if (born > at || (maker != OpId::kNone && death_[i] < at)) continue;
      GraphFacts::Holder h{t, g_.size(t), GraphFacts::Role::kWaiting, maker, born, 0, 0, {}};
      const bool used_here = std::binary_search(uses_[i].begin(), uses_[i].end(), at);
      const bool to_the_end = maker == OpId::kNone || death_[i] == kEnd;
      const bool read_later = !uses_[i].empty() && uses_[i].back() > at;
      if (maker == OpId::kNone)
        h.role = GraphFacts::Role::kGraphInput;
      else if (born == at)
        h.role = GraphFacts::Role::kOpOutput;
      else if (used_here)
        h.role = GraphFacts::Role::kOpInput;
      else if (!read_later && to_the_end)
        h.role = GraphFacts::Role::kKept;
      h.last_use = to_the_end ? out_.ops : death_[i];
      out_.role_bytes[static_cast<std::size_t>(h.role)] += h.bytes;
      all.push_back(std::move(h));
    }
    out_.holders_total = static_cast<std::int64_t>(all.size());
    Prices(all);
    Top(all, [](const GraphFacts::Holder& a, const GraphFacts::Holder& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.tensor < b.tensor;
    });
    for (GraphFacts::Holder& h : all) {
      const auto& uses = uses_[Index(h.tensor)];
      for (auto it = std::upper_bound(uses.begin(), uses.end(), at); it != uses.end(); ++it) {
        ++h.later_readers;
        if (h.readers.size() < options_.readers) h.readers.push_back(g_.order()[static_cast<std::size_t>(*it)]);
      }
    }
    out_.holders = std::move(all);
  }

  void Prices(const std::vector<GraphFacts::Holder>& holders) {
    std::vector<Bytes> waits(g_.num_ops());
    std::vector<OpId> makers;
    Bytes total;
    for (const GraphFacts::Holder& h : holders) {
      if (h.role != GraphFacts::Role::kWaiting) continue;
      if (!g_.recomputable(h.maker)) {
        out_.waiting_once_bytes += h.bytes;
        continue;
      }
      if (waits[Index(h.maker)].count() == 0) makers.push_back(h.maker);
      waits[Index(h.maker)] += h.bytes;
      total += h.bytes;
    }
    std::sort(makers.begin(), makers.end(), [&](OpId a, OpId b) {
      const Int128 x = static_cast<Int128>(g_.duration(a).count()) * waits[Index(b)].count();
      const Int128 y = static_cast<Int128>(g_.duration(b).count()) * waits[Index(a)].count();
      return x != y ? x < y : a < b;
    });
    Bytes bytes;
    Duration duration;
    std::size_t next = 0;
    for (const int percent : {25, 50, 75, 100}) {
      if (makers.empty()) return;
      const Bytes wanted(static_cast<std::int64_t>(static_cast<Int128>(total.count()) * percent / 100));
      for (; next < makers.size() && bytes < wanted; ++next) {
        bytes += waits[Index(makers[next])];
        duration += g_.duration(makers[next]);
      }
      out_.prices.push_back({percent, bytes, duration});
    }
  }

  void Floor() {
    std::vector<std::int64_t> stamp(g_.num_tensors(), -1);
    for (std::size_t i = 0; i < g_.num_ops(); ++i) {
      const OpId op = ToOpId(i);
      Bytes need = g_.input_bytes() + g_.workspace(op);
      const auto add = [&](TensorId t) {
        if (t == TensorId::kNone) return;
        const TensorId root = g_.storage_root(t);
        if (IsInput(root) ||
            std::exchange(stamp[Index(root)], static_cast<std::int64_t>(i)) == static_cast<std::int64_t>(i))
          return;
        need += g_.size(root);
      };
      for (const TensorId t : g_.inputs(op)) add(t);
      for (const TensorId t : g_.outputs(op)) {
        add(t);
        if (g_.view_of(t) != TensorId::kNone) add(g_.view_of(t));
      }
      if (i == 0 || need > out_.floor) {
        out_.floor = need;
        out_.floor_op = op;
      }
    }
    if (const Bytes end = g_.input_bytes() + out_.output_bytes; end > out_.floor) {
      out_.floor = end;
      out_.floor_op = OpId::kNone;
    }
    FloorParts();
  }

  void FloorParts() {
    using Role = GraphFacts::Role;
    std::vector<GraphFacts::FloorPart> parts;
    std::vector<std::uint8_t> listed(g_.num_tensors(), 0);
    const auto add = [&](TensorId t, Role role) {
      if (t == TensorId::kNone) return;
      const TensorId root = g_.storage_root(t);
      if (IsInput(root) || g_.size(root).count() == 0 || std::exchange(listed[Index(root)], 1) != 0) return;
      parts.push_back({root, g_.size(root), role});
    };
    if (out_.floor_op == OpId::kNone) {
      for (const TensorId t : g_.graph_outputs()) add(t, Role::kKept);
    } else {
      for (const TensorId t : g_.inputs(out_.floor_op)) add(t, Role::kOpInput);
      for (const TensorId t : g_.outputs(out_.floor_op)) {
        if (g_.view_of(t) != TensorId::kNone && g_.maker(g_.view_of(t)) != out_.floor_op)
          add(t, Role::kOpInput);  // the base has to be there
        add(t, Role::kOpOutput);
      }
    }
    out_.floor_parts_total = static_cast<std::int64_t>(parts.size());
    Top(parts, [](const GraphFacts::FloorPart& a, const GraphFacts::FloorPart& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.tensor < b.tensor;
    });
    out_.floor_parts = std::move(parts);
  }

  void Gaps() {
    std::vector<GraphFacts::Gap> all;
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (!Opens(t) || IsInput(t) || g_.size(t).count() == 0) continue;
      for (std::size_t k = 1; k < uses_[i].size(); ++k) {
        const std::int64_t a = uses_[i][k - 1], b = uses_[i][k];
        if (b - a < 2) continue;
        all.push_back({t, g_.size(t), g_.order()[static_cast<std::size_t>(a)], g_.order()[static_cast<std::size_t>(b)],
                       b - a - 1, g_.recomputable(g_.maker(t))});
      }
    }
    out_.gaps_total = static_cast<std::int64_t>(all.size());
    const auto weight = [](const GraphFacts::Gap& x) { return static_cast<Int128>(x.bytes.count()) * x.length; };
    Top(all, [&](const GraphFacts::Gap& a, const GraphFacts::Gap& b) {
      if (weight(a) != weight(b)) return weight(a) > weight(b);
      return a.tensor != b.tensor ? a.tensor < b.tensor : rank_[Index(a.from)] < rank_[Index(b.from)];
    });
    out_.gaps = std::move(all);
  }

  void Once() {
    std::vector<GraphFacts::Once> all;
    for (const OpId op : g_.order()) {
      if (g_.recomputable(op)) continue;
      GraphFacts::Once once{op, Bytes(0), false};
      for (const TensorId t : g_.outputs(op)) {
        if (!Opens(t)) continue;
        once.bytes += g_.size(t);
        if (out_.peak_position >= 0 && g_.size(t).count() > 0 && rank_[Index(op)] <= out_.peak_position &&
            death_[Index(t)] >= out_.peak_position)
          once.at_peak = true;
      }
      out_.once_bytes += once.bytes;
      all.push_back(once);
    }
    Top(all, [&](const GraphFacts::Once& a, const GraphFacts::Once& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : rank_[Index(a.op)] < rank_[Index(b.op)];
    });
    out_.once = std::move(all);
  }

  template <class T, class Less>
  void Top(std::vector<T>& all, Less less) const {
    const std::size_t keep = std::min(all.size(), options_.top);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(keep), all.end(), less);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(keep), all.end());
  }

  const Graph& g_;
  const FactsOptions options_;
  GraphFacts out_;
  std::vector<std::int64_t> rank_;   // op -> position
  std::vector<std::int64_t> death_;  // storage's opening tensor -> last position it lives at; kEnd
  std::vector<std::vector<std::int64_t>> uses_;
};

}  // namespace

GraphFacts FindFacts(const Graph& graph, const FactsOptions& options) { return Finder(graph, options).Run(); }

const char* ToString(GraphFacts::Role role) {
  switch (role) {
    case GraphFacts::Role::kGraphInput: return "graph input";
    case GraphFacts::Role::kOpInput: return "input of the op";
    case GraphFacts::Role::kOpOutput: return "output of the op";
    case GraphFacts::Role::kWaiting: return "waiting";
    case GraphFacts::Role::kKept: return "graph output";
  }
  return "";
}

}  // namespace ebb
