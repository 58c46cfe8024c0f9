// SPDX-License-Identifier: Apache-2.0
//
// Graph -> Instance. The only judgement in here is which views are free (see the header); everything else is renaming.
#include "engine/problem/instance.hpp"

#include <algorithm>
#include <utility>

#include "engine/problem/hazards.hpp"

namespace ebb {
namespace {

constexpr std::int32_t kNone = -1;

// A view op whose repeats cost nothing and need nothing but its base: no solver has to decide on it.
// Not free either: a view of what is overwritten in place. There an old view can keep the old value while a new copy of
// the base is consumed, so old and new are not interchangeable.
bool IsFreeView(const Graph& g, OpId op, const std::vector<std::uint8_t>& overwritten) {
  if (g.duration(op).count() != 0 || g.workspace(op).count() != 0 || !g.recomputable(op)) return false;
  if (g.outputs(op).empty() || !g.inplace(op).empty()) return false;
  TensorId head = TensorId::kNone;
  const auto same = [&](TensorId t) {
    const TensorId h = SegmentHead(g, t);
    if (head == TensorId::kNone) head = h;
    return h == head && !overwritten[Index(h)];
  };
  for (const TensorId t : g.outputs(op))
    if (g.view_of(t) == TensorId::kNone || !same(t)) return false;
  // An input that is not of the same storage has to be there for a repeat: that is a decision.
  for (const TensorId t : g.inputs(op))
    if (t != TensorId::kNone && !same(t)) return false;
  return true;
}

class Flattener {
 public:
  explicit Flattener(const Graph& g) : g_(g) {}

  Instance Run() {
    out_.num_ops = g_.num_ops();
    out_.resident_bytes = g_.input_bytes().count();
    out_.base_duration = g_.base_duration().count();
    overwritten_.assign(g_.num_tensors(), 0);
    for (std::size_t i = 0; i < out_.num_ops; ++i)
      for (const InplacePair& p : g_.inplace(ToOpId(i))) overwritten_[Index(SegmentHead(g_, p.input))] = 1;
    FindFreeViews();
    MakeValues();
    MakeOps();
    out_.readers =
        out_.reads.Transpose<std::int32_t>(out_.num_values, [](std::int32_t v) { return static_cast<std::size_t>(v); });
    SortReaders();
    out_.kept.assign(out_.num_values, 0);
    for (const TensorId t : g_.graph_outputs())
      if (const std::int32_t v = stands_for_[Index(t)]; v != kNone) out_.kept[static_cast<std::size_t>(v)] = 1;
    return std::move(out_);
  }

 private:
  void FindFreeViews() {
    out_.view_op.assign(out_.num_ops, 0);
    for (std::size_t i = 0; i < out_.num_ops; ++i) out_.view_op[i] = IsFreeView(g_, ToOpId(i), overwritten_);
  }

  // stands_for_[t]: the value that a read of t reads; kNone for what is always there.
  void MakeValues() {
    stands_for_.assign(g_.num_tensors(), kNone);
    const auto add = [&](TensorId t, std::int32_t maker, std::int64_t bytes, std::int32_t carrier) {
      stands_for_[Index(t)] = static_cast<std::int32_t>(out_.num_values++);
      out_.maker.push_back(maker);
      out_.bytes.push_back(bytes);
      out_.carrier.push_back(carrier);
      out_.tensor.push_back(t);
      if (carrier != kNone) out_.plain = false;
      return stands_for_[Index(t)];
    };
    // Graph inputs that get overwritten stay visible; their unmade views read as they do.
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (g_.maker(t) == OpId::kNone && g_.view_of(t) == TensorId::kNone && overwritten_[i]) add(t, kNone, 0, kNone);
    }
    for (std::size_t i = 0; i < g_.num_tensors(); ++i) {
      const TensorId t = ToTensorId(i);
      if (g_.maker(t) == OpId::kNone && g_.view_of(t) != TensorId::kNone)
        stands_for_[i] = stands_for_[Index(g_.storage_root(t))];
    }
    // Made tensors in topological order, so that a view's base is known before it.
    for (const OpId op : g_.order())
      for (const TensorId t : g_.outputs(op)) {
        const TensorId base = g_.view_of(t), over = g_.overwrites(t);
        if (base != TensorId::kNone) {
          if (out_.view_op[Index(op)])
            stands_for_[Index(t)] = stands_for_[Index(base)];
          else
            add(t, static_cast<std::int32_t>(op), 0, stands_for_[Index(base)]);
          // A view of what is always there is a name that needs no bytes, but it exists only once its op has run.
          continue;
        }
        const TensorId root = g_.storage_root(t);
        const bool in_graph_input = over != TensorId::kNone && g_.maker(root) == OpId::kNone;
        add(t, static_cast<std::int32_t>(op), in_graph_input ? 0 : g_.size(root).count(), kNone);
      }
  }

