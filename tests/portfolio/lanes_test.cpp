// SPDX-License-Identifier: Apache-2.0
//
// The board in both ways of sharing, lanes with made-up workers, and what becomes an incumbent.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "engine/problem/graph_builder.hpp"
#include "portfolio/board.hpp"
#include "portfolio/incumbent.hpp"
#include "portfolio/lane.hpp"
#include "portfolio/problem.hpp"

namespace ebb {
namespace {

// x is read first and last; y, z lie between. Each 4 bytes: all of it in order needs 12.
Graph Diamond() {
  GraphBuilder b;
  for (const char* t : {"x", "y", "z", "w"}) b.AddTensor(t, 4);
  const auto op = [&](const char* name, std::int64_t duration, std::vector<std::string> in, const char* out) {
    GraphBuilder::OpSpec spec;
    spec.name = name;
    spec.duration = duration;
    spec.inputs = std::move(in);
    spec.outputs = {out};
    b.AddOp(std::move(spec));
  };
  op("make x", 3, {}, "x");
  op("make y", 5, {"x"}, "y");
  op("make z", 7, {"y"}, "z");
  op("make w", 11, {"z", "x"}, "w");
  b.AddGraphOutput("w");
  return b.Build();
}

struct Fixture {
  explicit Fixture(const char* budget, OrderMode order = OrderMode::kFixed) {
    options.Set("budget", budget);
    options.order = order;
    problem = MakeProblem(graph, options, {});
  }
  Graph graph = Diamond();
  Options options;
  Problem problem;
  StopSignal stop;
};

const std::vector<std::int32_t> kInOrder = {0, 1, 2, 3}, kAgain = {0, 1, 2, 0, 3}, kTwice = {0, 1, 0, 1, 2, 0, 3};

TEST_CASE("what becomes an incumbent") {
  Fixture f("12");
  CHECK(Judge(f.problem, kInOrder, "a").incumbent->duration() == 26);
  CHECK(Judge(f.problem, kAgain, "a").incumbent->duration() == 29);
  CHECK(Judge(f.problem, std::vector<std::int32_t>{0, 2, 1, 3}, "a").no_plan);
  Fixture tight("11");
  CHECK(Judge(tight.problem, kInOrder, "a").no_plan);
  Fixture capped("12");
  capped.problem.max_executions = 1;
  CHECK(Judge(capped.problem, kAgain, "a").no_plan);
  const auto a = Judge(f.problem, kInOrder, "a").incumbent, b = Judge(f.problem, kAgain, "b").incumbent;
  CHECK(Better(*a, *b));
  CHECK_FALSE(Better(*b, *a));
  CHECK_FALSE(Better(*a, *a));
}

TEST_CASE("repeats are put into the order of their stage") {
  Fixture f("100", OrderMode::kStaged);
  CHECK(SortStages(f.problem.instance, std::vector<std::int32_t>{0, 1, 1, 0, 1, 2, 3}) ==
        std::vector<std::int32_t>{0, 1, 0, 1, 2, 3});
  CHECK(Judge(f.problem, std::vector<std::int32_t>{0, 1, 1, 0, 1, 2, 3}, "a").incumbent->sequence ==
        std::vector<std::int32_t>{0, 1, 0, 1, 2, 3});
}

TEST_CASE("at once: an offer is on the board when Offer returns") {
  Fixture f("12");
  Board board(f.problem, false, {}, f.stop);
  Exchange one(board), two(board);
  CHECK(one.Interesting(26, 4));
  CHECK(one.Offer(kTwice, "one"));
  CHECK_FALSE(two.known().best);
  two.Refresh();
  REQUIRE(two.known().best);
  CHECK(two.known().best->duration() == 37);
  CHECK(two.Offer(kAgain, "two"));
  CHECK_FALSE(two.Offer(kTwice, "two"));
  CHECK_FALSE(two.Interesting(30, 5));
  one.Refresh();
  CHECK(one.known().best->duration() == 29);
  CHECK_FALSE(one.known().closed());
  CHECK(one.RaiseBound(29, "one"));
  CHECK_FALSE(one.RaiseBound(28, "one"));
  CHECK(one.known().closed());
  CHECK(board.Get().closed());
  CHECK(one.TakeTicks() > 0);
  CHECK(one.TakeTicks() == 0);
}

TEST_CASE("by rounds: nothing crosses over before the round ends") {
  Fixture f("12");
  Board board(f.problem, true, {}, f.stop);
  Exchange one(board), two(board);
  CHECK(one.Offer(kTwice, "one"));
  CHECK(two.Offer(kAgain, "two"));
  CHECK_FALSE(board.Get().best);
  one.Flush();
  two.Flush();
  one.Refresh();
  CHECK(one.known().best->duration() == 29);
  CHECK(std::string(board.Get().best->worker) == "two");
}

TEST_CASE("what lanes know of different parts is joined") {
  const auto piece = [](std::vector<std::int32_t> ops) {
    return std::make_shared<const std::vector<std::int32_t>>(ops);
  };
  for (const bool by_rounds : {false, true}) {
    CAPTURE(by_rounds);
    Fixture f("12");
    Board board(f.problem, by_rounds, {}, f.stop);
    Exchange one(board), two(board);
    one.TellParts(std::vector<PartFacts>{{5, 9, piece({0, 1})}, {}});
    two.TellParts(std::vector<PartFacts>{{4, 8, piece({0, 1, 0})}, {7, 7, piece({2})}});
    CHECK((board.Get().parts == nullptr) == by_rounds);
    one.Flush();
    two.Flush();
    one.Refresh();
    REQUIRE(one.known().parts);
    const std::vector<PartFacts>& parts = *one.known().parts;
    CHECK(parts[0].lower == 5);
    CHECK(parts[0].upper == 8);
    CHECK(parts[0].piece->size() == 3);
    CHECK(parts[1].lower == 7);
    one.TellParts(std::vector<PartFacts>{{6, 8, piece({1})}, {}});  // as short as what is known: that stays
    CHECK((*one.known().parts)[0].lower == 6);
    CHECK((*one.known().parts)[0].piece->size() == 3);
    CHECK((*one.known().parts)[1].piece->size() == 1);
  }
}

TEST_CASE("contradictions are faults") {
  Fixture f("12");
  Board board(f.problem, false, {}, f.stop);
  Exchange one(board);
  CHECK(one.Offer(kInOrder, "one"));
  CHECK_THROWS_AS(one.RaiseBound(27, "one"), InternalError);
  CHECK_THROWS_AS(one.ProveInfeasible({}), InternalError);
}

TEST_CASE("events go out once, in order, and can end the solve") {
  Fixture f("12");
  std::vector<std::int64_t> durations;
  Board board(
      f.problem, false,
      [&](const LogEvent& e) {
        if (e.kind == LogEvent::Kind::kPlan) durations.push_back(e.duration);
        return durations.size() < 2;
      },
      f.stop);
  Exchange one(board);
  one.Offer(kTwice, "one");
  CHECK_FALSE(f.stop.cancelled());
  one.Offer(kAgain, "one");
  CHECK(f.stop.cancelled());
  CHECK(durations == std::vector<std::int64_t>{37, 29});
}

// Spends `each` ticks a step and writes its mark; ends after `steps`. The lane's clock counts the work of all.
class Clockwork : public Worker {
 public:
  Clockwork(char mark, Ticks each, int steps, std::string& out) : mark_(mark), each_(each), left_(steps), out_(out) {}
  const char* name() const override { return "clockwork"; }
  bool Step(WorkBudget& budget, Exchange& exchange) override {
    CHECK(exchange.clock() == each_ * static_cast<Ticks>(out_.size()));
    budget.Spend(each_);
    out_ += mark_;
    return --left_ > 0;
  }

