// SPDX-License-Identifier: Apache-2.0
#include "io/facts_report.hpp"

#include "io/json_text.hpp"
#include "io/readable.hpp"

namespace ebb {
namespace {

std::string Readable(Bytes bytes) { return ReadableBytes(bytes.count()); }

std::string Share(Bytes part, Bytes whole) {
  if (whole.count() == 0) return "0 %";
  return Fixed(100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count()), 1) + " %";
}

std::string OpName(const Graph& g, OpId op, const char* none) { return op == OpId::kNone ? none : g.op_name(op); }

std::string Pad(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

constexpr GraphFacts::Role kRoles[] = {GraphFacts::Role::kGraphInput, GraphFacts::Role::kOpInput,
                                       GraphFacts::Role::kOpOutput, GraphFacts::Role::kWaiting,
                                       GraphFacts::Role::kKept};

// A JSON object under construction.
class Object {
 public:
  explicit Object(std::string& out) : out_(out) { out_ += '{'; }
  void Close() { out_ += '}'; }
  std::string& Key(std::string_view key) {
    if (!first_) out_ += ", ";
    first_ = false;
    AppendJsonString(out_, key);
    return out_ += ": ";
  }
  void Put(std::string_view key, std::int64_t value) { AppendInteger(Key(key), value); }
  void Put(std::string_view key, Bytes value) { Put(key, value.count()); }
  void Put(std::string_view key, Duration value) { Put(key, value.count()); }
  void Put(std::string_view key, bool value) { Key(key) += value ? "true" : "false"; }
  void Put(std::string_view key, const std::string& value) { AppendJsonString(Key(key), value); }
  void PutName(std::string_view key, const Graph& g, OpId op) {
    if (op == OpId::kNone) {
      Key(key) += "null";
    } else {
      Put(key, g.op_name(op));
    }
  }

 private:
  std::string& out_;
  bool first_ = true;
};

template <class Range, class F>
void PutArray(Object& object, std::string& out, std::string_view key, const Range& range, F f) {
  object.Key(key) += '[';
  bool first = true;
  for (const auto& item : range) {
    if (!first) out += ", ";
    first = false;
    f(item);
  }
  out += ']';
}

// The same of objects: f fills each.
template <class Range, class F>
void PutObjects(Object& object, std::string& out, std::string_view key, const Range& range, F f) {
  PutArray(object, out, key, range, [&](const auto& value) {
    Object item(out);
    f(item, value);
    item.Close();
  });
}

}  // namespace

std::string FactsToText(const Graph& g, const GraphFacts& f, const std::string& format) {
  std::string out;
  const auto line = [&](const std::string& name, const std::string& text) { out += Pad(name, 18) + text + "\n"; };
  const std::string unit = g.duration_unit().empty() ? "" : " " + g.duration_unit();
  line("graph", (g.name().empty() ? "(no name)" : g.name()) + ", format " + format +
                    (g.order_was_given() ? ", order given" : ", order: stable topological"));
  line("ops", std::to_string(f.ops) + " (" + std::to_string(f.zero_ops) + " take no time, " +
                  std::to_string(f.once_ops) + " may run only once), " + std::to_string(f.reads) + " reads");
  line("tensors", std::to_string(f.tensors) + " (" + std::to_string(f.views) + " views, " + std::to_string(f.inplace) +
                      " in place, " + std::to_string(f.graph_inputs) + " graph inputs, " +
                      std::to_string(f.graph_outputs) + " graph outputs)");
  line("bytes", Readable(f.bytes) + " in all, graph inputs " + Readable(f.input_bytes) + ", outputs " +
                    Readable(f.output_bytes) + ", largest workspace " + Readable(f.largest_workspace));
  line("duration", std::to_string(f.duration.count()) + unit + ", each op once");
  if (f.runs) {
    line("peak", Readable(f.peak) + " (" + std::to_string(f.peak.count()) +
                     " bytes) with nothing run twice, at position " + std::to_string(f.peak_position) + ", op " +
                     OpName(g, f.peak_op, "(end)"));
    std::string parts;
    for (const GraphFacts::Role role : kRoles)
      if (f.bytes_of(role).count() > 0)
        parts += (parts.empty() ? "" : ", ") + std::string(ToString(role)) + " " + Readable(f.bytes_of(role));
    if (f.peak_op != OpId::kNone && g.workspace(f.peak_op).count() > 0)
      parts += ", workspace " + Readable(g.workspace(f.peak_op));
    if (!parts.empty()) line("  made of", parts);
  } else {
    line("peak", "none: the order reads a value after it was overwritten, so it needs repeats");
  }
  line("floor", Readable(f.floor) + " (" + std::to_string(f.floor.count()) + " bytes, " + Share(f.floor, f.peak) +
                    " of the peak): no plan needs less; " + OpName(g, f.floor_op, "the graph's outputs together"));
  if (g.input_bytes().count() > 0 || !f.floor_parts.empty()) {
    const std::int64_t workspace = f.floor_op == OpId::kNone ? 0 : g.workspace(f.floor_op).count();
    std::string parts = "graph inputs " + Readable(g.input_bytes());
    if (workspace > 0) parts += ", workspace " + ReadableBytes(workspace);
    for (const auto& part : f.floor_parts)
      parts += ", " + g.tensor_name(part.tensor) + " " + Readable(part.bytes) +
               (part.role == GraphFacts::Role::kOpOutput ? " (made)" : "");
    if (const auto left = f.floor_parts_total - static_cast<std::int64_t>(f.floor_parts.size()); left > 0)
      parts += ", " + std::to_string(left) + " more";
    line("  made of", parts);
  }
  if (f.runs) {
    const Bytes waiting = f.bytes_of(GraphFacts::Role::kWaiting);
    line("could be dropped",
         Readable(waiting) + " of the peak only wait for a later reader" +
             (f.waiting_once_bytes.count() > 0 ? "; " + Readable(f.waiting_once_bytes) + " of that cannot be made again"
                                               : std::string()));
    std::string prices;
    for (const auto& p : f.prices)
      prices += (prices.empty() ? "" : ", ") +
                std::string(p.percent == 100 ? "all" : std::to_string(p.percent) + " %") + " (" + Readable(p.bytes) +
                ") +" +
                Fixed(f.duration.count() == 0
                          ? 0.0
                          : 100.0 * static_cast<double>(p.duration.count()) / static_cast<double>(f.duration.count()),
                      2) +
                " %";
    if (!prices.empty()) line("  cheapest first", prices + " of the duration, to make it again once");
    line("gaps", std::to_string(f.gaps_total) + " between two uses of a storage");
  }
  if (f.once_ops > 0) line("runs only once", Readable(f.once_bytes) + " are made by ops that cannot run again");
  line("presolve", std::to_string(f.presolved.removed()) + " of " + std::to_string(f.presolved.ops) +
                       " ops never pay to run again (" + Describe(f.presolved) + ")");
  if (f.blocks_ops > 0)
    line("repeated blocks", std::to_string(f.blocks_ops) + " ops in " + std::to_string(f.blocks.size()) + " series");
  for (const auto& b : f.blocks)
    out += "  " + std::to_string(b.count) + " blocks of " + std::to_string(b.period) + " ops from position " +
           std::to_string(b.begin) + ", each " + std::to_string(b.duration.count()) + unit + ", " + Readable(b.bytes) +
           "\n";
  if (!f.holders.empty()) {
    out += "\nWho holds the memory at the peak (" + std::to_string(f.holders.size()) + " of " +
           std::to_string(f.holders_total) + "):\n";
    for (const auto& h : f.holders) {
      out += "  " + Pad(Readable(h.bytes), 12) + Pad(ToString(h.role), 17) + g.tensor_name(h.tensor) + ", made by " +
             OpName(g, h.maker, "(graph input)");
      if (h.later_readers > 0) {
        out += ", later read by";
        for (const OpId op : h.readers) out += " " + g.op_name(op);
        if (h.later_readers > static_cast<std::int64_t>(h.readers.size())) out += " ...";
      }
      out += "\n";
    }
  }
  if (!f.gaps.empty()) {
    out += "\nThe largest gaps (bytes * length; " + std::to_string(f.gaps.size()) + " of " +
           std::to_string(f.gaps_total) + "):\n";
    for (const auto& gap : f.gaps)
      out += "  " + Pad(Readable(gap.bytes), 12) + Pad(std::to_string(gap.length) + " ops", 12) +
             g.tensor_name(gap.tensor) + ", between " + OpName(g, gap.from, "(start)") + " and " +
             OpName(g, gap.to, "(end)") + (gap.can_rerun ? "" : ", cannot run again") + "\n";
  }
  if (!f.once.empty()) {
    out += "\nWhat cannot be made again:\n";
    for (const auto& once : f.once)
      out += "  " + Pad(Readable(once.bytes), 12) + g.op_name(once.op) + (once.at_peak ? ", alive at the peak" : "") +
             "\n";
  }
  return out;
}

std::string FactsToJson(const Graph& g, const GraphFacts& f, const std::string& format,
                        const std::vector<std::string>& warnings) {
  std::string out;
  Object o(out);
  o.Put("name", g.name());
  o.Put("format", format);
  o.Put("duration_unit", g.duration_unit());
  o.Put("order_given", g.order_was_given());
  o.Put("ops", f.ops);
  o.Put("zero_duration_ops", f.zero_ops);
  o.Put("once_ops", f.once_ops);
  o.Put("reads", f.reads);
  o.Put("tensors", f.tensors);
  o.Put("views", f.views);
  o.Put("inplace", f.inplace);
  o.Put("graph_inputs", f.graph_inputs);
  o.Put("graph_outputs", f.graph_outputs);
  o.Put("bytes", f.bytes);
  o.Put("input_bytes", f.input_bytes);
  o.Put("output_bytes", f.output_bytes);
  o.Put("largest_workspace", f.largest_workspace);
  o.Put("duration", f.duration);
  o.Put("runs_without_repeats", f.runs);
  if (f.runs) {
    o.Put("peak", f.peak);
    o.Put("peak_position", f.peak_position);
    o.PutName("peak_op", g, f.peak_op);
    o.Put("waiting_bytes", f.bytes_of(GraphFacts::Role::kWaiting));
    o.Put("waiting_once_bytes", f.waiting_once_bytes);
    PutObjects(o, out, "peak_by_role", kRoles, [&](Object& item, GraphFacts::Role role) {
      item.Put("role", std::string(ToString(role)));
      item.Put("bytes", f.bytes_of(role));
    });
    PutObjects(o, out, "waiting_prices", f.prices, [&](Object& item, const GraphFacts::Price& p) {
      item.Put("percent", std::int64_t{p.percent});
      item.Put("bytes", p.bytes);
      item.Put("duration", p.duration);
    });
  }
  o.Put("floor", f.floor);
  o.PutName("floor_op", g, f.floor_op);
  PutObjects(o, out, "floor_parts", f.floor_parts, [&](Object& item, const GraphFacts::FloorPart& part) {
    item.Put("tensor", g.tensor_name(part.tensor));
    item.Put("bytes", part.bytes);
    item.Put("role", std::string(ToString(part.role)));
  });
  o.Put("gaps", f.gaps_total);
  o.Put("once_bytes", f.once_bytes);
  o.Put("presolve_ops", f.presolved.ops);
  o.Put("presolve_unread", f.presolved.unread);
  o.Put("presolve_free", f.presolved.free);
  o.Put("presolve_heavy", f.presolved.heavy);
  o.Put("presolve_passed_on", f.presolved.passed_on);
  PutObjects(o, out, "holders_at_peak", f.holders, [&](Object& item, const GraphFacts::Holder& h) {
    item.Put("tensor", g.tensor_name(h.tensor));
    item.Put("bytes", h.bytes);
    item.Put("role", std::string(ToString(h.role)));
    item.PutName("maker", g, h.maker);
    item.Put("born", h.born);
    item.Put("last_use", h.last_use);
    item.Put("later_readers", h.later_readers);
    PutArray(item, out, "readers", h.readers, [&](OpId op) { AppendJsonString(out, g.op_name(op)); });
  });
  PutObjects(o, out, "largest_gaps", f.gaps, [&](Object& item, const GraphFacts::Gap& gap) {
    item.Put("tensor", g.tensor_name(gap.tensor));
    item.Put("bytes", gap.bytes);
    item.PutName("from", g, gap.from);
    item.PutName("to", g, gap.to);
    item.Put("length", gap.length);
    item.Put("can_rerun", gap.can_rerun);
  });
  PutObjects(o, out, "once", f.once, [&](Object& item, const GraphFacts::Once& once) {
    item.PutName("op", g, once.op);
    item.Put("bytes", once.bytes);
    item.Put("at_peak", once.at_peak);
  });
  PutObjects(o, out, "blocks", f.blocks, [&](Object& item, const GraphFacts::Blocks& b) {
    item.Put("begin", b.begin);
    item.Put("period", b.period);
    item.Put("count", b.count);
    item.Put("duration", b.duration);
    item.Put("bytes", b.bytes);
  });
  PutArray(o, out, "warnings", warnings, [&](const std::string& w) { AppendJsonString(out, w); });
  o.Close();
  return out + "\n";
}

}  // namespace ebb