  void MakeOps() {
    std::vector<std::int32_t> row;
    std::vector<std::int64_t> stamp(out_.num_values, -1);  // value -> last row that held it
    std::int64_t rows = 0;
    const auto push_row = [&](Csr<std::int32_t>& to) {
      for (const std::int32_t v : row)
        if (std::exchange(stamp[static_cast<std::size_t>(v)], rows) != rows) to.Push(v);
      ++rows;
      to.EndRow();
      row.clear();
    };
    for (std::size_t i = 0; i < out_.num_ops; ++i) {
      const OpId op = ToOpId(i);
      out_.duration.push_back(g_.duration(op).count());
      out_.may_repeat.push_back(g_.recomputable(op) && !out_.view_op[i]);
      const auto read = [&](TensorId t) {
        if (t != TensorId::kNone && stands_for_[Index(t)] != kNone) row.push_back(stands_for_[Index(t)]);
      };
      for (const TensorId t : g_.inputs(op)) read(t);
      for (const TensorId t : g_.outputs(op))
        if (g_.view_of(t) != TensorId::kNone && g_.maker(g_.view_of(t)) != op) read(g_.view_of(t));
      push_row(out_.reads);
      for (const TensorId t : g_.outputs(op))
        if (!out_.view_op[i]) row.push_back(stands_for_[Index(t)]);
      push_row(out_.makes);
      std::int64_t moment = g_.workspace(op).count();
      for (const InplacePair& p : g_.inplace(op)) {
        row.push_back(stands_for_[Index(p.input)]);
        moment -= out_.bytes[static_cast<std::size_t>(stands_for_[Index(p.output)])];
        out_.plain = false;
      }
      push_row(out_.consumes);
      out_.moment.push_back(moment);
    }
    out_.rank.resize(out_.num_ops);
    for (const OpId op : g_.order()) {
      out_.rank[Index(op)] = static_cast<std::int32_t>(out_.order.size());
      out_.order.push_back(static_cast<std::int32_t>(op));
    }
  }

  void SortReaders() {
    Csr<std::int32_t> sorted;
    std::vector<std::int32_t> row;
    for (std::size_t v = 0; v < out_.num_values; ++v) {
      row.assign(out_.readers[v].begin(), out_.readers[v].end());
      std::sort(row.begin(), row.end(), [&](std::int32_t a, std::int32_t b) {
        return out_.rank[static_cast<std::size_t>(a)] < out_.rank[static_cast<std::size_t>(b)];
      });
      for (const std::int32_t r : row) sorted.Push(r);
      sorted.EndRow();
    }
    out_.readers = std::move(sorted);
  }

  const Graph& g_;
  Instance out_;
  std::vector<std::int32_t> stands_for_;
  std::vector<std::uint8_t> overwritten_;  // by segment head
};

}  // namespace

Instance MakeInstance(const Graph& graph) { return Flattener(graph).Run(); }

}  // namespace ebb
