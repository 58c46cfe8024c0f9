// SPDX-License-Identifier: Apache-2.0
//
// The dump that PyTorch's partitioner writes into its structured trace (artifact `min_cut_information`): the joint
// graph of a training step, with bytes and run times for the values it considers recomputing, and shapes for the rest.
// What it lacks is assumed, and said: element sizes, run times of the others, which values share a storage (known view
// functions only), in-place updates (none). The exporter in python/ has all of this; this reader is for dumps that
// exist already.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/base/status.hpp"
#include "io/cost_model.hpp"
#include "io/graph_readers.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kSymbolic = 4096;  // what the partitioner itself takes where it has no hint for a size
constexpr double kMostRuntime = 1e15;

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Functions whose result is another name for their first argument (from PyTorch's native_functions.yaml, those with an
// alias annotation and no write).
bool IsView(std::string_view target) {
  static constexpr std::array<std::string_view, 30> kViews = {
      "view",           "_unsafe_view",     "permute",  "t",      "transpose",    "expand",          "slice",
      "select",         "unsqueeze",        "squeeze",  "alias",  "detach",       "split",           "chunk",
      "as_strided",     "unbind",           "diagonal", "unfold", "movedim",      "swapaxes",        "narrow",
      "view_as",        "split_with_sizes", "real",     "imag",   "view_as_real", "view_as_complex", "lift_fresh",
      "_reshape_alias", "expand_as"};
  const std::size_t at = target.find("aten.");
  if (at == std::string_view::npos) return false;
  const std::string_view name = target.substr(at + 5, target.find('.', at + 5) - at - 5);
  return std::find(kViews.begin(), kViews.end(), name) != kViews.end();
}
bool IsGetitem(std::string_view target) { return Contains(target, "getitem"); }
bool IsRandom(std::string_view target) {
  return Contains(target, "rand") || Contains(target, "bernoulli") || Contains(target, "dropout") ||
         Contains(target, "rngprims") || Contains(target, "multinomial");
}
// A placeholder's target is its name; a constant's the name of an attribute: words without a dot.
bool IsInput(std::string_view target) {
  return std::all_of(target.begin(), target.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// "torch.Size([2, 3])", "(2, 3)", "[]" as a number of elements.
std::int64_t Elements(std::string_view shape, bool& symbolic) {
  Int128 total = 1;
  std::size_t at = shape.find_first_of("[(");
  if (Contains(shape, "([")) at = shape.find('[');
  for (++at; at < shape.size();) {
    const std::size_t end = std::min(shape.find_first_of(",)]", at), shape.size());
    std::string_view item = shape.substr(at, end - at);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (!item.empty()) {
      std::int64_t value = 0;
      const auto [stop, code] = std::from_chars(item.data(), item.data() + item.size(), value);
      if (code != std::errc() || stop != item.data() + item.size() || value < 0) {
        value = kSymbolic;
        symbolic = true;
      }
      total *= value;
      if (total > (Int128{1} << 56)) throw InputError("the shape " + Quoted(shape) + " has more than 2^56 elements");
    }
    if (end >= shape.size() || shape[end] != ',') break;
    at = end + 1;
  }
  return static_cast<std::int64_t>(total);
}

double Number(JsonView v, const What& what) {
  const double d = v.is(JsonKind::kInteger) ? static_cast<double>(v.integer()) : v.real();
  if ((!v.is(JsonKind::kInteger) && !v.is(JsonKind::kReal)) || !(d >= 0) || !std::isfinite(d))
    throw InputError(what.Text() + " is " + Describe(v) + ", a number >= 0 is wanted");
  return d;
}

constexpr std::array<KeyedSink::Key, 7> kKeys = {{{"Joint Graph Node Information", KeyedSink::Form::kValue},
                                                  {"Absolute Memories", KeyedSink::Form::kList},
                                                  // What the partitioner chose, and the edges a second time: they
                                                  // tell the format, but are not read.
                                                  {"Joint Graph Size", KeyedSink::Form::kEither},
                                                  {"Joint Graph Edges", KeyedSink::Form::kEither},
                                                  {"Recomputable Banned Nodes Order", KeyedSink::Form::kEither},
                                                  {"Knapsack Input Runtimes", KeyedSink::Form::kEither},
                                                  {"Knapsack Input Memories", KeyedSink::Form::kEither}}};

class TorchReader final : public JsonGraphReader {
 public:
  explicit TorchReader(Warnings& warnings) : JsonGraphReader(kKeys, "", warnings) {}
  Graph Finish() override;

 private:
  struct Node {
    std::string name, target;
    std::vector<std::string> inputs;
    std::int64_t index = 0, candidate = -1, elements = 0;
    double memory = -1, runtime = -1, bytes = -1;  // -1: the dump does not say
    bool has_shape = false;
  };
  void Take(std::string_view key, JsonView value) override;
  void ReadNode(std::string_view name, JsonView value);

  std::vector<Node> nodes_;
  std::vector<double> bytes_;  // of the candidates
  bool symbolic_ = false;
};

void TorchReader::Take(std::string_view key, JsonView value) {
  if (key == "Joint Graph Node Information") {
    WantKind(value, JsonKind::kObject, "\"Joint Graph Node Information\"");
    value.ForEachMember([&](std::string_view name, JsonView node) { ReadNode(name, node); });
  } else if (key == "Absolute Memories") {
    bytes_.push_back(Number(value, "one of \"Absolute Memories\""));
  }
}

void TorchReader::ReadNode(std::string_view name, JsonView value) {
  const What where("node", name);
  WantKind(value, JsonKind::kObject, where);
  Node node;
  node.name = name;
  if (name.empty()) throw InputError("a node has an empty name");
  bool has_index = false, has_target = false, has_inputs = false;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "index") {
      node.index = WholeNumber(v, {"the index of node", name});
      has_index = true;
    } else if (key == "target") {
      node.target = Text(v, {"the target of node", name});
      has_target = true;
    } else if (key == "shape") {
      if (v.is(JsonKind::kString)) {
        node.elements = Elements(v.text(), symbolic_);
        node.has_shape = v.text() != "[]";
      }
    } else if (key == "input_arguments") {
      WantKind(v, JsonKind::kArray, {"the inputs of node", name});
      has_inputs = true;
      for (const JsonView i : v) node.inputs.emplace_back(Text(i, {"an input of node", name}));
    } else if (key == "recomputable_candidate_info") {
      WantKind(v, JsonKind::kObject, where);
      v.ForEachMember([&](std::string_view k, JsonView x) {
        if (k == "recomputable_node_idx")
          node.candidate = WholeNumber(x, {"the candidate's number of node", name});
        else if (k == "memory")
          node.memory = Number(x, {"the memory of node", name});
        else if (k == "runtime")
          node.runtime = Number(x, {"the runtime of node", name});
      });
    }
  });
  if (!has_index || !has_target || !has_inputs)
    throw InputError(where.Text() + " wants \"index\", \"target\" and \"input_arguments\"");
  nodes_.push_back(std::move(node));
}