 private:
  char mark_;
  Ticks each_;
  int left_;
  std::string& out_;
};

std::string RunLane(Fixture& f, double share, int steps, Ticks limit, Ticks chunk) {
  std::string out;
  Board board(f.problem, true, {}, f.stop);
  std::vector<WorkerSlot> slots;
  slots.push_back({std::make_unique<Clockwork>('a', 1'000'000, steps, out), share});
  slots.push_back({std::make_unique<Clockwork>('b', 1'000'000, steps, out), 1});
  Lane lane(board, std::move(slots), limit);
  for (Ticks until = chunk; lane.Run(until); until += chunk) {
  }
  CHECK(lane.done());
  return out;
}

TEST_CASE("lanes share their work, repeat, and end") {
  Fixture f("11");
  CHECK(RunLane(f, 1, 3, 100'000'000, 100'000'000) == "ababab");
  const std::string uneven = RunLane(f, 3, 1000, 40'000'000, 100'000'000);
  CHECK(uneven.size() == 40);
  CHECK(std::count(uneven.begin(), uneven.end(), 'a') == 30);
  CHECK(RunLane(f, 3, 1000, 40'000'000, 7'000'000) == uneven);  // however it is cut
  f.stop.Cancel();
  CHECK(RunLane(f, 1, 3, 100'000'000, 100'000'000).empty());
}

class Metronome : public Worker {
 public:
  explicit Metronome(std::string& out) : out_(out) {}
  const char* name() const override { return "metronome"; }
  bool Step(WorkBudget& budget, Exchange&) override {
    budget.Spend(1'000'000);
    out_ += 'a';
    return true;
  }

