// SPDX-License-Identifier: Apache-2.0
#include "portfolio/known_plan.hpp"

#include <algorithm>
#include <map>

namespace ebb {
namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
constexpr std::int32_t kOrigin = -1;  // there from the start

// Who reads what whom made: executions are indices into the sequence.
struct Bindings {
  struct Read {
    std::int32_t reader;  // execution; the sequence's size: the end
    std::int32_t value, maker;
  };
  std::vector<Read> reads;                        // by reader
  std::vector<std::vector<std::size_t>> made_by;  // execution -> reads of what it made
  std::vector<std::uint8_t> first;                // execution is its op's first
  // (execution, value) -> the (execution, value) whose storage it lies in
  std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::int32_t>> storage;
};

Bindings Bind(const Instance& in, std::span<const std::int32_t> sequence) {
  Bindings b;
  std::vector<std::int32_t> latest(in.num_ops, -2);
  b.made_by.resize(sequence.size());
  const auto maker_of = [&](std::int32_t v) { return in.maker[At(v)] < 0 ? kOrigin : latest[At(in.maker[At(v)])]; };
  const auto read = [&](std::int32_t reader, std::int32_t v) {
    if (maker_of(v) >= 0) b.made_by[At(maker_of(v))].push_back(b.reads.size());
    b.reads.push_back({reader, v, maker_of(v)});
  };
  for (std::size_t v = 0; v < in.num_values; ++v) {
    const auto w = static_cast<std::int32_t>(v);
    if (in.maker[v] < 0) b.storage[{kOrigin, w}] = {kOrigin, w};
  }
  for (std::size_t e = 0; e < sequence.size(); ++e) {
    const auto op = At(sequence[e]);
    const auto i = static_cast<std::int32_t>(e);
    for (const std::int32_t v : in.reads[op]) read(i, v);
    b.first.push_back(latest[op] == -2);
    std::vector<std::int32_t> views(in.makes[op].begin(), in.makes[op].end());
    std::sort(views.begin(), views.end());  // values are numbered bases first
    for (const std::int32_t v : views) {
      const std::int32_t base = in.carrier[At(v)];
      if (base < 0)
        b.storage[{i, v}] = {i, v};
      else
        b.storage[{i, v}] = b.storage.at({in.maker[At(base)] == sequence[e] ? i : maker_of(base), base});
    }
    latest[op] = i;
  }
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.kept[v]) read(static_cast<std::int32_t>(sequence.size()), static_cast<std::int32_t>(v));
  return b;
}

// Executions that count: first ones, and reruns that make something that matters for an execution that counts. Of each
// op the first `most` only (empty: all); `more[op]`: there were more.
std::vector<std::uint8_t> Count(const Instance& in, std::span<const std::int32_t> sequence, const Bindings& b,
                                std::span<const std::uint8_t> matters, std::span<const std::int32_t> most,
                                std::vector<std::uint8_t>& more) {
  std::vector<std::vector<std::int32_t>> runs(in.num_ops);
  for (std::size_t e = 0; e < sequence.size(); ++e) runs[At(sequence[e])].push_back(static_cast<std::int32_t>(e));
  std::vector<std::uint8_t> counts(sequence.size() + 1, 0);
  counts.back() = 1;
  more.assign(in.num_ops, 0);
  for (std::size_t r = in.num_ops; r-- > 0;) {
    const auto op = At(in.order[r]);
    std::int32_t taken = 0;
    for (const std::int32_t e : runs[op]) {
      const auto& made = b.made_by[At(e)];
      const bool wanted = b.first[At(e)] || std::any_of(made.begin(), made.end(), [&](std::size_t i) {
                            return matters[At(b.reads[i].value)] && counts[At(b.reads[i].reader)];
                          });
      if (!wanted) continue;
      if (!most.empty() && taken == most[op]) {
        more[op] = 1;
        break;
      }
      counts[At(e)] = 1;
      ++taken;
    }
  }
  return counts;
}

}  // namespace

