// SPDX-License-Identifier: Apache-2.0
#include "portfolio/interval_solver.hpp"

#include <algorithm>

#include "engine/base/status.hpp"
#include "engine/bounds/boundary_model.hpp"
#include "engine/core/engine.hpp"
#include "engine/linear/linear_program.hpp"
#include "propagators/linear_relaxation.hpp"
#include "propagators/linear_rows.hpp"
#include "propagators/precedence.hpp"
#include "propagators/relaxation_brancher.hpp"
#include "propagators/weighted_sum.hpp"

namespace ebb {

using core::Engine;
using core::IntVar;
using core::Lit;

namespace {

std::size_t At(std::int64_t i) { return static_cast<std::size_t>(i); }
// The position of rank r's event in stage s.
std::int64_t Event(std::int64_t s, std::int64_t r) { return s * (s + 1) / 2 + r; }

}  // namespace

struct IntervalSolver::Model {
  struct Copy {
    Lit presence;
    IntVar start = IntVar::kNone;
    std::vector<IntVar> ends;  // per value that the op makes; kNone: takes no room
    std::vector<Lit> serves;   // the literals of the reads that it serves
  };

  Model(const Instance& in, const std::vector<std::int32_t>& copies_in, const std::vector<std::int32_t>& last_useful,
        const std::vector<std::int32_t>& positions, std::int64_t budget, std::int64_t capacity, const Params& params)
      : instance(in), engine(params.seed), copies(in.num_ops), extra(in.num_ops) {
    MakeCopies(copies_in, last_useful, params);
    Chain();
    Cover();
    Memory(capacity, params);
    Objective();
    if (params.relaxation && !positions.empty() && LinearProgram::Available()) Relax(positions, budget);
  }

  [[nodiscard]] std::int64_t stages() const { return static_cast<std::int64_t>(instance.num_ops); }
  [[nodiscard]] std::int64_t the_end() const { return Event(stages(), stages()); }
  [[nodiscard]] bool takes_room(std::int32_t v) const {
    return instance.bytes[At(v)] > 0 && instance.maker[At(v)] >= 0;
  }
  [[nodiscard]] std::size_t slot(std::int32_t v) const {  // of v among what its maker makes
    const auto made = instance.makes[At(instance.maker[At(v)])];
    return static_cast<std::size_t>(std::find(made.begin(), made.end(), v) - made.begin());
  }

  void MakeCopies(const std::vector<std::int32_t>& count, const std::vector<std::int32_t>& last_useful,
                  const Params& params) {
    for (std::size_t op = 0; op < instance.num_ops; ++op) {
      const std::int64_t r = instance.rank[op];
      for (std::int32_t c = 0; c < count[op]; ++c) {
        Copy copy;
        std::vector<std::int64_t> starts;
        if (c == 0) {
          copy.presence = engine.True();
          starts.push_back(Event(r, r));
        } else {
          copy.presence = engine.NewLit();
          engine.Prefer(~copy.presence);
          for (std::int64_t s = r + c; s <= last_useful[op]; ++s) starts.push_back(Event(s, r));
          if (starts.empty()) break;
        }
        copy.start = engine.NewSparseInt(starts);
        for (const std::int32_t v : instance.makes[op]) {
          if (!takes_room(v)) {
            copy.ends.push_back(IntVar::kNone);
            continue;
          }
          std::vector<std::int64_t> ends = starts;
          for (const std::int32_t reader : instance.readers[At(v)]) {
            const std::int64_t q = instance.rank[At(reader)];
            const std::int64_t until =
                instance.may_repeat[At(reader)] ? std::max<std::int64_t>(q, last_useful[At(reader)]) : q;
            for (std::int64_t s = q; s <= until; ++s)
              if (Event(s, q) > starts.front()) ends.push_back(Event(s, q));
          }
          if (instance.kept[At(v)]) ends.push_back(the_end());
          copy.ends.push_back(engine.NewSparseInt(std::move(ends)));
        }
        copies[op].push_back(std::move(copy));
      }
      // More than that?
      const bool more = instance.may_repeat[op] && r + count[op] <= last_useful[op] &&
                        (params.max_executions == 0 || count[op] < params.max_executions);
      if (!more) continue;
      extra[op] = engine.NewLit();
      engine.Prefer(~extra[op]);
      engine.AddClause({~extra[op], copies[op].back().presence});
    }
  }

