// SPDX-License-Identifier: Apache-2.0
//
// Copies, their order and what they serve; memory, objective and the LP stand in interval_model_limits.cpp.
#include "portfolio/interval_model.hpp"

#include <algorithm>

#include "engine/linear/linear_program.hpp"
#include "portfolio/known_plan.hpp"
#include "propagators/precedence.hpp"

namespace ebb {

using core::Engine;
using core::IntVar;
using core::Lit;

namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int32_t Root(const Instance& in, std::int32_t value) {
  while (in.carrier[At(value)] >= 0) value = in.carrier[At(value)];
  return value;
}

}  // namespace

std::vector<std::uint8_t> MatteringValues(const Instance& in) {
  std::vector<std::uint8_t> root_matters(in.num_values, 0), out(in.num_values, 0);
  for (std::size_t v = 0; v < in.num_values; ++v) root_matters[v] = in.maker[v] >= 0 && in.bytes[v] > 0;
  for (std::size_t op = 0; op < in.num_ops; ++op)
    for (const std::int32_t v : in.consumes[op]) root_matters[At(Root(in, v))] = 1;
  for (std::size_t v = 0; v < in.num_values; ++v) out[v] = root_matters[At(Root(in, static_cast<std::int32_t>(v)))];
  return out;
}

IntervalModel::IntervalModel(const Instance& in, OrderMode order, std::int64_t budget,
                             std::span<const std::int32_t> copies, std::span<const std::int32_t> positions,
                             const IntervalParams& params)
    : instance_(in),
      params_(params),
      matters_(MatteringValues(in)),
      axis_(in, order, copies, LastUsefulStages(in, order, matters_)),
      engine_(params.seed, params.proof != nullptr ? params.proof->derived() : nullptr),
      copies_(in.num_ops),
      extra_(in.num_ops) {
  if (params.proof != nullptr) params.proof->Attach(engine_);
  if (!params.known.empty()) known_.Attach(engine_);
  FindShared();
  MakeCopies(copies);
  Chain();
  Cover();
  Memory(budget - in.resident_bytes);
  Objective();
  if (params.relaxation && order != OrderMode::kFree && !positions.empty() && LinearProgram::Available())
    Relax(positions, budget);
  if (!params.known.empty()) TellKnownPlan(*this, params.known, known_);
}

IntervalModel::~IntervalModel() = default;

std::size_t IntervalModel::Slot(std::int32_t v) const {
  if (instance_.maker[At(v)] < 0) return 0;
  const auto made = instance_.makes[At(instance_.maker[At(v)])];
  return static_cast<std::size_t>(std::find(made.begin(), made.end(), v) - made.begin());
}

void IntervalModel::Name(Lit lit, const char* what, std::initializer_list<std::int64_t> of) {
  if (params_.proof == nullptr) return;
  std::string name = what;
  for (const std::int64_t i : of) name += ' ' + std::to_string(i);
  params_.proof->Name(lit, name);
}

void IntervalModel::Name(IntVar x, const char* what, std::initializer_list<std::int64_t> of) {
  if (params_.proof == nullptr) return;
  std::string name = what;
  for (const std::int64_t i : of) name += ' ' + std::to_string(i);
  params_.proof->Name(x, name);
}

void IntervalModel::Below(Lit lit, IntVar x, std::int64_t d, IntVar y) {
  engine_.Add(std::make_unique<Precedence>(lit, x, d, y));
}

// Storages that more than one name lies in, or that somebody takes over: their end is not just their last read.
void IntervalModel::FindShared() {
  const Instance& in = instance_;
  std::vector<std::uint8_t> root_shared(in.num_values, 0);
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.carrier[v] >= 0) root_shared[At(Root(in, static_cast<std::int32_t>(v)))] = 1;
  for (std::size_t op = 0; op < in.num_ops; ++op)
    for (const std::int32_t v : in.consumes[op]) root_shared[At(Root(in, v))] = 1;
  shared_.resize(in.num_values);
  for (std::size_t v = 0; v < in.num_values; ++v) shared_[v] = root_shared[At(Root(in, static_cast<std::int32_t>(v)))];
}

