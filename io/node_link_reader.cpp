// SPDX-License-Identifier: Apache-2.0
//
// networkx's node-link JSON as Checkmate (cost_cpu, cost_ram, source, target, id) and Moccasin (duration, out_cost,
// "0", "1", no id) write it. One node is one op with one tensor, both named by the node's id; a node without an id is
// named by its index. The attribute `order` of the graph gives the order.
#include <array>

#include "engine/base/status.hpp"
#include "io/graph_readers.hpp"

namespace ebb {
namespace {

bool OneOf(std::string_view key, std::initializer_list<std::string_view> keys) {
  for (const std::string_view k : keys)
    if (k == key) return true;
  return false;
}

std::string IdText(JsonView id, const std::string& what) {
  if (id.is(JsonKind::kInteger)) return std::to_string(id.integer());
  if (id.is(JsonKind::kString)) {
    if (id.text().empty()) throw InputError(what + " is empty");
    return std::string(id.text());
  }
  throw InputError(what + " is " + Describe(id) + ", a whole number or a string is wanted");
}

}  // namespace

bool NodeLinkReader::Knows(std::string_view key) {
  return OneOf(key, {"directed", "multigraph", "graph", "nodes", "links", "edges"});
}

void NodeLinkReader::OnMember(std::string_view key, JsonView value) {
  if (key == "directed") {
    if (!Boolean(value, "\"directed\"")) throw InputError("the graph is undirected, a directed one is wanted");
  } else if (key == "multigraph") {
    static_cast<void>(Boolean(value, "\"multigraph\""));
  } else if (key == "graph") {
    WantKind(value, JsonKind::kObject, "\"graph\"");
    value.ForEachMember([&](std::string_view k, JsonView v) { ReadAttribute(k, v); });
  } else if (key == "name") {
    name_ = Text(value, "the graph's name");
  } else if (Knows(key)) {
    throw InputError(Quoted(key) + " is " + Describe(value) + ", an array is wanted");
  } else {
    warnings_.UnknownKey(key, "the graph");
  }
}

void NodeLinkReader::OnArray(std::string_view key) {
  if (key == "nodes") {
    has_nodes_ = true;
  } else if (key == "links" || key == "edges") {
    if (has_links_) throw InputError("the graph has both \"links\" and \"edges\"");
    has_links_ = true;
  } else if (key == "graph") {
    // a list of pairs
  } else if (Knows(key)) {
    throw InputError(Quoted(key) + " is an array, a single value is wanted");
  } else {
    warnings_.UnknownKey(key, "the graph");
  }
}

void NodeLinkReader::OnElement(std::string_view key, JsonView value) {
  if (key == "nodes") {
    ReadNode(value);
  } else if (key == "links" || key == "edges") {
    ReadLink(value);
  } else if (key == "graph") {
    WantKind(value, JsonKind::kArray, "an entry of \"graph\"");
    if (value.size() != 2) throw InputError("an entry of \"graph\" is no pair of a name and a value");
    auto it = value.begin();
    const std::string_view name = Text(*it, "the name of an attribute of \"graph\"");
    ++it;
    ReadAttribute(name, *it);
  }
}

void NodeLinkReader::ReadAttribute(std::string_view key, JsonView value) {
  if (key == "name") {
    name_ = Text(value, "the graph's name");
  } else if (key == "order") {
    if (has_order_) throw InputError("the graph has the attribute \"order\" twice");
    has_order_ = true;
    WantKind(value, JsonKind::kArray, "the attribute \"order\" of \"graph\"");
    order_.reserve(value.size());
    for (const JsonView id : value) order_.push_back(IdText(id, "a node in \"order\""));
  }
  // Attributes are anybody's: networkx keeps drawings, sources and notes here.
}

std::int32_t NodeLinkReader::Intern(JsonView id, const std::string& what) {
  std::string text = IdText(id, what);
  const auto [it, fresh] = index_.try_emplace(std::move(text), static_cast<std::int32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({it->first, 0, 0, false});
  return it->second;
}

void NodeLinkReader::ReadNode(JsonView value) {
  const std::string number = "node number " + std::to_string(declared_.size());
  WantKind(value, JsonKind::kObject, number);
  std::int32_t index = -1;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key != "id") return;
    if (index >= 0) throw InputError(number + " has the key \"id\" twice");
    index = Intern(v, "the id of " + number);
  });
  if (index < 0) {
    JsonTape tape;
    tape.Add(JsonKind::kInteger, static_cast<std::int64_t>(declared_.size()));
    index = Intern(JsonView(tape, 0), number);
  }
  Node& node = nodes_[static_cast<std::size_t>(index)];
  const std::string where = "node " + Quoted(node.id);
  if (node.declared) throw InputError("two nodes have the id " + Quoted(node.id));
  node.declared = true;
  declared_.push_back(index);

  // Where a node carries both spellings, Moccasin's counts.
  int size_rank = 0, time_rank = 0;
  const auto take = [&](std::int64_t& into, int& rank, int mine, std::string_view key, JsonView v) {
    if (rank == mine) throw InputError(where + " has the key " + Quoted(key) + " twice");
    if (rank > mine) return;
    into = WholeNumber(v, std::string(Quoted(key)) + " of " + where);
    rank = mine;
  };
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "out_cost")
      take(node.size, size_rank, 2, key, v);
    else if (key == "cost_ram")
      take(node.size, size_rank, 1, key, v);
    else if (key == "duration")
      take(node.duration, time_rank, 2, key, v);
    else if (key == "cost_cpu")
      take(node.duration, time_rank, 1, key, v);
    else if (!OneOf(key, {"id", "name", "backward", "param_cost", "pos", "label"}))
      warnings_.UnknownKey(key, "nodes");
  });
  if (size_rank == 0) throw InputError(where + " has no size (\"out_cost\" or \"cost_ram\")");
  if (time_rank == 0) throw InputError(where + " has no duration (\"duration\" or \"cost_cpu\")");
  if (node.size < 0) throw InputError("the size of " + where + " is " + std::to_string(node.size) + ", negative");
  if (node.duration < 0)
    throw InputError("the duration of " + where + " is " + std::to_string(node.duration) + ", negative");
}

