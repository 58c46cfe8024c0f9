// SPDX-License-Identifier: Apache-2.0
//
// Graph -> Instance. The only judgement in here is which views are free (see the header); everything else is renaming.
#include "engine/problem/instance.hpp"

#include <algorithm>
#include <utility>

namespace ebb {
namespace {

constexpr std::int32_t kNone = -1;

// Which view ops are free: their repeats cost nothing and need nothing but one value, so no solver has to decide on
// them.
//
// Not free, though they take no time:
//  - a view of what is overwritten in place: an old view can keep the old value while a new copy of the base is
//  consumed,
//    so old and new are not interchangeable;
//  - a view op that reads two values of one storage (a base and a costly view of it): after the base is made again
//  these
//    are two storages, and both would have to be there for a repeat;
//  - a view beside a costly view of the same base, where the base's maker makes other things too: the maker may run
//    again for the other output while the costly view keeps the old storage alive; the free view's readers would have
//    to keep the new one as well.
class FreeViews {
 public:
  FreeViews(const Graph& g, const std::vector<TensorId>& head, const std::vector<std::uint8_t>& overwritten)
      : g_(g), head_(head), overwritten_(overwritten) {}

  std::vector<std::uint8_t> Run() {
    std::vector<std::uint8_t> barred(g_.num_tensors(), 0);  // by segment head
    Sweep(barred);
    bool any = false;
    for (std::size_t i = 0; i < g_.num_ops(); ++i) {
      if (free_[i]) continue;
      for (const TensorId t : g_.outputs(ToOpId(i))) {
        if (g_.view_of(t) == TensorId::kNone) continue;
        const TensorId head = head_[Index(t)];
        const OpId maker = g_.maker(head);
        if (maker == OpId::kNone || maker == ToOpId(i) || g_.outputs(maker).size() < 2) continue;
        barred[Index(head)] = 1;
        any = true;
      }
    }
    if (any) Sweep(barred);
    return std::move(free_);
  }

 private:
  // In topological order: source_[t] is what a read of t reads once free views are gone.
  void Sweep(const std::vector<std::uint8_t>& barred) {
    free_.assign(g_.num_ops(), 0);
    source_.assign(g_.num_tensors(), TensorId::kNone);
    for (std::size_t i = 0; i < g_.num_tensors(); ++i)
      if (g_.maker(ToTensorId(i)) == OpId::kNone) source_[i] = g_.storage_root(ToTensorId(i));
    for (const OpId op : g_.order()) {
      free_[Index(op)] = IsFree(op, barred);
      for (const TensorId t : g_.outputs(op)) source_[Index(t)] = free_[Index(op)] ? source_[Index(g_.view_of(t))] : t;
    }
  }
  bool IsFree(OpId op, const std::vector<std::uint8_t>& barred) const {
    if (g_.duration(op).count() != 0 || g_.workspace(op).count() != 0 || !g_.recomputable(op)) return false;
    if (g_.outputs(op).empty() || !g_.inplace(op).empty()) return false;
    TensorId source = TensorId::kNone;
    const auto same = [&](TensorId t) {
      if (source == TensorId::kNone) source = source_[Index(t)];
      return source_[Index(t)] == source;
    };
    for (const TensorId t : g_.outputs(op)) {
      // Every base is another op's: one that the op makes itself has no source yet and is no match.
      if (g_.view_of(t) == TensorId::kNone || g_.maker(g_.view_of(t)) == op || !same(g_.view_of(t))) return false;
    }
    for (const TensorId t : g_.inputs(op))
      if (t != TensorId::kNone && !same(t)) return false;
    const TensorId head = head_[Index(source)];
    return !overwritten_[Index(head)] && !barred[Index(head)];
  }

  const Graph& g_;
  const std::vector<TensorId>& head_;
  const std::vector<std::uint8_t>& overwritten_;
  std::vector<std::uint8_t> free_;
  std::vector<TensorId> source_;
};

class Flattener {
 public:
  explicit Flattener(const Graph& g) : g_(g) {}

  Instance Run() {
    out_.num_ops = g_.num_ops();
    out_.resident_bytes = g_.input_bytes().count();
    out_.base_duration = g_.base_duration().count();
    overwritten_.assign(g_.num_tensors(), 0);
    FindHeads();
    for (std::size_t i = 0; i < out_.num_ops; ++i)
      for (const InplacePair& p : g_.inplace(ToOpId(i))) overwritten_[Index(head_[Index(p.input)])] = 1;
    out_.view_op = FreeViews(g_, head_, overwritten_).Run();
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
  // The tensor that opens each tensor's segment (hazards.hpp), bases first.
  void FindHeads() {
    head_.resize(g_.num_tensors());
    for (std::size_t i = 0; i < g_.num_tensors(); ++i)
      if (g_.maker(ToTensorId(i)) == OpId::kNone) head_[i] = g_.storage_root(ToTensorId(i));
    for (const OpId op : g_.order())
      for (const TensorId t : g_.outputs(op))
        head_[Index(t)] = g_.view_of(t) == TensorId::kNone ? t : head_[Index(g_.view_of(t))];
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
      out_.in_place.push_back(0);
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
        const std::int32_t v = add(t, static_cast<std::int32_t>(op), in_graph_input ? 0 : g_.size(root).count(), kNone);
        out_.in_place[static_cast<std::size_t>(v)] = over != TensorId::kNone;
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
  std::vector<TensorId> head_;
  std::vector<std::uint8_t> overwritten_;  // by segment head
};

}  // namespace

Instance MakeInstance(const Graph& graph) { return Flattener(graph).Run(); }

}  // namespace ebb