std::vector<std::int8_t> KnownColumns(const BoundaryModel& model, std::span<const std::int32_t> sequence) {
  const Instance& in = model.instance();
  const Bindings b = Bind(in, sequence);
  std::vector<std::uint8_t> more;
  std::vector<std::uint8_t> matters(in.num_values);
  for (std::size_t v = 0; v < in.num_values; ++v) matters[v] = !model.weightless(static_cast<std::int32_t>(v));
  const auto counts = Count(in, sequence, b, matters, {}, more);
  std::vector<std::int32_t> where(in.num_ops, -1);  // first executions
  for (std::size_t e = 0; e < sequence.size(); ++e)
    if (b.first[e]) where[At(sequence[e])] = static_cast<std::int32_t>(e);
  const auto boundary = [&](std::int32_t k) {
    return k < model.num_stages() ? where[At(in.order[At(model.positions()[At(k)])])]
                                  : static_cast<std::int32_t>(sequence.size());
  };
  // Last use of each execution's values, views counted for their storage's root too.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> last;
  for (const Bindings::Read& r : b.reads) {
    if (!counts[At(r.reader)]) continue;
    const auto note = [&](std::pair<std::int32_t, std::int32_t> what) {
      last[what] = std::max(last.contains(what) ? last[what] : -1, r.reader);
    };
    note({r.maker, r.value});
    for (auto at = std::pair(r.maker, r.value);;) {  // its base, and the base of that
      const std::int32_t base = in.carrier[At(at.second)];
      if (base < 0) break;
      std::int32_t maker = at.first;
      if (in.maker[At(base)] != in.maker[At(at.second)]) {
        maker = kOrigin;
        for (std::int32_t e = 0; e < at.first; ++e)
          if (in.maker[At(base)] >= 0 && sequence[At(e)] == in.maker[At(base)]) maker = e;
      }
      at = {maker, base};
      note(at);
    }
  }
  std::vector<std::int8_t> columns;
  for (const BoundaryModel::Column& c : model.columns()) {
    const std::int32_t from = boundary(c.stage), to = boundary(c.stage + 1);
    bool on = false;
    for (std::size_t e = 0; e < sequence.size(); ++e) {
      const auto i = static_cast<std::int32_t>(e);
      if (!counts[e]) continue;
      if (c.rerun()) {
        on |= sequence[e] == c.item && !b.first[e] && from < i && i < to;
      } else if (sequence[e] == in.maker[At(c.item)] && i <= from) {
        const auto it = last.find({i, c.item});
        on |= it != last.end() && it->second > from;
      }
    }
    columns.push_back(on ? 1 : 0);
  }
  return columns;
}