void IntervalModel::MakeCopies(std::span<const std::int32_t> count) {
  const Instance& in = instance_;
  using Positions = TimeAxis::Positions;
  const auto integer = [&](const Positions& p) {
    return p.dense ? engine_.NewInt(p.values.front(), p.values.back()) : engine_.NewSparseInt(p.values);
  };
  // Where an op may run at all, for the reads that it is.
  std::vector<std::vector<std::int64_t>> runs(in.num_ops);
  for (std::size_t op = 0; op < in.num_ops; ++op)
    for (std::int32_t c = 0; c < std::min(count[op], 2); ++c) {
      const Positions starts = axis_.Starts(static_cast<std::int32_t>(op), c);
      runs[op].insert(runs[op].end(), starts.values.begin(), starts.values.end());
    }
  const bool dense = axis_.order() != OrderMode::kStaged;
  const auto last_of = [&](std::int32_t v, const Positions& starts) {
    std::vector<std::int64_t> values = starts.values;
    for (const std::int32_t reader : in.readers[At(v)])
      for (const std::int64_t t : runs[At(reader)])
        if (t > starts.values.front()) values.push_back(t);
    if (in.kept[At(v)]) values.push_back(axis_.end());
    if (dense) return engine_.NewInt(starts.values.front(), *std::max_element(values.begin(), values.end()));
    return engine_.NewSparseInt(std::move(values));
  };
  for (std::size_t op = 0; op < in.num_ops; ++op) {
    const auto o = static_cast<std::int32_t>(op);
    for (std::int32_t c = 0; c < count[op]; ++c) {
      const Positions starts = axis_.Starts(o, c);
      if (c > 0 && starts.empty()) break;
      Copy copy;
      copy.presence = engine_.True();
      if (c > 0) {
        copy.presence = engine_.NewLit();
        engine_.Prefer(~copy.presence);
        Name(copy.presence, "present", {o, c});
      }
      copy.start = integer(starts);
      Name(copy.start, "start", {o, c});
      const auto makes = in.makes[op];
      for (const std::int32_t v : makes) {
        copy.last.push_back(matters_[At(v)] ? last_of(v, starts) : IntVar::kNone);
        if (matters_[At(v)]) Name(copy.last.back(), "last", {v, c});
        const bool own = in.carrier[At(v)] < 0 || in.maker[At(in.carrier[At(v)])] != o;
        copy.until.push_back(!shared_[At(v)] || !matters_[At(v)] ? copy.last.back()
                             : own                               ? engine_.NewInt(starts.values.front(), axis_.end())
                                                                 : IntVar::kNone);
        if (shared_[At(v)] && matters_[At(v)] && own) Name(copy.until.back(), "until", {v, c});
      }
      for (std::size_t k = 0; k < makes.size(); ++k) {  // views of what the same op makes
        std::int32_t base = makes[k];
        while (in.carrier[At(base)] >= 0 && in.maker[At(in.carrier[At(base)])] == o) base = in.carrier[At(base)];
        copy.until[k] = copy.until[Slot(base)];
      }
      copies_[op].push_back(std::move(copy));
    }
    const auto times = static_cast<std::int32_t>(copies_[op].size());
    if (!axis_.More(o, times) || (params_.max_executions != 0 && times >= params_.max_executions)) continue;
    extra_[op] = engine_.NewLit();
    engine_.Prefer(~extra_[op]);
    Name(extra_[op], "extra", {o});
    engine_.AddClause({~extra_[op], copies_[op].back().presence});
  }
  for (std::size_t v = 0; v < in.num_values; ++v) {
    Copy origin;
    if (in.maker[v] < 0) {
      origin.presence = engine_.True();
      origin.start = engine_.NewInt(-1, -1);
      origin.last.push_back(engine_.NewInt(-1, axis_.end()));
      origin.until.push_back(engine_.NewInt(-1, axis_.end()));
      const auto named = static_cast<std::int64_t>(v);
      Name(origin.start, "origin", {named, -1});
      Name(origin.last[0], "last", {named, -1});
      Name(origin.until[0], "until", {named, -1});
      Below(engine_.True(), origin.last[0], 0, origin.until[0]);
    }
    origins_.push_back(std::move(origin));
  }
}

void IntervalModel::Chain() {
  for (const std::vector<Copy>& list : copies_) {
    for (std::size_t c = 0; c < list.size(); ++c) {
      const Copy& copy = list[c];
      for (std::size_t k = 0; k < copy.last.size(); ++k) {
        if (copy.last[k] == IntVar::kNone) continue;
        Below(copy.presence, copy.start, 0, copy.last[k]);
        if (copy.until[k] != copy.last[k]) Below(copy.presence, copy.last[k], 0, copy.until[k]);
      }
      if (c == 0) continue;
      const Copy& before = list[c - 1];
      engine_.AddClause({~copy.presence, before.presence});
      Below(copy.presence, before.start, 1, copy.start);
      for (const IntVar last : before.last)
        if (last != IntVar::kNone) Below(copy.presence, last, 1, copy.start);
      // An absent copy lies nowhere in particular.
      const auto rest = [&](IntVar x) {
        engine_.AddClause({copy.presence, engine_.Leq(x, engine_.ints().root_lo(x))});
      };
      rest(copy.start);
      for (std::size_t k = 0; k < copy.last.size(); ++k) {
        if (copy.last[k] == IntVar::kNone) continue;
        rest(copy.last[k]);
        if (copy.until[k] != copy.last[k]) rest(copy.until[k]);
      }
    }
  }
}

