// SPDX-License-Identifier: Apache-2.0
//
// networkx's node-link JSON as Checkmate (cost_cpu, cost_ram, source, target, id) and Moccasin (duration, out_cost,
// "0", "1", no id) write it. One node is one op with one tensor, both named by the node's id; a node without an id is
// named by its index. The attribute `order` of the graph gives the order.
#include <array>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

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

constexpr std::array<KeyedSink::Key, 7> kKeys = {{{"directed", KeyedSink::Form::kValue},
                                                  {"multigraph", KeyedSink::Form::kValue},
                                                  {"graph", KeyedSink::Form::kEither},  // an object or a list of pairs
                                                  {"nodes", KeyedSink::Form::kList},
                                                  {"links", KeyedSink::Form::kList},
                                                  {"edges", KeyedSink::Form::kList},
                                                  {"name", KeyedSink::Form::kValue}}};

class NodeLinkReader final : public JsonGraphReader {
 public:
  explicit NodeLinkReader(Warnings& warnings) : JsonGraphReader(kKeys, "the graph", warnings) {}
  Graph Finish() override;

 private:
  void Take(std::string_view key, JsonView value) override;
  void ReadNode(JsonView value);
  void ReadLink(JsonView value);
  void ReadAttribute(std::string_view key, JsonView value);  // of "graph"
  std::int32_t Intern(JsonView id, const std::string& what);

  struct Node {
    std::string id;
    std::int64_t size = 0, duration = 0;
    bool declared = false;
  };
  std::string name_;
  boost::unordered_flat_map<std::string, std::int32_t> index_;
  std::vector<Node> nodes_;             // in order of first mention, also by a link
  std::vector<std::int32_t> declared_;  // nodes in file order
  std::vector<std::pair<std::int32_t, std::int32_t>> links_;
  std::vector<std::string> order_;
  bool has_order_ = false;
};

void NodeLinkReader::Take(std::string_view key, JsonView value) {
  if (key == "nodes") {
    ReadNode(value);
  } else if (key == "links" || key == "edges") {
    ReadLink(value);
  } else if (key == "graph") {
    if (value.is(JsonKind::kArray)) {
      if (value.size() != 2) throw InputError("an entry of \"graph\" is no pair of a name and a value");
      auto it = value.begin();
      const std::string_view name = Text(*it, "the name of an attribute of \"graph\"");
      ++it;
      ReadAttribute(name, *it);
    } else {
      WantKind(value, JsonKind::kObject, "\"graph\"");
      value.ForEachMember([&](std::string_view k, JsonView v) { ReadAttribute(k, v); });
    }
  } else if (key == "directed") {
    if (!Boolean(value, "\"directed\"")) throw InputError("the graph is undirected, a directed one is wanted");
  } else if (key == "multigraph") {
    static_cast<void>(Boolean(value, "\"multigraph\""));
  } else {
    name_ = Text(value, "the graph's name");
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
  if (!Has("nodes")) throw InputError("the graph has no \"nodes\"");
  if (Has("links") && Has("edges")) throw InputError("the graph has both \"links\" and \"edges\"");
  if (!Has("links") && !Has("edges")) throw InputError("the graph has neither \"links\" nor \"edges\"");
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

}  // namespace

constinit const JsonGraphFormat kNodeLinkFormat{kKeys, [](Warnings& warnings) -> std::unique_ptr<JsonGraphReader> {
                                                  return std::make_unique<NodeLinkReader>(warnings);
                                                }};

}  // namespace ebb
