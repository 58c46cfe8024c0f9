// SPDX-License-Identifier: Apache-2.0
//
// The C++ face of the interface: graphs by calls, exceptions from errors and out of callbacks.
#include <doctest/doctest.h>

#include <ebbtide/ebbtide.hpp>

TEST_CASE("a graph by calls, solved and followed") {
  ebbtide::Graph g;
  // x (large) is read first and last: with 9 bytes it cannot wait through f..h, so it runs again.
  const auto x = g.AddTensor("x", 4), a = g.AddTensor("a", 4), b = g.AddTensor("b", 4), c = g.AddTensor("c", 1);
  g.AddOp("make x", 3, {}, {x});
  g.AddOp("f", 5, {x}, {a});
  g.AddOp("g", 7, {a}, {b});
  g.AddOp("h", 11, {b, x}, {c});
  g.AddOutput(c);
  g.Finish();
  CHECK(g.num_ops() == 4);
  CHECK(g.base_duration() == 26);
  CHECK(g.base_peak() == 12);

  ebbtide::Solver solver;
  int calls = 0;
  solver.Set("budget", "9").Set("threads", "1").OnProgress([&](const ebb_progress*) { return ++calls > 0; });
  ebbtide::Plan plan = solver.Solve(g);
  CHECK(plan.status() == EBB_STATUS_OPTIMAL);
  CHECK(plan.duration() == 29);
  CHECK(plan.Sequence() == std::vector<std::int64_t>{0, 1, 2, 0, 3});
  CHECK(plan.Producers(4) == std::vector<std::int64_t>{2, 3});
  CHECK_FALSE(plan.Frees().empty());
  CHECK(calls > 0);
  plan.Check();

  ebbtide::Solver again;
  again.Set("budget", "8").Set("threads", "1");
  CHECK(again.Solve(g).status() == EBB_STATUS_INFEASIBLE);
}

TEST_CASE("errors are exceptions") {
  CHECK_THROWS_AS(ebbtide::Graph::FromFile("/no/such/file"), ebbtide::Error);
  CHECK_THROWS_AS(ebbtide::Graph::FromMemory("{"), ebbtide::Error);
  ebbtide::Solver solver;
  CHECK_THROWS_WITH_AS(solver.Set("threads", "none"), doctest::Contains("threads"), ebbtide::Error);
  ebbtide::Graph g;
  const auto t = g.AddTensor("t", 1);
  CHECK_THROWS_AS(g.AddOp("f", 1, {7}, {t}), ebbtide::Error);
}

TEST_CASE("what a callback throws comes out of Solve") {
  ebbtide::Graph g;
  const auto t = g.AddTensor("t", 1);
  g.AddOp("f", 1, {}, {t});
  g.Finish();
  ebbtide::Solver solver;
  solver.Set("budget", "1.0").OnProgress([](const ebb_progress*) -> bool { throw std::logic_error("mine"); });
  CHECK_THROWS_WITH_AS((void)solver.Solve(g), "mine", std::logic_error);
}
