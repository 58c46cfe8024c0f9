// SPDX-License-Identifier: Apache-2.0
//
// Checks a graph by name and turns it into index form. Every pass is iterative: chains of hundreds of thousands of ops
// or views must not touch the stack. The messages are what users see, so each names op and tensor and says what was
// expected.
#include "engine/problem/graph_builder.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>

#include "engine/base/quoted.hpp"
#include "engine/problem/hazards.hpp"

namespace ebb {
namespace {

[[noreturn]] void Refuse(const std::string& message) { throw InputError(message); }

}  // namespace

void GraphBuilder::AddTensor(std::string name, std::int64_t size, std::string view_of) {
  if (name.empty()) Refuse("a tensor has an empty name");
  if (size < 0) Refuse("tensor " + Quoted(name) + ": size is " + std::to_string(size) + ", expected bytes >= 0");
  if (tensors_.size() >= kMaxCount) Refuse("more than 2^31 - 2 tensors");
  const auto [it, fresh] = tensor_index_.emplace(name, static_cast<std::int32_t>(tensors_.size()));
  if (!fresh) Refuse("tensor " + Quoted(name) + " is listed twice");
  tensors_.push_back({std::move(name), size, std::move(view_of)});
}

void GraphBuilder::AddOp(OpSpec op) {
  if (op.name.empty()) Refuse("an op has an empty name");
  if (op.duration < 0)
    Refuse("op " + Quoted(op.name) + ": duration is " + std::to_string(op.duration) + ", expected >= 0");
  if (op.workspace < 0)
    Refuse("op " + Quoted(op.name) + ": workspace is " + std::to_string(op.workspace) + ", expected bytes >= 0");
  if (ops_.size() >= kMaxCount) Refuse("more than 2^31 - 2 ops");
  const auto [it, fresh] = op_index_.emplace(op.name, static_cast<std::int32_t>(ops_.size()));
  if (!fresh) Refuse("op " + Quoted(op.name) + " is listed twice");
  ops_.push_back(std::move(op));
}

TensorId GraphBuilder::FindTensor(const std::string& name) const {
  const auto it = tensor_index_.find(name);
  return it == tensor_index_.end() ? TensorId::kNone : static_cast<TensorId>(it->second);
}

Graph GraphBuilder::Build() {
  Graph g;
  g.name_ = std::move(name_);
  g.duration_unit_ = std::move(unit_);
  LinkTensors(g);
  LinkOps(g);
  ResolveStorage(g);
  CheckInplace(g);
  SortOutputs(g);
  CheckSums(g);
  FindOrder(g);
  *this = GraphBuilder();
  return g;
}

void GraphBuilder::LinkTensors(Graph& g) {
  g.tensors_.resize(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    TensorSpec& spec = tensors_[i];
    Graph::Tensor& t = g.tensors_[i];
    t.size = Bytes(spec.size);
    if (!spec.view_of.empty()) {
      t.view_of = FindTensor(spec.view_of);
      if (t.view_of == TensorId::kNone)
        Refuse("tensor " + Quoted(spec.name) + " is a view of " + Quoted(spec.view_of) + ", which is not a tensor");
      if (Index(t.view_of) == i) Refuse("tensor " + Quoted(spec.name) + " is a view of itself");
    }
  }
  for (const std::string& name : outputs_) {
    const TensorId t = FindTensor(name);
    if (t == TensorId::kNone) Refuse("graph output " + Quoted(name) + " is not a tensor");
    if (!std::exchange(g.tensors_[Index(t)].graph_output, true)) g.graph_outputs_.push_back(t);
  }
}

void GraphBuilder::LinkOps(Graph& g) {
  const auto find = [&](const OpSpec& op, const std::string& name, const char* role) {
    const TensorId t = FindTensor(name);
    if (t == TensorId::kNone)
      Refuse("op " + Quoted(op.name) + ": " + role + " " + Quoted(name) + " is not a tensor of this graph");
    return t;
  };
  g.ops_.reserve(ops_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    OpSpec& op = ops_[i];
    for (const std::string& name : op.inputs) g.inputs_.Push(name.empty() ? TensorId::kNone : find(op, name, "input"));
    g.inputs_.EndRow();
    for (const std::string& name : op.outputs) {
      if (name.empty()) Refuse("op " + Quoted(op.name) + ": an output has an empty name");
      const TensorId t = find(op, name, "output");
      OpId& maker = g.tensors_[Index(t)].maker;
      if (maker == ToOpId(i)) Refuse("op " + Quoted(op.name) + ": output " + Quoted(name) + " is listed twice");
      if (maker != OpId::kNone)
        Refuse("tensor " + Quoted(name) + " has two makers: ops " + Quoted(g.ops_[Index(maker)].name) + " and " +
               Quoted(op.name));
      maker = ToOpId(i);
      g.outputs_.Push(t);
    }
    g.outputs_.EndRow();
    for (const auto& [from, to] : op.inplace) {
      const TensorId in = find(op, from, "in-place input"), out = find(op, to, "in-place output");
      const auto ins = g.inputs_[i];
      if (std::find(ins.begin(), ins.end(), in) == ins.end())
        Refuse("op " + Quoted(op.name) + ": in-place pair [" + Quoted(from) + ", " + Quoted(to) + "]: " + Quoted(from) +
               " is not an input of the op");
      Graph::Tensor& o = g.tensors_[Index(out)];
      if (o.maker != ToOpId(i))
        Refuse("op " + Quoted(op.name) + ": in-place pair [" + Quoted(from) + ", " + Quoted(to) + "]: " + Quoted(to) +
               " is not an output of the op");
      if (o.overwrites != TensorId::kNone)
        Refuse("op " + Quoted(op.name) + ": output " + Quoted(to) + " stands in two in-place pairs");
      if (o.view_of != TensorId::kNone)
        Refuse("op " + Quoted(op.name) + ": output " + Quoted(to) + " is a view and cannot be in place as well");
      o.overwrites = in;
      g.inplace_.Push({in, out});
    }
    g.inplace_.EndRow();
    g.ops_.push_back({std::move(op.name), Duration(op.duration), Bytes(op.workspace), op.recomputable});
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) g.tensors_[i].name = std::move(tensors_[i].name);
}

// Follows view_of and in-place links to the tensor whose size counts. A tensor has at most one link, so a ring is found
// by walking; roots found on the way are kept, which makes the whole linear.
void GraphBuilder::ResolveStorage(Graph& g) {
  std::vector<TensorId> path;
  std::vector<std::uint8_t> on_path(g.tensors_.size(), 0);
  for (std::size_t i = 0; i < g.tensors_.size(); ++i) {
    path.clear();
    TensorId t = ToTensorId(i), root = TensorId::kNone;
    while (root == TensorId::kNone) {
      Graph::Tensor& x = g.tensors_[Index(t)];
      if (x.root != TensorId::kNone) {
        root = x.root;
        break;
      }
      if (on_path[Index(t)])
        Refuse("tensors " + Quoted(x.name) + " and " + Quoted(g.tensors_[Index(path.back())].name) +
               " are in a ring of views: a view needs a tensor with bytes of its own at its end");
      on_path[Index(t)] = 1;
      path.push_back(t);
      const TensorId next = x.view_of != TensorId::kNone ? x.view_of : x.overwrites;
      if (next == TensorId::kNone)
        root = t;
      else
        t = next;
    }
    for (const TensorId p : path) {
      g.tensors_[Index(p)].root = root;
      on_path[Index(p)] = 0;
    }
  }
  for (const Graph::Tensor& t : g.tensors_)
    if (t.maker == OpId::kNone && g.tensors_[Index(t.root)].maker != OpId::kNone)
      Refuse("tensor " + Quoted(t.name) + " is a view of " + Quoted(g.tensors_[Index(t.view_of)].name) +
             ", which an op makes, but no op makes the view: list it as an output of an op");
}

// What an op says of its own outputs: two of them cannot move into one storage, and none can be a view of what another
// one has just overwritten.
void GraphBuilder::CheckInplace(const Graph& g) {
  std::vector<TensorId> heads;
  boost::unordered_flat_map<TensorId, InplacePair> gone;  // segments that are overwritten for good
  for (std::size_t i = 0; i < g.ops_.size(); ++i) {
    const OpId op = ToOpId(i);
    heads.clear();
    for (const InplacePair& pair : g.inplace(op)) {
      const TensorId head = SegmentHead(g, pair.input);
      if (std::find(heads.begin(), heads.end(), head) != heads.end())
        Refuse("op " + Quoted(g.op_name(op)) + ": two in-place outputs take over the storage of " +
               Quoted(g.tensor_name(pair.input)));
      heads.push_back(head);
      const OpId maker = g.maker(head);
      if (maker == OpId::kNone || !g.recomputable(maker)) gone.emplace(head, pair);
    }
    if (heads.empty()) continue;
    for (const TensorId t : g.outputs(op))
      if (g.view_of(t) != TensorId::kNone && std::find(heads.begin(), heads.end(), SegmentHead(g, t)) != heads.end())
        Refuse("op " + Quoted(g.op_name(op)) + ": output " + Quoted(g.tensor_name(t)) + " is a view of " +
               Quoted(g.tensor_name(g.view_of(t))) + ", whose storage the same op overwrites");
  }
  if (gone.empty()) return;
  for (const TensorId t : g.graph_outputs())
    if (const auto it = gone.find(SegmentHead(g, t)); it != gone.end())
      Refuse("in-place contradiction that no order can satisfy: op " + Quoted(g.op_name(g.maker(it->second.output))) +
             " overwrites the storage of " + Quoted(g.tensor_name(t)) +
             ", which is a graph output and cannot be made again");
}

// Bases before their views among the outputs of one op, so that one pass over the outputs can bind them.
void GraphBuilder::SortOutputs(Graph& g) {
  bool sorted = true;
  std::vector<std::int32_t> place(g.tensors_.size(), -1);
  for (std::size_t i = 0; i < g.ops_.size() && sorted; ++i) {
    std::int32_t at = 0;
    for (const TensorId t : g.outputs_[i]) place[Index(t)] = at++;
    for (const TensorId t : g.outputs_[i]) {
      const TensorId base = g.view_of(t);
      if (base != TensorId::kNone && g.maker(base) == ToOpId(i) && place[Index(base)] > place[Index(t)]) sorted = false;
    }
  }
  if (sorted) return;
  Csr<TensorId> outputs;
  std::vector<std::uint8_t> done(g.tensors_.size(), 0);
  std::vector<TensorId> chain;
  for (std::size_t i = 0; i < g.ops_.size(); ++i) {
    for (TensorId t : g.outputs_[i]) {
      chain.clear();
      while (t != TensorId::kNone && g.maker(t) == ToOpId(i) && !done[Index(t)]) {
        done[Index(t)] = 1;
        chain.push_back(t);
        t = g.view_of(t);
      }
      for (auto it = chain.rbegin(); it != chain.rend(); ++it) outputs.Push(*it);
    }
    outputs.EndRow();
  }
  g.outputs_ = std::move(outputs);
}

void GraphBuilder::CheckSums(Graph& g) {
  Bytes bytes;
  for (const Graph::Tensor& t : g.tensors_) {
    const auto sum = CheckedAdd(bytes, t.size);
    if (!sum) Refuse("overflow: the sizes of all tensors up to " + Quoted(t.name) + " sum to more than 2^63 - 1 bytes");
    bytes = *sum;
    if (t.maker == OpId::kNone && t.view_of == TensorId::kNone) g.input_bytes_ += t.size;
  }
  for (const Graph::Op& op : g.ops_) {
    const auto sum = CheckedAdd(bytes, op.workspace);
    if (!sum)
      Refuse("overflow: all sizes and the workspace of op " + Quoted(op.name) + " sum to more than 2^63 - 1 bytes");
    bytes = *sum;
    const auto time = CheckedAdd(g.base_duration_, op.duration);
    if (!time) Refuse("overflow: the durations of all ops up to " + Quoted(op.name) + " sum to more than 2^63 - 1");
    g.base_duration_ = *time;
  }
}

namespace {

// The ops of one cycle of `successors` among those with degree left, as "a -> b -> a".
std::string PrintCycle(const Graph& g, const Csr<std::int32_t>& predecessors, const std::vector<std::int32_t>& degree) {
  // Every op with degree left has a predecessor with degree left: walk backwards until one repeats.
  std::size_t at = 0;
  while (degree[at] == 0) ++at;
  std::vector<std::int32_t> seen(degree.size(), -1);
  std::vector<std::size_t> walk;
  while (seen[at] < 0) {
    seen[at] = static_cast<std::int32_t>(walk.size());
    walk.push_back(at);
    for (const std::int32_t p : predecessors[at])
      if (degree[static_cast<std::size_t>(p)] > 0) {
        at = static_cast<std::size_t>(p);
        break;
      }
  }
  std::vector<std::size_t> cycle(walk.begin() + seen[at], walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::string text;
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == kShown) {
      text += "... (" + std::to_string(cycle.size() - kShown) + " more) -> ";
      break;
    }
    text += Quoted(g.op_name(ToOpId(cycle[i]))) + " -> ";
  }
  return text + Quoted(g.op_name(ToOpId(cycle.front())));
}

// Kahn's algorithm with the lowest index first. The result is shorter than the number of ops where there is a cycle;
// `degree` then tells the ops left.
std::vector<OpId> StableTopologicalOrder(const Csr<std::int32_t>& predecessors, std::vector<std::int32_t>& degree) {
  const std::size_t n = predecessors.rows();
  const Csr<std::int32_t> successors =
      predecessors.Transpose<std::int32_t>(n, [](std::int32_t p) { return static_cast<std::size_t>(p); });
  degree.resize(n);
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < n; ++i) {
    degree[i] = static_cast<std::int32_t>(predecessors[i].size());
    if (degree[i] == 0) ready.push(static_cast<std::int32_t>(i));
  }
  std::vector<OpId> order;
  order.reserve(n);
  while (!ready.empty()) {
    const std::int32_t op = ready.top();
    ready.pop();
    order.push_back(static_cast<OpId>(op));
    for (const std::int32_t s : successors[static_cast<std::size_t>(op)])
      if (--degree[static_cast<std::size_t>(s)] == 0) ready.push(s);
  }
  return order;
}

}  // namespace

