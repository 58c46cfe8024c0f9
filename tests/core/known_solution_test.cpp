// SPDX-License-Identifier: Apache-2.0
// The known-solution check sees a rule that cuts a solution off, and lets the incumbent's bound do so.
#include "engine/core/known_solution.hpp"

#include <sstream>

#include <doctest/doctest.h>

#include "engine/base/status.hpp"
#include "engine/core/proof_log.hpp"
#include "tests/core/toys.hpp"

namespace ebb::core::test {
namespace {

// At most one of two literals, and, where it lies, none.
class Liar final : public Propagator {
  static constexpr std::string_view kRules[] = {"one", "none"};

 public:
  Liar(Lit a, Lit b, bool lies) : Propagator("liar", kRules, Priority::kLinear), a_(a), b_(b), lies_(lies) {}
  void Attach(Engine& e, PropId id) override {
    id_ = id;
    e.Watch(a_, id, 0);
    e.Watch(b_, id, 0);
  }
  bool Propagate(Engine& e) override {
    if (lies_ && !e.Infer(id_, 1, ~a_, {})) return false;
    if (e.IsTrue(a_) && !e.Infer(id_, 0, ~b_, {a_})) return false;
    return !e.IsTrue(b_) || e.Infer(id_, 0, ~a_, {b_});
  }
  bool Implies(const Engine&, std::uint16_t, std::span<const Lit>) const override { return true; }

 private:
  PropId id_ = PropId::kNone;
  Lit a_, b_;
  bool lies_;
};

TEST_CASE("a rule that cuts the known solution off is told, an incumbent's bound is not") {
  for (const bool lies : {false, true}) {
    Engine e;
    KnownSolution known;
    known.Attach(e);
    const Lit a = e.NewLit(), b = e.NewLit();
    const IntVar total = e.NewInt(0, 5);
    e.AddClause({a, b});
    e.AddClause({~a, e.Geq(total, 3)});
    e.Add(std::make_unique<Liar>(a, b, lies));
    known.Set(a, true);
    known.Set(b, false);
    known.Set(total, 3);
    known.Begin(total);
    WorkBudget work;
    if (lies) {
      CHECK_THROWS_AS(static_cast<void>(e.Solve({}, work)), InternalError);
      continue;
    }
    CHECK(e.Solve({}, work) == SatResult::kSat);
    e.AddClause({e.Leq(total, 2)});  // only better ones
    CHECK(e.Solve({}, work) == SatResult::kSat);
    CHECK(e.SolutionValue(b));
    CHECK(known.judged() >= 4);
  }
}

TEST_CASE("what the model itself cuts off is told when the values are") {
  Engine e;
  KnownSolution known;
  known.Attach(e);
  const Lit a = e.NewLit();
  e.AddClause({~a});
  known.Set(a, true);
  CHECK_THROWS_AS(known.Begin(IntVar::kNone), InternalError);
}

TEST_CASE("a proof log tells names before use, reasons with their rules, and what was derived") {
  std::ostringstream out;
  ProofLog log(out);
  Engine e(0, log.derived());
  log.Attach(e);
  // Five pigeons, four holes.
  std::vector<std::vector<Lit>> in(5);
  for (auto& row : in) {
    for (int h = 0; h < 4; ++h) row.push_back(e.NewLit());
    log.Name(row[0], "first");
    e.AddClause(row);
  }
  for (std::size_t h = 0; h < 4; ++h) {
    std::vector<Lit> column;
    for (auto& row : in) column.push_back(row[h]);
    e.Add(std::make_unique<AtMost>(column, 1));
  }
  WorkBudget work;
  CHECK(e.Solve({}, work) == SatResult::kUnsat);
  log.Finish();
  std::istringstream lines(out.str());
  std::vector<std::uint8_t> named(e.num_sat_vars(), 0);
  named[1] = 1;
  std::int64_t reasons = 0, derived = 0;
  for (std::string key; lines >> key;) {
    std::string rest;
    std::getline(lines, rest);
    std::istringstream words(rest);
    std::string rule;
    std::int32_t lit = 0;
    if (key == "v") {
      words >> lit;
      named[static_cast<std::size_t>(lit)] = 1;
      continue;
    }
    if (key == "i") words >> rule;
    reasons += rule == "at-most-k/full";
    derived += key == "l";
    while (words >> lit && lit != 0) CHECK(named[static_cast<std::size_t>(std::abs(lit))] == 1);
  }
  CHECK(reasons > 0);
  CHECK(derived > 0);
}

}  // namespace
}  // namespace ebb::core::test