Graph TorchReader::Finish() {
  if (!Has("Joint Graph Node Information")) throw InputError("the dump has no \"Joint Graph Node Information\"");
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) { return a.index < b.index; });
  boost::unordered_flat_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (!index.emplace(nodes_[i].name, i).second) throw InputError("two nodes are called " + Quoted(nodes_[i].name));

  // Bytes of the candidates: exact where the dump has them, else the "memory" of a node where those are no fractions.
  double largest = 0;
  bool runtimes_whole = true;
  for (const Node& n : nodes_) {
    if (n.memory >= 0) largest = std::max(largest, n.memory);
    if (n.runtime >= 0 && n.runtime != std::floor(n.runtime)) runtimes_whole = false;
  }
  std::map<std::int64_t, std::size_t> element_sizes;
  for (Node& n : nodes_) {
    n.bytes = -1;
    if (Has("Absolute Memories") && n.candidate >= 0 && n.candidate < static_cast<std::int64_t>(bytes_.size()))
      n.bytes = bytes_[static_cast<std::size_t>(n.candidate)];
    else if (!Has("Absolute Memories") && largest > 1 && n.memory >= 0)
      n.bytes = n.memory;
    if (n.bytes > 0x1p56) throw InputError("the memory of node " + Quoted(n.name) + " is past 2^56 bytes");
    if (n.bytes > 0 && n.has_shape && n.elements > 0) {
      const auto per = static_cast<std::int64_t>(n.bytes) / n.elements;
      if (per >= 1 && per <= 16 && per * n.elements == static_cast<std::int64_t>(n.bytes)) ++element_sizes[per];
    }
  }
  std::int64_t per_element = 4;
  std::size_t votes = 0;
  for (const auto& [size, count] : element_sizes)
    if (count > votes) per_element = size, votes = count;
  std::size_t assumed_sizes = 0, assumed_times = 0;
  double known_time = 0, known_bytes = 0;
  for (Node& n : nodes_) {
    if (n.bytes < 0) {
      n.bytes = n.has_shape ? static_cast<double>(n.elements) * static_cast<double>(per_element) : 0;
      if (n.target != "output") ++assumed_sizes;
    }
    if (n.runtime >= 0) known_time += n.runtime, known_bytes += n.bytes;
  }
  // Run times are flops where the partitioner counted, milliseconds where it measured.
  const double scale = runtimes_whole ? 1 : 1e6;
  const double per_byte = known_bytes > 0 ? known_time / known_bytes : 0;

  GraphBuilder builder;
  if (!runtimes_whole) builder.SetDurationUnit("ns");
  std::vector<std::vector<std::string>> items(nodes_.size());  // the getitems of a node that has several results
  std::size_t views = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    for (const std::string& in : n.inputs)
      if (!index.contains(in))
        throw InputError("node " + Quoted(n.name) + " reads " + Quoted(in) + ", which is no node");
    if (IsGetitem(n.target) && !n.inputs.empty()) items[index.find(n.inputs[0])->second].push_back(n.name);
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    if (n.target == "output") {
      for (const std::string& in : n.inputs) builder.AddGraphOutput(in);
      continue;
    }
    const bool view = IsView(n.target) && !n.inputs.empty();
    views += view ? 1 : 0;
    builder.AddTensor(n.name, static_cast<std::int64_t>(n.bytes), view ? n.inputs[0] : std::string());
    if (n.inputs.empty() && IsInput(n.target)) continue;
    if (IsGetitem(n.target) && !n.inputs.empty()) continue;  // an output of the node it takes from
    GraphBuilder::OpSpec op;
    op.name = n.name;
    op.inputs = n.inputs;
    op.outputs = {n.name};
    op.outputs.insert(op.outputs.end(), items[i].begin(), items[i].end());
    op.recomputable = !IsRandom(n.target);
    double time = 0;
    if (n.runtime >= 0) {
      time = n.runtime * scale;
    } else if (!view) {
      double bytes = n.bytes;
      for (const std::string& item : items[i]) bytes += nodes_[index.find(item)->second].bytes;
      time = std::max(1.0, bytes * per_byte * scale);
      ++assumed_times;
    }
    if (time > kMostRuntime) throw InputError("the run time of node " + Quoted(n.name) + " is past 10^15");
    op.duration = static_cast<std::int64_t>(std::llround(time));
    builder.AddOp(std::move(op));
  }
  warnings_.Say("sizes of " + std::to_string(assumed_sizes) + " of " + std::to_string(nodes_.size()) +
                " nodes are assumed: elements of the shape times " + std::to_string(per_element) + " bytes");
  warnings_.Say("durations of " + std::to_string(assumed_times) +
                " ops are assumed: in proportion to their bytes, as the candidates' are; known views take none");
  warnings_.Say(std::to_string(views) +
                " known view functions share their first input's storage; in-place updates are not in the dump");
  if (symbolic_) warnings_.Say("symbolic sizes count as " + std::to_string(kSymbolic));
  return builder.Build();
}

}  // namespace

constinit const JsonGraphFormat kTorchFormat{kKeys, [](Warnings& warnings) -> std::unique_ptr<JsonGraphReader> {
                                               return std::make_unique<TorchReader>(warnings);
                                             }};

}  // namespace ebb
