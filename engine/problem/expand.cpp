// SPDX-License-Identifier: Apache-2.0
//
// Instance sequences <-> graph sequences. A free view is stale when its base's value was made again after the view's op
// ran; a stale view that is read (or is a graph output) gets its op repeated just before the reader, or, in staged
// form, at its place by rank within the stage. Its base is resident there, because in the instance the reader reads the
// base.
#include <algorithm>
#include <vector>

#include "engine/problem/instance.hpp"

namespace ebb {
namespace {

class Expander {
 public:
  Expander(const Graph& g, const Instance& in, bool staged) : g_(g), in_(in), staged_(staged) {}

  std::vector<OpId> Run(std::span<const std::int32_t> sequence) {
    run_of_.assign(in_.num_ops, kNever);
    base_run_.assign(in_.num_ops, kNever);
    out_.reserve(sequence.size() + 16);
    for (const std::int32_t op : sequence) {
      const auto i = static_cast<std::size_t>(op);
      if (in_.view_op[i]) {
        if (run_of_[i] == kNever) Refresh(ToOpId(i));  // else it already stands before an earlier reader
        continue;
      }
      for (const TensorId t : g_.inputs(ToOpId(i))) FreshenTensor(t);
      for (const TensorId t : g_.outputs(ToOpId(i))) FreshenTensor(g_.view_of(t));
      const bool first = run_of_[i] == kNever;
      Emit(i);
      if (first) stage_begin_ = out_.size();
    }
    for (const TensorId t : g_.graph_outputs()) FreshenTensor(t);
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kNever = -1;

  void Emit(std::size_t op) {
    out_.push_back(ToOpId(op));
    run_of_[op] = clock_++;
  }
  // The op whose latest run decides whether views of t are current: past free views, the maker of the base. kNone: the
  // base is a graph input and never changes.
  [[nodiscard]] OpId Source(TensorId t) const {
    while (g_.maker(t) != OpId::kNone && in_.view_op[Index(g_.maker(t))]) t = g_.view_of(t);
    return g_.maker(t);
  }
  [[nodiscard]] bool Stale(OpId view) const {
    if (run_of_[Index(view)] == kNever) return true;
    const OpId source = Source(g_.outputs(view)[0]);
    return source != OpId::kNone && base_run_[Index(view)] != run_of_[Index(source)];
  }
  void FreshenTensor(TensorId t) {
    if (t == TensorId::kNone || g_.maker(t) == OpId::kNone || !in_.view_op[Index(g_.maker(t))]) return;
    if (Stale(g_.maker(t))) Refresh(g_.maker(t));
  }

  // Runs a view op again, after the stale ones among those it reads: without recursion, chains can be long.
  void Refresh(OpId view) {
    stack_.assign(1, view);
    while (!stack_.empty()) {
      const OpId v = stack_.back();
      const std::size_t before = stack_.size();
      const auto push_if_stale = [&](TensorId t) {
        if (t == TensorId::kNone || g_.maker(t) == OpId::kNone || g_.maker(t) == v) return;
        if (in_.view_op[Index(g_.maker(t))] && Stale(g_.maker(t))) stack_.push_back(g_.maker(t));
      };
      for (const TensorId t : g_.inputs(v)) push_if_stale(t);
      for (const TensorId t : g_.outputs(v)) push_if_stale(g_.view_of(t));
      if (stack_.size() != before) continue;
      stack_.pop_back();
      if (run_of_[Index(v)] != kNever && !Stale(v)) continue;  // two ways led here
      const bool first = run_of_[Index(v)] == kNever;
      Place(v, first);
      const OpId source = Source(g_.outputs(v)[0]);
      if (source != OpId::kNone) base_run_[Index(v)] = run_of_[Index(source)];
    }
  }

  void Place(OpId v, bool first) {
    Emit(Index(v));
    if (first) {
      stage_begin_ = out_.size();
      return;
    }
    if (!staged_) return;
    std::size_t at = out_.size() - 1;
    while (at > stage_begin_ && in_.rank[Index(out_[at - 1])] > in_.rank[Index(v)]) {
      out_[at] = out_[at - 1];
      --at;
    }
    out_[at] = v;
  }

  const Graph& g_;
  const Instance& in_;
  bool staged_;
  std::vector<OpId> out_, stack_;
  std::vector<std::int64_t> run_of_;    // op -> clock of its latest run
  std::vector<std::int64_t> base_run_;  // free view op -> run_of_ of its source when it ran
  std::int64_t clock_ = 0;
  std::size_t stage_begin_ = 0;  // just after the latest first execution
};

}  // namespace

std::vector<OpId> Expand(const Graph& graph, const Instance& instance, std::span<const std::int32_t> sequence,
                         bool staged) {
  return Expander(graph, instance, staged).Run(sequence);
}

std::vector<std::int32_t> Collapse(const Graph& /*graph*/, const Instance& instance, std::span<const OpId> sequence) {
  std::vector<std::uint8_t> seen(instance.num_ops, 0);
  std::vector<std::int32_t> out;
  out.reserve(sequence.size());
  for (const OpId op : sequence) {
    if (instance.view_op[Index(op)] && seen[Index(op)]) continue;
    seen[Index(op)] = 1;
    out.push_back(static_cast<std::int32_t>(op));
  }
  return out;
}

}  // namespace ebb
