// SPDX-License-Identifier: Apache-2.0
//
// Rows about reruns between two neighbouring first executions (moment rows, told orders, stage cuts) against sequences:
// whatever a sequence that fits does, its 0/1 point must obey every row of the model, and every row that is made on
// demand anywhere else. The sequences are random, with reruns in any order and number, and the budget is their own
// peak.
#include "engine/bounds/told_orders.hpp"

#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "engine/bounds/model_rows.hpp"
#include "tests/oracle/random_case.hpp"
#include "tests/support/seed.hpp"

namespace {

std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

// First executions in the given order, before each of them some reruns whose inputs have all been made.
std::vector<std::int32_t> RandomSequence(const ebb::Instance& in, ebb::test::Rng& rng) {
  std::vector<std::int32_t> sequence;
  for (std::size_t p = 0; p < in.num_ops; ++p) {
    const auto most = ebb::test::Chance(rng, 40) ? ebb::test::Draw(rng, 1, 6) : 0;
    for (std::int64_t i = 0; i < most && p > 0; ++i) {
      const std::int32_t op =
          in.order[At(static_cast<std::int32_t>(ebb::test::Draw(rng, 0, static_cast<std::int64_t>(p) - 1)))];
      if (in.may_repeat[At(op)]) sequence.push_back(op);
    }
    sequence.push_back(in.order[p]);
  }
  return sequence;
}

// Reruns that nobody reads before the next one are of no use, and the storages are not told apart by the model.
std::vector<std::int32_t> WithoutUseless(const ebb::Instance& in, std::vector<std::int32_t> sequence) {
  for (bool again = true; again;) {
    again = false;
    std::vector<std::uint8_t> wanted(in.num_values, 0);
    std::vector<std::size_t> first(in.num_ops, 0);
    for (std::size_t e = sequence.size(); e-- > 0;) first[At(sequence[e])] = e;
    for (std::size_t v = 0; v < in.num_values; ++v) wanted[v] = in.kept[v];
    for (std::size_t e = sequence.size(); e-- > 0;) {
      const std::size_t op = At(sequence[e]);
      const auto makes = in.makes[op];
      const bool useful = std::any_of(makes.begin(), makes.end(), [&](std::int32_t v) { return wanted[At(v)] != 0; });
      if (!useful && first[op] != e) {
        sequence.erase(sequence.begin() + static_cast<std::ptrdiff_t>(e));
        again = true;
        break;
      }
      for (const std::int32_t v : makes) wanted[At(v)] = 0;
      for (const std::int32_t v : in.reads[op]) wanted[At(v)] = 1;
    }
  }
  return sequence;
}

// What the sequence does, by column.
std::vector<double> PointOf(const ebb::BoundaryModel& model, const std::vector<std::int32_t>& sequence) {
  const ebb::Instance& in = model.instance();
  const std::size_t stages = At(model.num_stages());
  std::vector<double> x(model.columns().size(), 0.0);
  // Stage of each execution (boundary k belongs to what is before it), and whether it is a first one.
  std::vector<std::int32_t> stage;
  std::vector<std::uint8_t> seen(in.num_ops, 0), first;
  std::vector<std::size_t> boundary(stages, 0);
  std::int32_t at = -1;
  for (std::size_t e = 0; e < sequence.size(); ++e) {
    const std::size_t op = At(sequence[e]);
    first.push_back(!seen[op]);
    seen[op] = 1;
    stage.push_back(at);
    if (first.back() && at + 1 < model.num_stages() && in.rank[op] == model.positions()[At(at + 1)])
      boundary[At(++at)] = e;
  }
  for (std::size_t c = 0; c < x.size(); ++c) {
    const ebb::BoundaryModel::Column& column = model.columns()[c];
    if (column.item < 0) continue;
    std::int64_t count = 0, last = -1, other = -1;
    switch (column.kind) {
      case ebb::BoundaryModel::Kind::kStay: {
        const std::size_t b = boundary[At(column.stage)];
        bool there = in.kept[At(column.item)] != 0;
        for (std::size_t e = b + 1; e < sequence.size(); ++e) {
          const auto reads = in.reads[At(sequence[e])];
          if (std::find(reads.begin(), reads.end(), column.item) != reads.end()) {
            there = true;
            break;
          }
          if (sequence[e] == in.maker[At(column.item)]) {
            there = false;
            break;
          }
        }
        x[c] = there ? 1 : 0;
        break;
      }
      default:
        for (std::size_t e = 0; e < sequence.size(); ++e) {
          if (first[e] || stage[e] != column.stage) continue;
          if (sequence[e] == column.item) {
            ++count;
            last = static_cast<std::int64_t>(e);
          }
          if (sequence[e] == column.other) other = static_cast<std::int64_t>(e);
        }
        if (column.kind == ebb::BoundaryModel::Kind::kRerun) x[c] = count > 0;
        if (column.kind == ebb::BoundaryModel::Kind::kTwice) x[c] = count > 1;
        if (column.kind == ebb::BoundaryModel::Kind::kOrder) x[c] = last >= 0 && other >= 0 && other < last;
    }
  }
  return x;
}

bool Obeys(const ebb::IntegerRows& rows, std::size_t r, const std::vector<double>& x) {
  double activity = 0;
  for (const std::int32_t column : rows.columns(r)) REQUIRE((column >= 0 && At(column) < x.size()));
  for (std::size_t i = 0; i < rows.columns(r).size(); ++i)
    activity += static_cast<double>(rows.coefficients(r)[i]) * x[At(rows.columns(r)[i])];
  return activity > static_cast<double>(rows.rhs(r)) - 1e-6;
}

}  // namespace

