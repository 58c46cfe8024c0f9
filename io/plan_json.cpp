// SPDX-License-Identifier: Apache-2.0
#include "io/plan_json.hpp"

#include <array>
#include <limits>

#include <boost/unordered/unordered_flat_map.hpp>

#include "engine/problem/fingerprint.hpp"
#include "io/atomic_file.hpp"
#include "io/byte_source.hpp"
#include "io/json_text.hpp"
#include "io/keyed_sink.hpp"
#include "io/reader_common.hpp"

namespace ebb {
namespace {

constexpr std::array<KeyedSink::Key, 14> kKeys = {{{"format", KeyedSink::Form::kValue},
                                                   {"version", KeyedSink::Form::kValue},
                                                   {"graph", KeyedSink::Form::kValue},
                                                   {"budget", KeyedSink::Form::kValue},
                                                   {"order", KeyedSink::Form::kValue},
                                                   {"status", KeyedSink::Form::kValue},
                                                   {"duration", KeyedSink::Form::kValue},
                                                   {"base_duration", KeyedSink::Form::kValue},
                                                   {"peak", KeyedSink::Form::kValue},
                                                   {"lower_bound", KeyedSink::Form::kValue},
                                                   {"gap", KeyedSink::Form::kValue},
                                                   {"executions", KeyedSink::Form::kList},
                                                   {"frees", KeyedSink::Form::kList},
                                                   {"offsets", KeyedSink::Form::kList}}};

class PlanReader final : public KeyedSink {
 public:
  PlanReader(const Graph& graph, Warnings& warnings) : KeyedSink(kKeys, "the plan", warnings), graph_(graph) {
    ops_.reserve(graph.num_ops());
    for (std::size_t i = 0; i < graph.num_ops(); ++i) ops_.emplace(graph.op_name(ToOpId(i)), ToOpId(i));
    tensors_.reserve(graph.num_tensors());
    for (std::size_t i = 0; i < graph.num_tensors(); ++i)
      tensors_.emplace(graph.tensor_name(ToTensorId(i)), ToTensorId(i));
  }

  PlanFile Finish();

 private:
  void Take(std::string_view key, JsonView value) override;
  void ReadGraphMember(JsonView value);
  void ReadExecution(JsonView value);
  void ReadFree(JsonView value);
  void ReadOffset(JsonView value);
  TensorId Tensor(JsonView value, const std::string& what) const {
    const auto it = tensors_.find(Text(value, what));
    if (it == tensors_.end())
      throw InputError(what + " is " + Quoted(value.text()) + ", which the graph does not have");
    return it->second;
  }
  static std::int32_t Index32(JsonView value, const std::string& what) {
    const std::int64_t i = WholeNumber(value, what);
    if (i < -1 || i > std::numeric_limits<std::int32_t>::max())
      throw InputError(what + " is " + std::to_string(i) + ", out of range");
    return static_cast<std::int32_t>(i);
  }

  const Graph& graph_;
  boost::unordered_flat_map<std::string_view, OpId> ops_;
  boost::unordered_flat_map<std::string_view, TensorId> tensors_;
  PlanFile file_;
  bool has_fingerprint_ = false;
  std::optional<std::int64_t> base_duration_;
};

void PlanReader::Take(std::string_view key, JsonView value) {
  if (key == "executions") {
    ReadExecution(value);
  } else if (key == "frees") {
    ReadFree(value);
  } else if (key == "offsets") {
    ReadOffset(value);
  } else if (key == "format") {
    const std::string_view format = Text(value, "\"format\"");
    if (format == "ebbtide-graph") throw InputError("this is a graph (\"ebbtide-graph\"), a plan is wanted");
    if (format != "ebbtide-plan") throw InputError("unknown format " + Quoted(format) + ", \"ebbtide-plan\" is wanted");
  } else if (key == "version") {
    WantVersion(value, "the plan");
  } else if (key == "graph") {
    ReadGraphMember(value);
  } else if (key == "budget") {
    if (!value.is(JsonKind::kNull)) file_.budget = Bytes(WholeNumber(value, "\"budget\""));
  } else if (key == "order") {
    const std::string_view text = Text(value, "\"order\"");
    if (text == "fixed")
      file_.order = OrderMode::kFixed;
    else if (text == "staged")
      file_.order = OrderMode::kStaged;
    else if (text == "free")
      file_.order = OrderMode::kFree;
    else
      throw InputError("\"order\" is " + Quoted(text) + ", fixed, staged or free is wanted");
  } else if (key == "status") {
    const std::string_view text = Text(value, "\"status\"");
    if (text == "optimal")
      file_.status = SolveStatus::kOptimal;
    else if (text == "feasible")
      file_.status = SolveStatus::kFeasible;
    else
      throw InputError("\"status\" is " + Quoted(text) + ", optimal or feasible is wanted");
  } else if (key == "duration") {
    file_.plan.duration = Duration(WholeNumber(value, "\"duration\""));
  } else if (key == "base_duration") {
    base_duration_ = WholeNumber(value, "\"base_duration\"");
  } else if (key == "peak") {
    file_.plan.peak = Bytes(WholeNumber(value, "\"peak\""));
  } else if (key == "lower_bound") {
    if (!value.is(JsonKind::kNull)) file_.lower_bound = Duration(WholeNumber(value, "\"lower_bound\""));
  }  // "gap" follows from duration and lower_bound
}

void PlanReader::ReadGraphMember(JsonView value) {
  WantKind(value, JsonKind::kObject, "\"graph\"");
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "fingerprint") {
      const std::string mine = Fingerprint(graph_);
      if (Text(v, "the fingerprint") != mine)
        throw InputError("the plan was made for another graph: its fingerprint is " + Quoted(v.text()) +
                         ", the graph's is \"" + mine + "\"");
      has_fingerprint_ = true;
    } else if (key != "name") {
      warnings_.UnknownKey(key, "the plan's graph");
    }
  });
}