void NodeLinkReader::ReadLink(JsonView value) {
  const std::string number = "link number " + std::to_string(links_.size());
  WantKind(value, JsonKind::kObject, number);
  std::int32_t from = -1, to = -1;
  const auto take = [&](std::int32_t& into, std::string_view key, JsonView v) {
    if (into >= 0) throw InputError(number + " names its " + (&into == &from ? "source" : "target") + " twice");
    into = Intern(v, Quoted(key) + " of " + number);
  };
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "source" || key == "0")
      take(from, key, v);
    else if (key == "target" || key == "1")
      take(to, key, v);
    // other keys are attributes of the edge
  });
  if (from < 0) throw InputError(number + " has no source (\"source\" or \"0\")");
  if (to < 0) throw InputError(number + " has no target (\"target\" or \"1\")");
  links_.emplace_back(from, to);
}

Graph NodeLinkReader::Finish() {
  if (!has_nodes_) throw InputError("the graph has no \"nodes\"");
  if (!has_links_) throw InputError("the graph has neither \"links\" nor \"edges\"");
  std::vector<std::vector<std::int32_t>> inputs(nodes_.size());
  for (const auto& [from, to] : links_) {
    for (const auto& [end, other] : {std::pair(from, to), std::pair(to, from)})
      if (!nodes_[static_cast<std::size_t>(end)].declared)
        throw InputError("a link of node " + Quoted(nodes_[static_cast<std::size_t>(other)].id) + " names node " +
                         Quoted(nodes_[static_cast<std::size_t>(end)].id) + ", which does not exist");
    inputs[static_cast<std::size_t>(to)].push_back(from);
  }
  links_ = {};

  GraphBuilder builder;
  builder.SetName(std::move(name_));
  std::vector<std::int32_t> listed_for(nodes_.size(), -1);  // a link may come twice (multigraph)
  for (const std::int32_t index : declared_) {
    const Node& node = nodes_[static_cast<std::size_t>(index)];
    builder.AddTensor(node.id, node.size);
    GraphBuilder::OpSpec op;
    op.name = node.id;
    op.duration = node.duration;
    op.outputs = {node.id};
    for (const std::int32_t from : inputs[static_cast<std::size_t>(index)]) {
      if (listed_for[static_cast<std::size_t>(from)] == index) continue;
      listed_for[static_cast<std::size_t>(from)] = index;
      op.inputs.push_back(nodes_[static_cast<std::size_t>(from)].id);
    }
    builder.AddOp(std::move(op));
  }
  if (has_order_) builder.SetOrder(std::move(order_));
  return builder.Build();
}

}  // namespace ebb
