// SPDX-License-Identifier: Apache-2.0
//
// The C++ face of the interface: graphs by calls, exceptions from errors and out of callbacks.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

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

namespace {

// n steps forward and n back; the step back i reads what the step forward i made.
ebbtide::Graph Chain(int n) {
  ebbtide::Graph g;
  std::vector<std::int64_t> made;
  std::int64_t last = -1;
  for (int i = 0; i < n; ++i) {
    const std::int64_t a = g.AddTensor("a" + std::to_string(i), 10 + i % 3);
    g.AddOp("f" + std::to_string(i), 3 + i % 4, made.empty() ? made : std::vector<std::int64_t>{made.back()}, {a});
    made.push_back(a);
  }
  for (int i = n; i-- > 0;) {
    const std::int64_t b = g.AddTensor("b" + std::to_string(i), 10);
    g.AddOp("g" + std::to_string(i), 5,
            last < 0 ? std::vector<std::int64_t>{made[static_cast<std::size_t>(i)]}
                     : std::vector<std::int64_t>{made[static_cast<std::size_t>(i)], last},
            {b});
    last = b;
  }
  g.AddOutput(last);
  g.Finish();
  return g;
}

std::string Solved(const ebbtide::Graph& g, const std::string& budget) {
  ebbtide::Solver solver;
  solver.Set("budget", budget).Set("threads", "2").Set("work-limit", "0.2");
  return solver.Solve(g).ToJson();
}

}  // namespace

TEST_CASE("many solves at once on one graph answer as one after the other") {
  const ebbtide::Graph g = Chain(30);
  const std::vector<std::string> budgets = {"0.3", "0.5", "0.3", "0.7"};
  std::vector<std::string> alone, together(budgets.size());
  for (const std::string& b : budgets) alone.push_back(Solved(g, b));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < budgets.size(); ++i)
    threads.emplace_back([&, i] { together[i] = Solved(g, budgets[i]); });
  for (std::thread& t : threads) t.join();
  CHECK(together == alone);
  CHECK(alone[0] == alone[2]);
  ebbtide::Plan plan = ebbtide::Plan::FromMemory(g, alone[1]);
  plan.Check();
  CHECK(plan.order() == EBB_ORDER_FIXED);
  CHECK(plan.Resident(0) == g.tensor_bytes(g.FindTensor("a0")));
}

TEST_CASE("a solve is cancelled from another thread, and another one goes on") {
  const ebbtide::Graph g = Chain(60);
  ebbtide::Solver stopped, other;
  std::atomic<bool> begun{false};
  stopped.Set("budget", "100").Set("time-limit", "1000").Set("threads", "1").OnProgress([&](const ebb_progress*) {
    begun = true;
    return true;
  });
  other.Set("budget", "0.6").Set("work-limit", "0.2").Set("threads", "1");
  ebb_status status = EBB_STATUS_OPTIMAL;
  std::thread runs([&] { status = stopped.Solve(g).status(); });
  while (!begun) std::this_thread::yield();
  stopped.Cancel();
  runs.join();  // or the test runs into its time limit
  CHECK(status != EBB_STATUS_INFEASIBLE);
  CHECK(other.Solve(g).has_plan());
  CHECK(other.Get("threads") == "1");
}
