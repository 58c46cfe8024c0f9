// SPDX-License-Identifier: Apache-2.0
// The whole solve with one worker less; what it leaves open; models' sizes; how soon a cancel is heard.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>

#include "engine/problem/windows.hpp"
#include "io/generate.hpp"
#include "portfolio/interval_model.hpp"
#include "portfolio/interval_solver.hpp"
#include "portfolio/solve.hpp"
#include "propagators/learning_solver.hpp"

#include "bench/engine_table.hpp"

namespace ebb::bench {
namespace {

double Seconds(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

// Allocated now, in MiB.
double Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
}

struct Ask {
  std::string graph;
  double fraction;
  const char* order;
  const char* off;  // the switch; null: none
  const char* work;
  const char* threads = "1";
};

struct Told {
  SolveStatus status;
  std::int64_t plan;  // duration; the largest number: none
  std::int64_t bound;
  [[nodiscard]] bool proved() const { return status == SolveStatus::kOptimal || status == SolveStatus::kInfeasible; }
};

Told Run(const Case& c, const Ask& ask, bool on) {
  Options options;
  options.Set("budget", std::to_string(c.budget));
  options.Set("order", ask.order);
  options.Set("threads", ask.threads);
  options.Set("work-limit", ask.work);
  if (!on) options.Set(ask.off, "off");
  StopSignal stop;
  const Answer answer = Solve(c.graph, options, {}, stop, {});
  return {answer.status, answer.plan ? answer.plan->duration.count() : std::numeric_limits<std::int64_t>::max(),
          answer.lower_bound};
}

std::string Bold(const std::string& text, bool bold) { return bold ? "**" + text + "**" : text; }

// In bold what is better than the other's.
std::string Text(const Case& c, const Told& mine, const Told& other) {
  if (mine.proved())
    return Bold(mine.status == SolveStatus::kInfeasible ? "infeasible" : "optimal, " + c.Percent(mine.plan),
                !other.proved());
  const bool none = mine.plan == std::numeric_limits<std::int64_t>::max();
  return Bold(none ? "no plan" : c.Percent(mine.plan), !other.proved() && mine.plan < other.plan) + ", " +
         Bold("bound " + c.Percent(mine.bound), !other.proved() && mine.bound > other.bound);
}

std::string Where(const Ask& ask) {
  std::string text = Label(ask.graph, ask.fraction, ask.order);
  if (std::string(ask.threads) != "1") text += ", " + std::string(ask.threads) + " threads";
  return text + ", work " + ask.work;
}

}  // namespace

void Workers() {
  std::cout << "| worker off | instance | with | without |\n|---|---|---|---|\n";
  for (const Ask& ask : std::vector<Ask>{
           {"gen random 45 2", 0.8, "staged", "intervals", "8"},
           {"layered_n1000_", 0.9, "fixed", "relax", "1"},
           {"layered_n250_", 0.8, "staged", "learning", "2"},
           {"layered_n500_", 0.8, "staged", "learning", "2"},
           {"layered_n1000_", 0.9, "fixed", "learning", "2"},
           {"layered_n100_", 0.7, "fixed", "climb", "4", "2"},
           {"layered_n250_", 0.7, "free", "anneal", "1"},
           {"gen transformer 24 16", 0.5, "fixed", "gap-cover", "2"},
           {"gen random 14 1", 0.75, "free", "state-search", "1"},
           {"gen random 24 1", 0.75, "free", "state-search", "1"},
           {"layered_n100_", 0.62, "free", "gap-cover-integer", "1"},
           {"layered_n500_", 0.7, "fixed", "neighbourhood", "4"},
           {"ResNet50_256_train", 0.3, "fixed", "neighbourhood", "3"},
           {"gen layered 10000 1", 0.8, "fixed", "drops", "1"},
           {"layered_n100_", 0.6, "fixed", "backward", "2"},
           {"gen transformer 24 1 plain", 0.3, "fixed", "presolve", "2"},
           {"ResNet50_256_train", 0.15, "fixed", "presolve", "1"},
           {"gen transformer 800 1 plain", 0.5, "fixed", "windows", "4", "2"},
       }) {
    if (Absent(ask.graph)) continue;
    const Case c(ask.graph, ask.fraction);
    const Told with = Run(c, ask, true), without = Run(c, ask, false);
    std::cout << "| `" << ask.off << "` | " << Where(ask) << " | " << Text(c, with, without) << " | "
              << Text(c, without, with) << " |" << std::endl;
  }
}

void Open() {
  std::cout << "| instance | plan | bound | gap in points |\n|---|---|---|---|\n";
  for (const Ask& ask : std::vector<Ask>{
           {"layered_n100_", 0.7, "fixed", nullptr, "6"},
           {"layered_n100_", 0.6, "fixed", nullptr, "6"},
           {"layered_n100_", 0.6, "staged", nullptr, "6"},
           {"layered_n250_", 0.7, "fixed", nullptr, "6"},
           {"layered_n250_", 0.6, "fixed", nullptr, "8"},
           {"layered_n500_", 0.7, "fixed", nullptr, "8"},
       }) {
    if (Absent(ask.graph)) continue;
    const Case c(ask.graph, ask.fraction);
    const Told told = Run(c, ask, true);
    const bool none = told.plan == std::numeric_limits<std::int64_t>::max();
    char gap[32] = "";
    if (!none)
      std::snprintf(
          gap, sizeof gap, "%.2f",
          100.0 * static_cast<double>(told.plan - told.bound) / static_cast<double>(c.instance.base_duration));
    std::cout << "| " << Where(ask) << " | " << (none ? "none" : c.Percent(told.plan)) << " | " << c.Percent(told.bound)
              << " | " << gap << " |" << std::endl;
  }
}

void Size() {
  std::cout << "| model | ops | boundaries or positions | columns or literals | rows or copies | build s | MiB |\n"
               "|---|---|---|---|---|---|---|\n";
  const auto boundary = [](const char* name, const Instance& in, std::int64_t budget, std::size_t count) {
    const std::vector<std::int32_t> at = HotPositions(in, budget, count);
    const double before = Allocated();
    const auto start = std::chrono::steady_clock::now();
    const BoundaryModel model(in, budget, at);
    std::cout << "| boundary relaxation, " << name << " | " << in.num_ops << " | " << at.size() << " | "
              << model.columns().size() << " | " << model.program().rows.size() << " | " << Seconds(start) << " | "
              << Allocated() - before << " |" << std::endl;
  };
  const auto intervals = [](const char* name, const Instance& in, std::int64_t budget, OrderMode order) {
    IntervalParams params;
    const IntervalSolver solver(in, order, budget, params);
    const double before = Allocated();
    const auto start = std::chrono::steady_clock::now();
    IntervalModel model(in, order, budget, solver.copies(), solver.positions(), params);
    std::size_t copies = 0;
    for (std::size_t op = 0; op < in.num_ops; ++op) copies += model.copies(static_cast<std::int32_t>(op)).size();
    std::cout << "| intervals, " << name << ' ' << ToString(order) << " | " << in.num_ops << " | " << model.axis().end()
              << " | " << model.engine().num_sat_vars() << " | " << copies << " | " << Seconds(start) << " | "
              << Allocated() - before << " |" << std::endl;
  };
  {
    GenerateSpec spec;
    spec.ops = 10'000;
    const Graph graph = Generate("layered", spec);
    const Instance in = MakeInstance(graph);
    const std::int64_t budget = EvaluateSequence(in, in.order).peak / 10 * 8;
    for (const std::size_t k : {1, 3, 10}) boundary("layered, made", in, budget, k);
    const std::vector<std::int32_t> cuts = ChooseCuts(in, 3000);
    std::vector<Window> windows = ExtractWindows(in, in.order, cuts, false);
    const auto largest = std::max_element(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
      return a.instance.num_ops < b.instance.num_ops;
    });
    for (const std::size_t k : {3, 10}) boundary("its largest window", largest->instance, budget, k);
  }
  for (const char* name : {"layered_n100_", "layered_n250_", "layered_n1000_"}) {
    if (Absent(name)) continue;
    const Case c(name, 0.8);
    if (c.instance.num_ops >= 1000) {
      for (const std::size_t k : {1, 3, 10, 40}) boundary(name, c.instance, c.budget, k);
    } else {
      boundary(name, c.instance, c.budget, 6);
      intervals(name, c.instance, c.budget, OrderMode::kStaged);
      intervals(name, c.instance, c.budget, OrderMode::kFixed);
    }
  }
}

