// SPDX-License-Identifier: Apache-2.0
//
// The native format. Names are checked for what they are by GraphBuilder; here stand the JSON types, the version, and
// keys that come twice or that nobody knows.
#include <array>

#include "engine/base/status.hpp"
#include "io/graph_readers.hpp"

namespace ebb {
namespace {

// Which of the known keys an object has had, so that a second one is refused.
class Seen {
 public:
  void Mark(unsigned bit, std::string_view key, const What& where) {
    if ((bits_ >> bit & 1U) != 0) throw InputError(where.Text() + " has the key " + Quoted(key) + " twice");
    bits_ |= 1U << bit;
  }
  [[nodiscard]] bool Has(unsigned bit) const { return (bits_ >> bit & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

// The record's name, looked up first because every other message wants it.
std::string_view NameOf(JsonView value, const What& which) {
  WantKind(value, JsonKind::kObject, which);
  std::string_view name;
  bool found = false;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key != "name") return;
    if (found) throw InputError(which.Text() + " has the key \"name\" twice");
    found = true;
    if (!v.is(JsonKind::kString)) static_cast<void>(Text(v, "the name of " + which.Text()));
    name = v.text();
  });
  if (!found) throw InputError(which.Text() + " has no name");
  if (name.empty()) throw InputError("the name of " + which.Text() + " is empty");
  return name;
}

constexpr std::array<KeyedSink::Key, 8> kKeys = {{{"format", KeyedSink::Form::kValue},
                                                  {"version", KeyedSink::Form::kValue},
                                                  {"name", KeyedSink::Form::kValue},
                                                  {"duration_unit", KeyedSink::Form::kValue},
                                                  {"tensors", KeyedSink::Form::kList},
                                                  {"ops", KeyedSink::Form::kList},
                                                  {"outputs", KeyedSink::Form::kList},
                                                  {"order", KeyedSink::Form::kList}}};

class NativeReader final : public JsonGraphReader {
 public:
  explicit NativeReader(Warnings& warnings) : JsonGraphReader(kKeys, "the graph", warnings) {}
  Graph Finish() override;

 private:
  void Take(std::string_view key, JsonView value) override;
  void ReadTensor(JsonView value);
  void ReadOp(JsonView value);
  void ReadNames(JsonView list, const What& what, std::vector<GraphBuilder::TensorName>& out);

  GraphBuilder builder_;
  GraphBuilder::OpRow op_;  // the one being read
  std::size_t ops_ = 0, tensors_ = 0;
};

void NativeReader::Take(std::string_view key, JsonView value) {
  if (key == "ops") {
    ReadOp(value);
  } else if (key == "tensors") {
    ReadTensor(value);
  } else if (key == "outputs") {
    builder_.AddGraphOutput(Text(value, "one of the graph's outputs"));
  } else if (key == "order") {
    builder_.AddToOrder(Text(value, "one of the ops in \"order\""));
  } else if (key == "format") {
    const std::string_view format = Text(value, "\"format\"");
    if (format == "ebbtide-plan") throw InputError("this is a plan (\"ebbtide-plan\"), a graph is wanted");
    if (format != "ebbtide-graph")
      throw InputError("unknown format " + Quoted(format) + ", \"ebbtide-graph\" is wanted");
  } else if (key == "version") {
    WantVersion(value, "the file");
  } else if (key == "name") {
    builder_.SetName(Text(value, "the graph's name"));
  } else {
    builder_.SetDurationUnit(Text(value, "\"duration_unit\""));
  }
}

void NativeReader::ReadTensor(JsonView value) {
  const std::string_view name = NameOf(value, {"tensor number", static_cast<std::int64_t>(++tensors_)});
  const What where("tensor", name);
  std::string_view view_of;
  std::int64_t size = 0;
  enum : unsigned { kSize, kViewOf };
  Seen seen;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "size") {
      seen.Mark(kSize, key, where);
      size = WholeNumber(v, {"the size of tensor", name});
    } else if (key == "view_of") {
      seen.Mark(kViewOf, key, where);
      if (v.is(JsonKind::kNull)) return;  // some writers spell "no view" so
      view_of = Text(v, {"\"view_of\" of tensor", name});
      if (view_of.empty()) throw InputError("\"view_of\" of " + where.Text() + " is empty");
    } else if (key != "name") {
      warnings_.UnknownKey(key, "tensors");
    }
  });
  if (!seen.Has(kSize)) throw InputError(where.Text() + " has no size");
  builder_.AddTensor(name, size, view_of);
}