void GraphBuilder::FindOrder(Graph& g) {
  const std::size_t n = g.ops_.size();
  std::vector<std::int32_t> degree;
  const Csr<std::int32_t> data = DataPredecessors(g);
  std::vector<OpId> plain = StableTopologicalOrder(data, degree);
  if (plain.size() < n) Refuse("the graph has a cycle: " + PrintCycle(g, data, degree));
  const Csr<std::int32_t> forced = WithHazards(g, data, HazardScope::kForGood);
  std::vector<OpId> with_forced = StableTopologicalOrder(forced, degree);
  if (with_forced.size() < n)
    Refuse("in-place contradiction that no order can satisfy: a value is read after it was overwritten for good: " +
           PrintCycle(g, forced, degree));

  if (!has_order_) {
    // Where it can be had, an order in which nothing is read after it was overwritten: then it needs no repeat.
    std::vector<OpId> calm = StableTopologicalOrder(WithHazards(g, data, HazardScope::kAll), degree);
    g.order_ = calm.size() == n ? std::move(calm) : std::move(with_forced);
    return;
  }
  g.order_was_given_ = true;
  std::vector<std::int32_t> rank(n, -1);
  for (const std::string& name : order_) {
    const auto it = op_index_.find(name);
    if (it == op_index_.end()) Refuse("order: " + Quoted(name) + " is not an op");
    std::int32_t& r = rank[static_cast<std::size_t>(it->second)];
    if (r >= 0) Refuse("order: op " + Quoted(name) + " stands twice");
    r = static_cast<std::int32_t>(g.order_.size());
    g.order_.push_back(static_cast<OpId>(it->second));
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (rank[i] < 0) Refuse("order: op " + Quoted(g.ops_[i].name) + " is missing");
    for (const std::int32_t p : data[i])
      if (rank[static_cast<std::size_t>(p)] > rank[i])
        Refuse("order: op " + Quoted(g.ops_[i].name) + " stands before op " +
               Quoted(g.ops_[static_cast<std::size_t>(p)].name) + ", whose output it needs");
  }
}

}  // namespace ebb