  void Chain() {
    for (std::size_t op = 0; op < instance.num_ops; ++op) {
      for (std::size_t c = 0; c < copies[op].size(); ++c) {
        const Copy& copy = copies[op][c];
        for (const IntVar end : copy.ends)
          if (end != IntVar::kNone) engine.Add(std::make_unique<Precedence>(copy.presence, copy.start, 0, end));
        if (c == 0) continue;
        const Copy& before = copies[op][c - 1];
        engine.AddClause({~copy.presence, before.presence});
        engine.Add(std::make_unique<Precedence>(copy.presence, before.start, 1, copy.start));
        for (const IntVar end : before.ends)
          if (end != IntVar::kNone) engine.Add(std::make_unique<Precedence>(copy.presence, end, 1, copy.start));
        // An absent copy lies nowhere in particular.
        engine.AddClause({copy.presence, engine.Leq(copy.start, engine.ints().root_lo(copy.start))});
        for (const IntVar end : copy.ends)
          if (end != IntVar::kNone) engine.AddClause({copy.presence, engine.Leq(end, engine.ints().root_lo(end))});
      }
    }
  }

  // A read of v at `time` by something that is there where `presence` holds.
  void Supply(std::int32_t v, Lit presence, IntVar time) {
    const auto maker = At(instance.maker[At(v)]);
    const std::size_t k = slot(v);
    std::vector<Lit> clause{~presence};
    if (!extra[maker].none()) clause.push_back(extra[maker]);
    for (Copy& supplier : copies[maker]) {
      if (engine.ints().root_lo(supplier.start) >= engine.ints().root_hi(time)) continue;
      const Lit serves = engine.NewLit();
      engine.AddClause({~serves, supplier.presence});
      engine.AddClause({~serves, presence});
      engine.Add(std::make_unique<Precedence>(serves, supplier.start, 1, time));
      engine.Add(std::make_unique<Precedence>(serves, time, 0, supplier.ends[k]));
      supplier.serves.push_back(serves);
      clause.push_back(serves);
    }
    engine.AddClause(clause);
  }

  void Cover() {
    const IntVar end = engine.NewInt(the_end(), the_end());
    for (std::size_t op = 0; op < instance.num_ops; ++op)
      for (std::size_t c = 0; c < copies[op].size(); ++c)
        for (const std::int32_t v : instance.reads[op])
          if (takes_room(v)) Supply(v, copies[op][c].presence, copies[op][c].start);
    for (std::size_t v = 0; v < instance.num_values; ++v)
      if (instance.kept[v] && takes_room(static_cast<std::int32_t>(v)))
        Supply(static_cast<std::int32_t>(v), engine.True(), end);
    // A rerun that serves nobody can be left out.
    for (auto& list : copies)
      for (std::size_t c = 1; c < list.size(); ++c) {
        std::vector<Lit> clause = list[c].serves;
        clause.push_back(~list[c].presence);
        engine.AddClause(clause);
      }
  }

  void Memory(std::int64_t capacity, const Params& params) {
    std::vector<CumulativeMemory::Task> tasks;
    for (std::size_t op = 0; op < instance.num_ops; ++op)
      for (const Copy& copy : copies[op]) {
        for (std::size_t k = 0; k < copy.ends.size(); ++k)
          if (copy.ends[k] != IntVar::kNone)
            tasks.push_back({copy.start, copy.ends[k], copy.presence, instance.bytes[At(instance.makes[op][k])]});
        if (instance.moment[op] > 0) tasks.push_back({copy.start, copy.start, copy.presence, instance.moment[op]});
      }
    engine.Add(std::make_unique<CumulativeMemory>(std::move(tasks), capacity, the_end() + 1, params.explanation));
  }