TEST_CASE("what a sequence does obeys every row about reruns alone") {
  ebb::test::Rng rng(ebb::test::Seed("told_orders"));
  std::int64_t told = 0, inverted = 0, twice = 0, made = 0;
  for (int round = 0; round < 4000; ++round) {
    CAPTURE(round);
    auto options = ebb::test::RandomGraphOptions::Plain();
    options.min_ops = 4;
    options.max_ops = 10;
    const ebb::test::RandomCase c = ebb::test::DrawCase(rng, options);
    const ebb::Instance& in = c.instance;
    if (!in.plain) continue;
    const std::vector<std::int32_t> sequence = WithoutUseless(in, RandomSequence(in, rng));
    const ebb::SequenceFacts facts = ebb::EvaluateSequence(in, sequence);
    REQUIRE(facts.valid);
    std::vector<std::int32_t> positions;
    for (std::size_t p = 0; p < in.num_ops; ++p)
      if (ebb::test::Chance(rng, 80)) positions.push_back(static_cast<std::int32_t>(p));
    if (positions.empty()) continue;
    ebb::BoundaryModel model(in, facts.peak, positions, {}, 30);
    REQUIRE_FALSE(model.impossible());
    std::string text = c.Text() + "\nsequence";
    for (const std::int32_t op : sequence) text += ' ' + std::to_string(op);
    INFO(text);
    ebb::ModelRows rows(model, facts.peak, false, true, true, &model);
    for (int look = 0; look < 12; ++look) {
      std::vector<double> x = PointOf(model, sequence);
      const bool whole = ebb::test::Chance(rng, 60);
      for (double& value : x)
        if (ebb::test::Chance(rng, 10 * look))
          value = static_cast<double>(ebb::test::Draw(rng, 0, whole ? 1 : 4)) / (whole ? 1 : 4);
      ebb::IntegerRows found;
      rows.Separate(x, whole, false, found);
      const std::vector<double> truth = PointOf(model, sequence);  // with what was told just now
      for (std::size_t r = 0; r < found.size(); ++r) REQUIRE(Obeys(found, r, truth));
      made += static_cast<std::int64_t>(found.size());
    }
    const std::vector<double> truth = PointOf(model, sequence);
    for (std::size_t r = 0; r < model.program().rows.size(); ++r) REQUIRE(Obeys(model.program().rows, r, truth));
    std::int64_t cost = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) cost += truth[i] > 0.5 ? model.program().cost[i] : 0;
    REQUIRE(in.base_duration + cost <= facts.duration);
    told += static_cast<std::int64_t>(model.orders().size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      inverted += truth[i] > 0.5 && model.columns()[i].kind == ebb::BoundaryModel::Kind::kOrder;
      twice += truth[i] > 0.5 && model.columns()[i].kind == ebb::BoundaryModel::Kind::kTwice;
    }
  }
  MESSAGE("rows " << made << ", orders told " << told << ", of them the other way " << inverted << ", twice " << twice);
  CHECK(told > 0);
  CHECK(inverted > 0);
}