void NativeReader::ReadNames(JsonView list, const What& what, std::vector<GraphBuilder::TensorName>& out) {
  WantKind(list, JsonKind::kArray, what);
  for (const JsonView v : list) {
    if (!v.is(JsonKind::kString)) static_cast<void>(Text(v, "one of " + what.Text()));
    out.push_back(builder_.Mention(v.text()));
  }
}

void NativeReader::ReadOp(JsonView value) {
  op_.name = NameOf(value, {"op number", static_cast<std::int64_t>(++ops_)});
  op_.workspace = 0;
  op_.recomputable = true;
  op_.inputs.clear();
  op_.outputs.clear();
  op_.inplace.clear();
  const What where("op", op_.name);
  enum : unsigned { kDuration, kWorkspace, kRecomputable, kInputs, kOutputs, kInplace };
  Seen seen;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "duration") {
      seen.Mark(kDuration, key, where);
      op_.duration = WholeNumber(v, {"the duration of op", op_.name});
    } else if (key == "inputs") {
      seen.Mark(kInputs, key, where);
      ReadNames(v, {"the inputs of op", op_.name}, op_.inputs);
    } else if (key == "outputs") {
      seen.Mark(kOutputs, key, where);
      ReadNames(v, {"the outputs of op", op_.name}, op_.outputs);
    } else if (key == "workspace") {
      seen.Mark(kWorkspace, key, where);
      op_.workspace = WholeNumber(v, {"the workspace of op", op_.name});
    } else if (key == "recomputable") {
      seen.Mark(kRecomputable, key, where);
      op_.recomputable = Boolean(v, {"\"recomputable\" of op", op_.name});
    } else if (key == "inplace") {
      seen.Mark(kInplace, key, where);
      WantKind(v, JsonKind::kArray, {"\"inplace\" of op", op_.name});
      std::vector<GraphBuilder::TensorName> names;
      for (const JsonView pair : v) {
        names.clear();
        ReadNames(pair, {"the pairs of \"inplace\" of op", op_.name}, names);
        if (names.size() != 2)
          throw InputError("\"inplace\" of " + where.Text() + " holds an entry of " + std::to_string(names.size()) +
                           " names, pairs of an input and an output are wanted");
        op_.inplace.emplace_back(names[0], names[1]);
      }
    } else if (key != "name") {
      warnings_.UnknownKey(key, "ops");
    }
  });
  if (!seen.Has(kDuration)) throw InputError(where.Text() + " has no duration");
  if (!seen.Has(kInputs)) throw InputError(where.Text() + " has no inputs (an empty list says that there are none)");
  if (!seen.Has(kOutputs)) throw InputError(where.Text() + " has no outputs (an empty list says that there are none)");
  builder_.AddOp(op_);
}

Graph NativeReader::Finish() {
  if (!Has("format"))
    warnings_.Say("no \"format\": read as \"ebbtide-graph\"");
  else if (!Has("version"))
    warnings_.Say("no \"version\": read as version 1");
  if (!Has("ops")) throw InputError("the graph has no \"ops\"");
  if (!Has("tensors")) throw InputError("the graph has no \"tensors\"");
  if (Has("order")) builder_.BeginOrder();  // also where it is empty
  return builder_.Build();
}

}  // namespace

constinit const JsonGraphFormat kNativeFormat{kKeys, [](Warnings& warnings) -> std::unique_ptr<JsonGraphReader> {
                                                return std::make_unique<NativeReader>(warnings);
                                              }};

}  // namespace ebb