void PlanReader::ReadExecution(JsonView value) {
  Plan& plan = file_.plan;
  const std::size_t position = plan.executions.size();
  if (position >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw InputError("the plan has more executions than can be numbered");
  const std::string where = "execution " + std::to_string(position);
  WantKind(value, JsonKind::kObject, where);
  bool has_op = false, has_inputs = false;
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "op") {
      if (has_op) throw InputError(where + " has the key \"op\" twice");
      has_op = true;
      const auto it = ops_.find(Text(v, "the op of " + where));
      if (it == ops_.end())
        throw InputError(where + " runs the op " + Quoted(v.text()) + ", which the graph does not have");
      plan.executions.push_back(it->second);
    } else if (key == "inputs") {
      if (has_inputs) throw InputError(where + " has the key \"inputs\" twice");
      has_inputs = true;
      WantKind(v, JsonKind::kArray, "the inputs of " + where);
      for (const JsonView i : v) {
        if (i.is(JsonKind::kNull)) {
          plan.inputs.Push(Plan::kAbsent);
          continue;
        }
        const std::int32_t producer = Index32(i, "a producer of " + where);
        if (producer >= static_cast<std::int32_t>(position))
          throw InputError("a producer of " + where + " is " + std::to_string(producer) + ", which is not earlier");
        plan.inputs.Push(producer);
      }
    } else {
      warnings_.UnknownKey(key, "executions");
    }
  });
  if (!has_op) throw InputError(where + " has no \"op\"");
  if (!has_inputs) throw InputError(where + " has no \"inputs\"");
  plan.inputs.EndRow();
}

void PlanReader::ReadFree(JsonView value) {
  const std::string where = "death " + std::to_string(file_.plan.frees.size());
  WantKind(value, JsonKind::kObject, where);
  Plan::Free f{-2, -2, TensorId::kNone};
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "after")
      f.after = Index32(v, "\"after\" of " + where);
    else if (key == "execution")
      f.execution = Index32(v, "\"execution\" of " + where);
    else if (key == "tensor")
      f.tensor = Tensor(v, "the tensor of " + where);
    else
      warnings_.UnknownKey(key, "frees");
  });
  if (f.after == -2 || f.execution == -2 || f.tensor == TensorId::kNone)
    throw InputError(where + " wants \"after\", \"execution\" and \"tensor\"");
  file_.plan.frees.push_back(f);
}

void PlanReader::ReadOffset(JsonView value) {
  const std::string where = "offset " + std::to_string(file_.offsets.size());
  WantKind(value, JsonKind::kObject, where);
  PlanFile::Offset o{-2, TensorId::kNone, Bytes(-1)};
  value.ForEachMember([&](std::string_view key, JsonView v) {
    if (key == "execution")
      o.execution = Index32(v, "\"execution\" of " + where);
    else if (key == "tensor")
      o.tensor = Tensor(v, "the tensor of " + where);
    else if (key == "offset")
      o.offset = Bytes(WholeNumber(v, "\"offset\" of " + where));
    else
      warnings_.UnknownKey(key, "offsets");
  });
  if (o.execution == -2 || o.tensor == TensorId::kNone || o.offset < Bytes(0))
    throw InputError(where + " wants \"execution\", \"tensor\" and \"offset\"");
  file_.offsets.push_back(o);
}

