// SPDX-License-Identifier: Apache-2.0
//
// Checks a graph by name and turns it into index form; its order in graph_order.cpp. Every pass is iterative: chains of
// hundreds of thousands of ops or views must not touch the stack. The messages are what users see, so each names op and
// tensor and says what was expected.
#include "engine/problem/graph_builder.hpp"

#include <algorithm>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/quoted.hpp"
#include "engine/problem/hazards.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMaxCount = 2147483646;

[[noreturn]] void Refuse(const std::string& message) { throw InputError(message); }

}  // namespace

GraphBuilder::TensorName GraphBuilder::Mention(std::string_view tensor) {
  if (tensor.empty()) return TensorName::kNone;
  const std::int32_t name = names_.Intern(tensor);
  if (names_.size() >= kMaxCount) Refuse("more than 2^31 - 2 tensors");
  if (static_cast<std::size_t>(name) == tensor_of_name_.size()) tensor_of_name_.push_back(-1);
  return static_cast<TensorName>(name);
}

bool GraphBuilder::IsDeclared(TensorName name) const { return tensor_of_name_[static_cast<std::size_t>(name)] >= 0; }

void GraphBuilder::AddTensor(std::string_view name, std::int64_t size, std::string_view view_of) {
  const TensorName mine = Mention(name);  // before its base: declared in order, the names' indices are the tensors'
  AddTensor(mine, size, Mention(view_of));
}

void GraphBuilder::AddTensor(TensorName name, std::int64_t size, TensorName view_of) {
  if (name == TensorName::kNone) Refuse("a tensor has an empty name");
  if (size < 0)
    Refuse("tensor " + Quoted(NameOf(name)) + ": size is " + std::to_string(size) + ", expected bytes >= 0");
  if (IsDeclared(name)) Refuse("tensor " + Quoted(NameOf(name)) + " is listed twice");
  tensor_of_name_[static_cast<std::size_t>(name)] = static_cast<std::int32_t>(graph_.tensors_.size());
  name_of_tensor_.push_back(static_cast<std::int32_t>(name));
  Graph::Tensor& t = graph_.tensors_.emplace_back();
  t.size = Bytes(size);
  t.view_of = static_cast<TensorId>(view_of);
}

void GraphBuilder::AddOp(const OpSpec& op) {
  OpRow row;
  row.name = op.name;
  row.duration = op.duration;
  row.workspace = op.workspace;
  row.recomputable = op.recomputable;
  for (const std::string& name : op.inputs) row.inputs.push_back(Mention(name));
  for (const std::string& name : op.outputs) row.outputs.push_back(Mention(name));
  for (const auto& [from, to] : op.inplace) row.inplace.emplace_back(Mention(from), Mention(to));
  AddOp(row);
}

void GraphBuilder::AddOp(const OpRow& op) {
  if (op.name.empty()) Refuse("an op has an empty name");
  if (op.duration < 0)
    Refuse("op " + Quoted(op.name) + ": duration is " + std::to_string(op.duration) + ", expected >= 0");
  if (op.workspace < 0)
    Refuse("op " + Quoted(op.name) + ": workspace is " + std::to_string(op.workspace) + ", expected bytes >= 0");
  const std::size_t name = OpNamed(op.name);
  if (op_of_name_[name] >= 0) Refuse("op " + Quoted(op.name) + " is listed twice");
  op_of_name_[name] = static_cast<std::int32_t>(graph_.ops_.size());
  name_of_op_.push_back(static_cast<std::int32_t>(name));
  graph_.ops_.push_back({{}, Duration(op.duration), Bytes(op.workspace), op.recomputable});
  for (const TensorName t : op.inputs) graph_.inputs_.Push(static_cast<TensorId>(t));
  graph_.inputs_.EndRow();
  for (const TensorName t : op.outputs) {
    if (t == TensorName::kNone) Refuse("op " + Quoted(op.name) + ": an output has an empty name");
    graph_.outputs_.Push(static_cast<TensorId>(t));
  }
  graph_.outputs_.EndRow();
  for (const auto& [from, to] : op.inplace) {
    if (from == TensorName::kNone || to == TensorName::kNone)
      Refuse("op " + Quoted(op.name) + ": an in-place pair has an empty name");
    graph_.inplace_.Push({static_cast<TensorId>(from), static_cast<TensorId>(to)});
  }
  graph_.inplace_.EndRow();
}