  void Objective() {
    std::vector<WeightedSum::Term> terms;
    std::int64_t most = 0;
    for (std::size_t op = 0; op < instance.num_ops; ++op) {
      const std::int64_t d = instance.duration[op];
      if (d == 0) continue;
      for (std::size_t c = 1; c < copies[op].size(); ++c) terms.push_back({copies[op][c].presence, d});
      if (!extra[op].none()) terms.push_back({extra[op], d});
    }
    for (const WeightedSum::Term& t : terms) most += t.weight;
    total = engine.NewInt(0, most);
    engine.Add(std::make_unique<WeightedSum>(std::move(terms), 0, total, false));
  }

  void Relax(const std::vector<std::int32_t>& positions, std::int64_t budget) {
    boundary = std::make_unique<BoundaryModel>(instance, budget, positions);
    if (boundary->impossible()) {
      engine.AddClause({~engine.True()});
      return;
    }
    const BinaryProgram& program = boundary->program();
    linear.cost = program.cost;
    linear.rows = program.rows;
    for (std::size_t j = 0; j < boundary->columns().size(); ++j) {
      const BoundaryModel::Column& column = boundary->columns()[j];
      const Lit lit = engine.NewLit();
      engine.Prefer(~lit);
      linear.column.push_back(lit);
      const std::int64_t a = Event(positions[At(column.stage)], positions[At(column.stage)]);
      if (!column.rerun) {
        const std::size_t k = slot(column.item);
        for (const Copy& copy : copies[At(instance.maker[At(column.item)])])
          engine.AddClause({lit, ~copy.presence, ~engine.Leq(copy.start, a - 1), ~engine.Geq(copy.ends[k], a + 1)});
      } else {
        const bool last = column.stage + 1 == boundary->num_stages();
        const std::int64_t b =
            last ? the_end() : Event(positions[At(column.stage) + 1], positions[At(column.stage) + 1]);
        const auto& list = copies[At(column.item)];
        for (std::size_t c = 1; c < list.size(); ++c)
          engine.AddClause(
              {lit, ~list[c].presence, ~engine.Geq(list[c].start, a + 1), ~engine.Leq(list[c].start, b - 1)});
      }
    }
    cuts = std::make_unique<PathCuts>(*boundary);
    std::vector<std::int32_t> lazy;
    for (std::size_t r = 0; r < linear.rows.size(); ++r)
      if (linear.rows.rhs(r) == 0) lazy.push_back(static_cast<std::int32_t>(r));
    auto rows = std::make_unique<LinearRows>(linear);
    auto relaxation = std::make_unique<LinearRelaxation>(linear, rows.get(), cuts.get(), total, program.knapsacks, lazy,
                                                         LinearRelaxation::Params{});
    brancher = std::make_unique<RelaxationBrancher>(*relaxation, RelaxationBrancher::Params{});
    engine.SetBrancher(brancher.get());
    engine.Add(std::move(rows));
    engine.Add(std::move(relaxation));
  }

  // The sequence of the last solution.
  [[nodiscard]] std::vector<std::int32_t> Sequence() const {
    std::vector<std::pair<std::int64_t, std::int32_t>> at;
    for (std::size_t op = 0; op < instance.num_ops; ++op)
      for (const Copy& copy : copies[op])
        if (engine.SolutionValue(copy.presence))
          at.emplace_back(engine.SolutionValue(copy.start), static_cast<std::int32_t>(op));
    std::sort(at.begin(), at.end());
    std::vector<std::int32_t> sequence;
    for (const auto& [time, op] : at) sequence.push_back(op);
    return sequence;
  }