void Stop() {
  // On a busy machine the processor's seconds (of all threads) say more than the clock's.
  std::cout << "| instance | cancelled after s | answer after s more | processor s until then |\n|---|---|---|---|\n";
  const auto row = [](const std::string& name, double after, auto search) {
    StopSignal stop;
    const auto start = std::chrono::steady_clock::now();
    double cancelled = 0;
    std::clock_t used = 0;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::duration<double>(after));
      cancelled = Seconds(start);
      used = std::clock();
      stop.Cancel();
    });
    search(stop);
    const double ended = Seconds(start);
    const std::clock_t then = std::clock();
    later.join();
    std::cout << "| " << name << " | " << after << " | " << std::max(0.0, ended - cancelled) << " | "
              << static_cast<double>(then - used) / CLOCKS_PER_SEC << " |" << std::endl;
  };
  for (const auto& [name, fraction] : std::vector<std::pair<const char*, double>>{{"layered_n100_", 0.7},
                                                                                  {"layered_n250_", 0.7},
                                                                                  {"layered_n1000_", 0.8},
                                                                                  {"ResNet50_256_train", 0.3},
                                                                                  {"vit_l_16", 0.29},
                                                                                  {"llama_7b", 0.48}}) {
    if (Absent(name)) continue;
    const Case c(name, fraction);
    for (const double after : {0.2, 1.0, 3.0}) {
      Options options;
      options.Set("budget", std::to_string(c.budget));
      options.Set("threads", "2");
      row(std::string(name) + " " + std::to_string(fraction).substr(0, 4), after,
          [&](StopSignal& stop) { static_cast<void>(Solve(c.graph, options, {}, stop, {})); });
    }
  }
  // The engine alone: one search that would go on for minutes.
  const auto alone = [&](const std::string& name, double after, auto search) {
    row(name, after, [&](StopSignal& stop) {
      WorkBudget work(std::numeric_limits<Ticks>::max(), &stop);
      search(work);
    });
  };
  for (const double after : {0.3, 1.0, 2.0}) {
    if (!Absent("layered_n250_")) {
      const Case c("layered_n250_", 0.8);
      alone("engine, intervals with the LP, RL n=250 0.8 fixed", after, [&](WorkBudget& work) {
        IntervalSolver solver(c.instance, OrderMode::kFixed, c.budget, {});
        static_cast<void>(solver.Step(work));
      });
    }
    if (!Absent("layered_n1000_")) {
      const Case c("layered_n1000_", 0.8);
      alone("engine, boundary relaxation, RL n=1000 0.8, nine boundaries", after, [&](WorkBudget& work) {
        const BoundaryModel model(c.instance, c.budget, HotPositions(c.instance, c.budget, 9));
        PathCuts cuts(model);
        LearningSolver solver(model.program(), &cuts, {});
        static_cast<void>(solver.Step(work));
      });
    }
  }
}

}  // namespace ebb::bench