void TellKnownPlan(const IntervalModel& model, std::span<const std::int32_t> sequence, core::KnownSolution& known) {
  const Instance& in = model.instance();
  const TimeAxis& axis = model.axis();
  const core::IntVars& ints = const_cast<IntervalModel&>(model).engine().ints();
  const Bindings b = Bind(in, sequence);
  std::vector<std::uint8_t> matters(in.num_values), more;
  for (std::size_t v = 0; v < in.num_values; ++v) matters[v] = model.matters(static_cast<std::int32_t>(v));
  std::vector<std::int32_t> most;
  for (std::size_t op = 0; op < in.num_ops; ++op)
    most.push_back(static_cast<std::int32_t>(model.copies(static_cast<std::int32_t>(op)).size()));
  const auto counts = Count(in, sequence, b, matters, most, more);

  // Where the executions that count stand.
  std::vector<std::int64_t> time(sequence.size() + 1, -1);
  std::vector<std::vector<std::int32_t>> runs(in.num_ops);  // of each op, those that count
  std::int64_t stage = 0, in_stage = 0, index = 0;
  for (std::size_t e = 0; e < sequence.size(); ++e) {
    const std::int32_t op = sequence[e];
    if (!counts[e]) continue;
    runs[At(op)].push_back(static_cast<std::int32_t>(e));
    if (axis.order() == OrderMode::kFree) {
      time[e] = index++;
    } else if (b.first[e]) {
      time[e] = axis.First(stage++);
      in_stage = 0;
    } else {
      time[e] = axis.Rerun(stage, in_stage++, op);
    }
  }
  time.back() = axis.end();

  // Last reads, and how long storages live for them.
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> last, until;
  for (std::size_t e = 0; e < sequence.size(); ++e)
    if (counts[e])
      for (const std::int32_t v : in.makes[At(sequence[e])]) last[{static_cast<std::int32_t>(e), v}] = time[e];
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.maker[v] < 0) last[{kOrigin, static_cast<std::int32_t>(v)}] = -1;
  for (const Bindings::Read& r : b.reads)
    if (const auto it = last.find({r.maker, r.value}); it != last.end() && counts[At(r.reader)])
      it->second = std::max(it->second, time[At(r.reader)]);
  for (const auto& [what, t] : last) {
    const auto root = b.storage.at(what);
    until[root] = std::max(until.contains(root) ? until[root] : -1, t);
  }

  std::int64_t copies_cost = 0;
  for (std::size_t op = 0; op < in.num_ops; ++op) {
    const auto list = model.copies(static_cast<std::int32_t>(op));
    if (const core::Lit extra = model.extra(static_cast<std::int32_t>(op)); !extra.none()) {
      known.Set(extra, more[op] != 0);
      if (more[op]) copies_cost += in.duration[op];
    }
    for (std::size_t c = 0; c < list.size(); ++c) {
      const bool there = c < runs[op].size();
      const std::int32_t e = there ? runs[op][c] : -2;
      if (c > 0) known.Set(list[c].presence, there);
      if (c > 0 && there) copies_cost += in.duration[op];
      known.Set(list[c].start, there ? time[At(e)] : ints.root_lo(list[c].start));
      for (std::size_t k = 0; k < list[c].last.size(); ++k) {
        if (list[c].last[k] == core::IntVar::kNone) continue;
        const std::pair what(e, in.makes[op][k]);
        known.Set(list[c].until[k], there ? until.at(b.storage.at(what)) : ints.root_lo(list[c].until[k]));
        known.Set(list[c].last[k], there ? last.at(what) : ints.root_lo(list[c].last[k]));
      }
    }
  }
  const auto serve = [&](std::int32_t maker, const IntervalModel::Copy& copy) {
    for (const IntervalModel::Serving& s : copy.serves) {
      bool on = false;
      for (const Bindings::Read& r : b.reads) {
        if (r.value != s.value || r.maker != maker || maker == -2) continue;
        const std::int32_t reader = s.reader < 0 ? static_cast<std::int32_t>(sequence.size())
                                    : At(s.reader_copy) < runs[At(s.reader)].size()
                                        ? runs[At(s.reader)][At(s.reader_copy)]
                                        : -2;
        on |= r.reader == reader;
      }
      known.Set(s.lit, on);
    }
  };
  for (std::size_t op = 0; op < in.num_ops; ++op) {
    const auto list = model.copies(static_cast<std::int32_t>(op));
    for (std::size_t c = 0; c < list.size(); ++c) serve(c < runs[op].size() ? runs[op][c] : -2, list[c]);
  }
  for (std::size_t v = 0; v < in.num_values; ++v) {
    if (in.maker[v] >= 0) continue;
    const IntervalModel::Copy& origin = model.origins()[v];
    serve(kOrigin, origin);
    const std::pair what(kOrigin, static_cast<std::int32_t>(v));
    known.Set(origin.start, -1);
    known.Set(origin.last[0], last.at(what));
    known.Set(origin.until[0], until.at(b.storage.at(what)));
  }
  known.Set(model.end(), axis.end());
  std::int64_t columns_cost = 0;
  if (model.boundary() != nullptr && !model.linear().column.empty()) {
    const std::vector<std::int8_t> columns = KnownColumns(*model.boundary(), sequence);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      known.Set(model.linear().column[j], columns[j] != 0);
      columns_cost += columns[j] * model.linear().cost[j];
    }
  }
  known.Set(model.total(), std::max(copies_cost, columns_cost));
  known.Begin(model.total());
}

}  // namespace ebb