  const Instance& instance;
  std::unique_ptr<BoundaryModel> boundary;  // before the engine, whose propagators read these
  std::unique_ptr<PathCuts> cuts;
  LinearModel linear;
  Engine engine;
  std::unique_ptr<RelaxationBrancher> brancher;
  std::vector<std::vector<Copy>> copies;
  std::vector<Lit> extra;
  IntVar total = IntVar::kNone;
};

bool IntervalSolver::Fits(const Instance& instance) {
  constexpr std::size_t kMostOps = 130;
  return instance.plain && instance.num_ops <= kMostOps;
}

IntervalSolver::IntervalSolver(const Instance& instance, std::int64_t budget, const Params& params)
    : instance_(instance), capacity_(budget - instance.resident_bytes), budget_(budget), params_(params) {
  const std::size_t n = instance.num_ops;
  copies_.assign(n, 1);
  last_useful_.assign(n, -1);
  // From the last op to the first: a rerun of o is of use until the last first execution that depends on o.
  for (std::size_t r = n; r-- > 0;) {
    const auto op = At(instance.order[r]);
    std::int32_t last = -1;
    for (const std::int32_t v : instance.makes[op]) {
      if (instance.bytes[At(v)] == 0) continue;
      if (instance.kept[At(v)]) last = static_cast<std::int32_t>(n);  // the stage after the last first execution
      for (const std::int32_t reader : instance.readers[At(v)]) {
        last = std::max(last, instance.rank[At(reader)]);
        if (instance.may_repeat[At(reader)]) last = std::max(last, last_useful_[At(reader)]);
      }
    }
    last_useful_[op] = last;
    const bool again = instance.may_repeat[op] && last > instance.rank[op] && params.max_executions != 1;
    if (again) copies_[op] = 2;
  }
  // The LP's boundaries: the highest positions over the budget, not too near to each other.
  const SequenceFacts facts = EvaluateSequence(instance, instance.order);
  std::vector<std::int32_t> hot;
  for (std::size_t p = 0; p < facts.profile.size(); ++p)
    if (facts.profile[p] > budget) hot.push_back(static_cast<std::int32_t>(p));
  std::sort(hot.begin(), hot.end(), [&](std::int32_t a, std::int32_t b) {
    return facts.profile[At(a)] != facts.profile[At(b)] ? facts.profile[At(a)] > facts.profile[At(b)] : a < b;
  });
  const auto apart = static_cast<std::int32_t>(n / 40);
  for (const std::int32_t p : hot) {
    if (static_cast<std::int32_t>(positions_.size()) >= params.boundaries) break;
    if (std::none_of(positions_.begin(), positions_.end(), [&](std::int32_t q) { return std::abs(p - q) <= apart; }))
      positions_.push_back(p);
  }
  std::sort(positions_.begin(), positions_.end());
}

IntervalSolver::~IntervalSolver() = default;

std::int64_t IntervalSolver::conflicts() const { return model_ == nullptr ? 0 : model_->engine.statistics().conflicts; }

void IntervalSolver::SetIncumbent(std::int64_t duration) {
  if (incumbent_ && duration >= *incumbent_) return;
  incumbent_ = duration;
  if (model_ == nullptr) return;
  const std::int64_t most = duration - 1 - instance_.base_duration;
  model_->engine.AddClause({most < 0 ? ~model_->engine.True() : model_->engine.Leq(model_->total, most)});
}

void IntervalSolver::Build() {
  model_.reset();
  model_ = std::make_unique<Model>(instance_, copies_, last_useful_, positions_, budget_, capacity_, params_);
  ++models_;
  if (const auto known = incumbent_) {
    incumbent_.reset();
    SetIncumbent(*known);
  }
}

IntervalSolver::State IntervalSolver::Step(WorkBudget& work) {
  if (capacity_ < 0) proved_ = true;
  while (!proved_) {
    if (work.Exhausted()) return State::kLimit;
    if (model_ == nullptr) Build();
    const core::SatResult result = model_->engine.Solve({}, work);
    if (result == core::SatResult::kUnknown) return State::kLimit;
    if (result == core::SatResult::kUnsat) {
      proved_ = true;
      break;
    }
    bool grown = false;
    for (std::size_t op = 0; op < instance_.num_ops; ++op) {
      if (model_->extra[op].none() || !model_->engine.SolutionValue(model_->extra[op])) continue;
      ++copies_[op];
      grown = true;
    }
    if (grown) {
      model_.reset();
      continue;
    }
    plan_ = model_->Sequence();
    const SequenceFacts facts = EvaluateSequence(instance_, plan_);
    if (!facts.valid || facts.peak > budget_) throw InternalError("the interval model gave a sequence that is no plan");
    SetIncumbent(facts.duration);
    return State::kPlan;
  }
  return State::kProved;
}

}  // namespace ebb