void GraphBuilder::AddGraphOutput(TensorName tensor) {
  if (tensor == TensorName::kNone) Refuse("a graph output has an empty name");
  graph_.graph_outputs_.push_back(static_cast<TensorId>(tensor));
}

std::size_t GraphBuilder::OpNamed(std::string_view op) {
  const std::int32_t name = op_names_.Intern(op);
  if (op_names_.size() >= kMaxCount) Refuse("more than 2^31 - 2 ops");
  if (static_cast<std::size_t>(name) == op_of_name_.size()) op_of_name_.push_back(-1);
  return static_cast<std::size_t>(name);
}

Graph GraphBuilder::Build() {
  RefuseUndeclared();
  Graph g = std::move(graph_);
  LinkNames(g);
  *this = GraphBuilder();  // the tables are as large as the file's text
  LinkTensors(g);
  LinkOps(g);
  ResolveStorage(g);
  CheckInplace(g);
  SortOutputs(g);
  CheckSums(g);
  FindOrder(g);
  return g;
}

// Names that something speaks of, but that no tensor or op has.
void GraphBuilder::RefuseUndeclared() const {
  const Graph& g = graph_;
  if (names_.size() > g.tensors_.size()) {
    const auto unknown = [&](TensorId name) { return name != TensorId::kNone && tensor_of_name_[Index(name)] < 0; };
    const auto name_of = [&](TensorId name) { return Quoted(NameOf(static_cast<TensorName>(name))); };
    for (std::size_t i = 0; i < g.tensors_.size(); ++i)
      if (unknown(g.tensors_[i].view_of))
        Refuse("tensor " + Quoted(names_[name_of_tensor_[i]]) + " is a view of " + name_of(g.tensors_[i].view_of) +
               ", which is not a tensor");
    for (const TensorId t : g.graph_outputs_)
      if (unknown(t)) Refuse("graph output " + name_of(t) + " is not a tensor");
    for (std::size_t i = 0; i < g.ops_.size(); ++i) {
      const auto want = [&](TensorId t, const char* role) {
        if (unknown(t))
          Refuse("op " + Quoted(op_names_[name_of_op_[i]]) + ": " + role + " " + name_of(t) +
                 " is not a tensor of this graph");
      };
      for (const TensorId t : g.inputs_[i]) want(t, "input");
      for (const TensorId t : g.outputs_[i]) want(t, "output");
      for (const InplacePair& pair : g.inplace_[i]) {
        want(pair.input, "in-place input");
        want(pair.output, "in-place output");
      }
    }
  }
  if (op_names_.size() > g.ops_.size())
    for (const OpId op : g.order_)
      if (op_of_name_[Index(op)] < 0)
        Refuse("order: " + Quoted(op_names_[static_cast<std::int32_t>(op)]) + " is not an op");
}

// From the indices of names to those of tensors and ops, where these are not the same.
void GraphBuilder::LinkNames(Graph& g) {
  const auto in_order = [](const std::vector<std::int32_t>& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] != static_cast<std::int32_t>(i)) return false;
    return true;
  };
  if (!in_order(name_of_tensor_)) {
    const auto link = [&](TensorId& t) {
      if (t != TensorId::kNone) t = ToTensorId(static_cast<std::size_t>(tensor_of_name_[Index(t)]));
    };
    for (Graph::Tensor& t : g.tensors_) link(t.view_of);
    for (TensorId& t : g.graph_outputs_) link(t);
    g.inputs_.ForEach(link);
    g.outputs_.ForEach(link);
    g.inplace_.ForEach([&](InplacePair& pair) { link(pair.input), link(pair.output); });
  }
  if (!in_order(name_of_op_))
    for (OpId& op : g.order_) op = ToOpId(static_cast<std::size_t>(op_of_name_[Index(op)]));
  std::vector<std::string> names = names_.Take();
  for (std::size_t i = 0; i < g.tensors_.size(); ++i)
    g.tensors_[i].name = std::move(names[static_cast<std::size_t>(name_of_tensor_[i])]);
  names = op_names_.Take();
  for (std::size_t i = 0; i < g.ops_.size(); ++i)
    g.ops_[i].name = std::move(names[static_cast<std::size_t>(name_of_op_[i])]);
}