void IntervalModel::Serve(Copy& supplier, std::int32_t v, std::int32_t reader, std::int32_t reader_copy, IntVar time) {
  const std::size_t k = Slot(v);
  const Lit serves = engine_.NewLit();
  const std::int32_t maker = instance_.maker[At(v)];
  Name(serves, "serves", {v, maker >= 0 ? &supplier - copies_[At(maker)].data() : -1, reader, reader_copy});
  supplier.serves.push_back({serves, reader, reader_copy, v});
  engine_.AddClause({~serves, supplier.presence});
  Below(serves, supplier.start, 1, time);
  Below(serves, time, 0, supplier.last[k]);
  if (reader < 0) return;
  const Copy& y = copies_[At(reader)][At(reader_copy)];
  engine_.AddClause({~serves, y.presence});
  for (const std::int32_t w : instance_.makes[At(reader)]) {
    if (instance_.carrier[At(w)] != v) continue;  // a view in the storage that it read
    Below(serves, y.until[Slot(w)], 0, supplier.until[k]);
    Below(serves, supplier.until[k], 0, y.until[Slot(w)]);
  }
  const auto consumed = instance_.consumes[At(reader)];
  if (std::find(consumed.begin(), consumed.end(), v) != consumed.end()) Below(serves, supplier.until[k], 0, time);
}

// A read of v at `time` by something that is there where `presence` holds.
void IntervalModel::Supply(std::int32_t v, std::int32_t reader, std::int32_t reader_copy, IntVar time) {
  const std::int32_t maker = instance_.maker[At(v)];
  std::vector<Lit> clause;
  if (reader >= 0) clause.push_back(~copies_[At(reader)][At(reader_copy)].presence);
  if (maker < 0) {
    Serve(origins_[At(v)], v, reader, reader_copy, time);
    clause.push_back(origins_[At(v)].serves.back().lit);
  } else {
    if (!extra_[At(maker)].none()) clause.push_back(extra_[At(maker)]);
    for (Copy& supplier : copies_[At(maker)]) {
      if (engine_.ints().root_lo(supplier.start) >= engine_.ints().root_hi(time)) continue;
      Serve(supplier, v, reader, reader_copy, time);
      clause.push_back(supplier.serves.back().lit);
    }
  }
  engine_.AddClause(clause);
}

void IntervalModel::Cover() {
  const Instance& in = instance_;
  end_ = engine_.NewInt(axis_.end(), axis_.end());
  Name(end_, "end", {});
  for (std::size_t op = 0; op < in.num_ops; ++op)
    for (const std::int32_t v : in.reads[op]) {
      if (axis_.order() == OrderMode::kFree && in.maker[At(v)] >= 0)
        Below(engine_.True(), copies_[At(in.maker[At(v)])][0].start, 1, copies_[op][0].start);
      if (!matters_[At(v)]) continue;
      for (std::size_t c = 0; c < copies_[op].size(); ++c)
        Supply(v, static_cast<std::int32_t>(op), static_cast<std::int32_t>(c), copies_[op][c].start);
    }
  for (std::size_t v = 0; v < in.num_values; ++v)
    if (in.kept[v] && matters_[v]) Supply(static_cast<std::int32_t>(v), -1, 0, end_);
  if (!params_.useful) return;
  // A rerun that serves nobody can be left out.
  for (auto& list : copies_)
    for (std::size_t c = 1; c < list.size(); ++c) {
      std::vector<Lit> clause{~list[c].presence};
      for (const Serving& s : list[c].serves) clause.push_back(s.lit);
      engine_.AddClause(clause);
    }
}

std::vector<std::int32_t> IntervalModel::Sequence() const {
  struct Run {
    std::int64_t time;
    std::int32_t rank, op;
  };
  std::vector<Run> runs;
  for (std::size_t op = 0; op < instance_.num_ops; ++op)
    for (const Copy& copy : copies_[op])
      if (engine_.SolutionValue(copy.presence))
        runs.push_back({engine_.SolutionValue(copy.start), instance_.rank[op], static_cast<std::int32_t>(op)});
  std::sort(runs.begin(), runs.end(),
            [](const Run& a, const Run& b) { return a.time != b.time ? a.time < b.time : a.rank < b.rank; });
  std::vector<std::int32_t> sequence;
  for (const Run& r : runs) sequence.push_back(r.op);
  return sequence;
}

}  // namespace ebb
