// SPDX-License-Identifier: Apache-2.0
//
// networkx's node-link JSON as Checkmate (cost_cpu, cost_ram, source, target, id) and Moccasin (duration, out_cost,
// "0", "1", no id) write it. One node is one op with one tensor, both named by the node's id; a node without an id is
// named by its index. The attribute `order` of the graph gives the order.
#include <array>
#include <utility>
#include <vector>

#include "engine/base/status.hpp"
#include "io/graph_readers.hpp"

namespace ebb {
namespace {

bool OneOf(std::string_view key, std::initializer_list<std::string_view> keys) {
  for (const std::string_view k : keys)
    if (k == key) return true;
  return false;
}

std::string IdText(JsonView id, const What& what) {
  if (id.is(JsonKind::kInteger)) return std::to_string(id.integer());
  if (id.is(JsonKind::kString)) {
    if (id.text().empty()) throw InputError(what.Text() + " is empty");
    return std::string(id.text());
  }
  throw InputError(what.Text() + " is " + Describe(id) + ", a whole number or a string is wanted");
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
  using Name = GraphBuilder::TensorName;
  void Take(std::string_view key, JsonView value) override;
  void ReadNode(JsonView value);
  void ReadLink(JsonView value);
  void ReadAttribute(std::string_view key, JsonView value);  // of "graph"
  Name Mention(JsonView id, const What& what) { return builder_.Mention(IdText(id, what)); }

  // A node is the name of its tensor in the builder from its first mention, be it in a link.
  struct Node {
    Name name;
    std::int64_t duration;
  };
  struct Link {
    Name from, to;
  };
  GraphBuilder builder_;
  std::vector<Node> nodes_;  // in file order
  std::vector<Link> links_;
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
    builder_.SetName(Text(value, "the graph's name"));
  }
}

void NodeLinkReader::ReadAttribute(std::string_view key, JsonView value) {
  if (key == "name") {
    builder_.SetName(Text(value, "the graph's name"));
  } else if (key == "order") {
    if (has_order_) throw InputError("the graph has the attribute \"order\" twice");
    has_order_ = true;
    WantKind(value, JsonKind::kArray, "the attribute \"order\" of \"graph\"");
    builder_.BeginOrder();
    for (const JsonView id : value) builder_.AddToOrder(IdText(id, "a node in \"order\""));
  }
  // Attributes are anybody's: networkx keeps drawings, sources and notes here.
}

void NodeLinkReader::ReadNode(JsonView value) {
  const auto number = static_cast<std::int64_t>(nodes_.size());
  const What which("node number", number);
  WantKind(value, JsonKind::kObject, which);
  Name name = Name::kNone;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key != "id") return;
    if (name != Name::kNone) throw InputError(which.Text() + " has the key \"id\" twice");
    name = Mention(v, {"the id of node number", number});
  });
  if (name == Name::kNone) name = builder_.Mention(std::to_string(number));
  const std::string_view id = builder_.NameOf(name);
  const What where("node", id);
  if (builder_.IsDeclared(name)) throw InputError("two nodes have the id " + Quoted(id));

  // Where a node carries both spellings, Moccasin's counts.
  std::int64_t size = 0, duration = 0;
  int size_rank = 0, time_rank = 0;
  const auto take = [&](std::int64_t& into, int& rank, int mine, const char* what, JsonView v) {
    if (rank == mine) throw InputError(What(what, id).Text() + " comes twice");
    if (rank > mine) return;
    into = WholeNumber(v, {what, id});
    rank = mine;
  };
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "out_cost")
      take(size, size_rank, 2, "'out_cost' of node", v);
    else if (key == "cost_ram")
      take(size, size_rank, 1, "'cost_ram' of node", v);
    else if (key == "duration")
      take(duration, time_rank, 2, "'duration' of node", v);
    else if (key == "cost_cpu")
      take(duration, time_rank, 1, "'cost_cpu' of node", v);
    else if (!OneOf(key, {"id", "name", "backward", "param_cost", "pos", "label"}))
      warnings_.UnknownKey(key, "nodes");
  });
  if (size_rank == 0) throw InputError(where.Text() + " has no size (\"out_cost\" or \"cost_ram\")");
  if (time_rank == 0) throw InputError(where.Text() + " has no duration (\"duration\" or \"cost_cpu\")");
  if (size < 0) throw InputError("the size of " + where.Text() + " is " + std::to_string(size) + ", negative");
  if (duration < 0)
    throw InputError("the duration of " + where.Text() + " is " + std::to_string(duration) + ", negative");
  builder_.AddTensor(name, size);
  nodes_.push_back({name, duration});
}