PlanFile PlanReader::Finish() {
  if (!Has("format")) throw InputError("no plan in it: \"format\" is missing, \"ebbtide-plan\" is wanted");
  if (!has_fingerprint_)
    throw InputError("the plan does not say which graph it is for (\"graph\" with \"fingerprint\")");
  if (!Has("executions")) throw InputError("the plan has no \"executions\"");
  if (!Has("frees")) throw InputError("the plan has no \"frees\"");
  if (!Has("duration")) throw InputError("the plan has no \"duration\"");
  if (!Has("peak")) throw InputError("the plan has no \"peak\"");
  if (base_duration_ && *base_duration_ != graph_.base_duration().count())
    throw InputError("\"base_duration\" is " + std::to_string(*base_duration_) + ", the graph's is " +
                     std::to_string(graph_.base_duration().count()));
  const auto length = static_cast<std::int32_t>(file_.plan.executions.size());
  for (std::size_t i = 0; i < file_.plan.frees.size(); ++i) {
    const Plan::Free& f = file_.plan.frees[i];
    if (f.after >= length || f.execution >= length)
      throw InputError("death " + std::to_string(i) + " points behind the plan's " + std::to_string(length) +
                       " executions");
  }
  for (std::size_t i = 0; i < file_.offsets.size(); ++i)
    if (file_.offsets[i].execution >= length)
      throw InputError("offset " + std::to_string(i) + " points behind the plan's " + std::to_string(length) +
                       " executions");
  return std::move(file_);
}

ReadPlanResult Read(const Graph& graph, ByteSource& source, const std::string& name) {
  Warnings warnings(name + ": ");
  PlanReader reader(graph, warnings);
  ParseJsonStream(source, name, reader);
  try {
    PlanFile file = reader.Finish();
    return {std::move(file), warnings.Take()};
  } catch (const InputError& e) {
    throw InputError(name + ": " + e.what());
  }
}

}  // namespace

std::string PlanToJson(const Graph& g, const PlanFile& file) {
  const Plan& plan = file.plan;
  std::string out = "{\"format\": \"ebbtide-plan\", \"version\": 1,\n\"graph\": {\"name\": ";
  AppendJsonString(out, g.name());
  out += ", \"fingerprint\": \"" + Fingerprint(g) + "\"},\n\"budget\": ";
  if (file.budget)
    AppendInteger(out, file.budget->count());
  else
    out += "null";
  out += std::string(", \"order\": \"") + ToString(file.order) + "\",\n\"status\": \"" + ToString(file.status) +
         "\", \"duration\": ";
  AppendInteger(out, plan.duration.count());
  out += ", \"base_duration\": ";
  AppendInteger(out, g.base_duration().count());
  out += ", \"peak\": ";
  AppendInteger(out, plan.peak.count());
  out += ", \"lower_bound\": ";
  if (file.lower_bound) {
    AppendInteger(out, file.lower_bound->count());
    out += ", \"gap\": ";
    const std::int64_t gap = plan.duration.count() - file.lower_bound->count();
    AppendReal(out, gap == 0 ? 0.0 : static_cast<double>(gap) / static_cast<double>(plan.duration.count()));
  } else {
    out += "null, \"gap\": null";
  }
  out += ",\n\"executions\": [";
  for (std::size_t i = 0; i < plan.executions.size(); ++i) {
    out += i == 0 ? "\n{\"op\": " : ",\n{\"op\": ";
    AppendJsonString(out, g.op_name(plan.executions[i]));
    out += ", \"inputs\": [";
    bool first = true;
    for (const std::int32_t producer : plan.inputs[i]) {
      if (!first) out += ", ";
      first = false;
      if (producer == Plan::kAbsent)
        out += "null";
      else
        AppendInteger(out, producer);
    }
    out += "]}";
  }
  out += "],\n\"frees\": [";
  bool first = true;
  for (const Plan::Free& f : plan.frees) {
    out += first ? "\n{\"after\": " : ",\n{\"after\": ";
    first = false;
    AppendInteger(out, f.after);
    out += ", \"execution\": ";
    AppendInteger(out, f.execution);
    out += ", \"tensor\": ";
    AppendJsonString(out, g.tensor_name(f.tensor));
    out += '}';
  }
  out += ']';
  if (!file.offsets.empty()) {
    out += ",\n\"offsets\": [";
    first = true;
    for (const PlanFile::Offset& o : file.offsets) {
      out += first ? "\n{\"execution\": " : ",\n{\"execution\": ";
      first = false;
      AppendInteger(out, o.execution);
      out += ", \"tensor\": ";
      AppendJsonString(out, g.tensor_name(o.tensor));
      out += ", \"offset\": ";
      AppendInteger(out, o.offset.count());
      out += '}';
    }
    out += ']';
  }
  out += "}\n";
  return out;
}

void WritePlan(const Graph& graph, const PlanFile& file, const std::filesystem::path& path) {
  AtomicFile target(path);
  target.Write(PlanToJson(graph, file));
  target.Commit();
}

ReadPlanResult ReadPlan(const Graph& graph, const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> source = OpenFile(path);
  return Read(graph, *source, path.string());
}

ReadPlanResult ReadPlan(const Graph& graph, std::string_view bytes, const std::string& name) {
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes, name);
  return Read(graph, *source, name);
}

}  // namespace ebb