 private:
  std::string& out_;
};

// Has work for some steps, then none, then again: 'B' for a step of work, '.' for a look at whether there is any.
class Napping : public Worker {
 public:
  explicit Napping(std::string& out) : out_(out) {}
  const char* name() const override { return "napping"; }
  double appetite() const override { return busy_ > 0 ? 1 : 0.001; }
  bool Step(WorkBudget& budget, Exchange&) override {
    if (busy_ == 0 && naps_-- == 0) busy_ = 20;
    if (busy_ == 0) {
      out_ += '.';
      return true;
    }
    budget.Spend(1'000'000);
    out_ += 'B';
    if (--busy_ == 0 && naps_ < 0) naps_ = 5;
    return true;
  }

 private:
  std::string& out_;
  int busy_ = 20, naps_ = 5;
};

// (A step of work counted with an idle worker's appetite is a thousand of the other's.)
TEST_CASE("who runs out of work or has some again is not kept from its lane for it") {
  Fixture f("11");
  std::string out;
  Board board(f.problem, true, {}, f.stop);
  std::vector<WorkerSlot> slots;
  slots.push_back({std::make_unique<Napping>(out), 1});
  slots.push_back({std::make_unique<Metronome>(out), 1});
  Lane lane(board, std::move(slots), 1'000'000'000);
  lane.Run(1'000'000'000);
  CHECK(std::count(out.begin(), out.end(), 'B') > 150);
  CHECK(std::count(out.begin(), out.end(), '.') > 30);
  CHECK(out.find(std::string(30, 'a')) == std::string::npos);
  CHECK(out.find(std::string(3, 'B')) == std::string::npos);
}

// Is in the middle of something long when the user wants an end.
class Surprised : public Worker {
 public:
  const char* name() const override { return "surprised"; }
  bool Step(WorkBudget& budget, Exchange& exchange) override {
    exchange.board().stop().Cancel();
    ThrowIfExpired(budget.stop_signal());
    return true;
  }
};

TEST_CASE("a worker that is interrupted ends its lane, and that is all") {
  Fixture f("12");
  Board board(f.problem, true, {}, f.stop);
  std::string out;
  std::vector<WorkerSlot> slots;
  slots.push_back({std::make_unique<Clockwork>('a', 1'000'000, 100, out), 1});
  slots.push_back({std::make_unique<Surprised>(), 1});
  Lane lane(board, std::move(slots), 100'000'000);
  CHECK_FALSE(lane.Run(100'000'000));
  CHECK(lane.done());
  CHECK_FALSE(lane.out_of_memory());
  CHECK(out == "a");
}

}  // namespace
}  // namespace ebb