void NodeLinkReader::ReadLink(JsonView value) {
  const auto number = static_cast<std::int64_t>(links_.size());
  const What which("link number", number);
  WantKind(value, JsonKind::kObject, which);
  Link link{Name::kNone, Name::kNone};
  const auto take = [&](Name& into, const char* what, JsonView v) {
    if (into != Name::kNone)
      throw InputError(which.Text() + " names its " + (&into == &link.from ? "source" : "target") + " twice");
    into = Mention(v, {what, number});
  };
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "source")
      take(link.from, "'source' of link number", v);
    else if (key == "0")
      take(link.from, "'0' of link number", v);
    else if (key == "target")
      take(link.to, "'target' of link number", v);
    else if (key == "1")
      take(link.to, "'1' of link number", v);
    // other keys are attributes of the edge
  });
  if (link.from == Name::kNone) throw InputError(which.Text() + " has no source (\"source\" or \"0\")");
  if (link.to == Name::kNone) throw InputError(which.Text() + " has no target (\"target\" or \"1\")");
  links_.push_back(link);
}

Graph NodeLinkReader::Finish() {
  if (!Has("nodes")) throw InputError("the graph has no \"nodes\"");
  if (Has("links") && Has("edges")) throw InputError("the graph has both \"links\" and \"edges\"");
  if (!Has("links") && !Has("edges")) throw InputError("the graph has neither \"links\" nor \"edges\"");
  for (const Link& link : links_)
    for (const auto& [end, other] : {std::pair(link.from, link.to), std::pair(link.to, link.from)})
      if (!builder_.IsDeclared(end))
        throw InputError("a link of node " + Quoted(builder_.NameOf(other)) + " names node " +
                         Quoted(builder_.NameOf(end)) + ", which does not exist");

  // Links by their target, in file order: begin[name] is where the sources of a name start.
  const auto index = [](Name name) { return static_cast<std::size_t>(name); };
  std::vector<std::size_t> begin(nodes_.size() + 1, 0);
  for (const Link& link : links_) ++begin[index(link.to) + 1];
  for (std::size_t i = 0; i < nodes_.size(); ++i) begin[i + 1] += begin[i];
  std::vector<Name> sources(links_.size());
  {
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (const Link& link : links_) sources[next[index(link.to)]++] = link.from;
    links_ = {};
  }

  std::vector<Name> listed_for(nodes_.size(), Name::kNone);  // a link may come twice (multigraph)
  GraphBuilder::OpRow op;
  for (const Node& node : nodes_) {
    op.name = builder_.NameOf(node.name);
    op.duration = node.duration;
    op.outputs.assign(1, node.name);
    op.inputs.clear();
    for (std::size_t i = begin[index(node.name)]; i < begin[index(node.name) + 1]; ++i)
      if (std::exchange(listed_for[index(sources[i])], node.name) != node.name) op.inputs.push_back(sources[i]);
    builder_.AddOp(op);
  }
  return builder_.Build();
}

}  // namespace

constinit const JsonGraphFormat kNodeLinkFormat{kKeys, [](Warnings& warnings) -> std::unique_ptr<JsonGraphReader> {
                                                  return std::make_unique<NodeLinkReader>(warnings);
                                                }};

}  // namespace ebb