void GraphBuilder::LinkTensors(Graph& g) {
  for (std::size_t i = 0; i < g.tensors_.size(); ++i)
    if (g.tensors_[i].view_of == ToTensorId(i)) Refuse("tensor " + Quoted(g.tensors_[i].name) + " is a view of itself");
  // Listed twice is listed once.
  std::erase_if(g.graph_outputs_, [&](TensorId t) { return std::exchange(g.tensors_[Index(t)].graph_output, true); });
}

void GraphBuilder::LinkOps(Graph& g) {
  const auto name_of = [&](TensorId t) { return Quoted(g.tensor_name(t)); };
  for (std::size_t i = 0; i < g.ops_.size(); ++i) {
    const std::string& op = g.ops_[i].name;
    for (const TensorId t : g.outputs_[i]) {
      OpId& maker = g.tensors_[Index(t)].maker;
      if (maker == ToOpId(i)) Refuse("op " + Quoted(op) + ": output " + name_of(t) + " is listed twice");
      if (maker != OpId::kNone)
        Refuse("tensor " + name_of(t) + " has two makers: ops " + Quoted(g.op_name(maker)) + " and " + Quoted(op));
      maker = ToOpId(i);
    }
    for (const InplacePair& pair : g.inplace_[i]) {
      const auto refuse_pair = [&](const std::string& why) {
        Refuse("op " + Quoted(op) + ": in-place pair [" + name_of(pair.input) + ", " + name_of(pair.output) +
               "]: " + why);
      };
      const auto ins = g.inputs_[i];
      if (std::find(ins.begin(), ins.end(), pair.input) == ins.end())
        refuse_pair(name_of(pair.input) + " is not an input of the op");
      Graph::Tensor& o = g.tensors_[Index(pair.output)];
      if (o.maker != ToOpId(i)) refuse_pair(name_of(pair.output) + " is not an output of the op");
      if (o.overwrites != TensorId::kNone)
        Refuse("op " + Quoted(op) + ": output " + name_of(pair.output) + " stands in two in-place pairs");
      if (o.view_of != TensorId::kNone)
        Refuse("op " + Quoted(op) + ": output " + name_of(pair.output) + " is a view and cannot be in place as well");
      o.overwrites = pair.input;
    }
  }
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
  if (g.inplace_.size() == 0) return;
  const std::vector<TensorId> head_of = SegmentHeads(g);
  std::vector<TensorId> heads;
  boost::unordered_flat_map<TensorId, InplacePair> gone;  // segments that are overwritten for good
  for (std::size_t i = 0; i < g.ops_.size(); ++i) {
    const OpId op = ToOpId(i);
    heads.clear();
    for (const InplacePair& pair : g.inplace(op)) {
      const TensorId head = head_of[Index(pair.input)];
      if (std::find(heads.begin(), heads.end(), head) != heads.end())
        Refuse("op " + Quoted(g.op_name(op)) + ": two in-place outputs take over the storage of " +
               Quoted(g.tensor_name(pair.input)));
      heads.push_back(head);
      const OpId maker = g.maker(head);
      if (maker == OpId::kNone || !g.recomputable(maker)) gone.emplace(head, pair);
    }
    if (heads.empty()) continue;
    for (const TensorId t : g.outputs(op))
      if (g.view_of(t) != TensorId::kNone && std::find(heads.begin(), heads.end(), head_of[Index(t)]) != heads.end())
        Refuse("op " + Quoted(g.op_name(op)) + ": output " + Quoted(g.tensor_name(t)) + " is a view of " +
               Quoted(g.tensor_name(g.view_of(t))) + ", whose storage the same op overwrites");
  }
  if (gone.empty()) return;
  for (const TensorId t : g.graph_outputs())
    if (const auto it = gone.find(head_of[Index(t)]); it != gone.end())
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

}  // namespace ebb
