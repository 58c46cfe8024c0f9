// SPDX-License-Identifier: Apache-2.0
// The whole solve with one worker less; models' sizes; how soon a cancel is heard.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
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
  const char* off;  // the switch
  const char* work;
  const char* threads = "1";
};

void One(const Ask& ask) {
  if (Absent(ask.graph)) return;
  const Case c(ask.graph, ask.fraction);
  for (const bool on : {true, false}) {
    Options options;
    options.Set("budget", std::to_string(c.budget));
    options.Set("order", ask.order);
    options.Set("threads", ask.threads);
    options.Set("work-limit", ask.work);
    if (!on) options.Set(ask.off, "off");
    StopSignal stop;
    const auto start = std::chrono::steady_clock::now();
    const Answer answer = Solve(c.graph, options, {}, stop, {});
    std::cout << "| " << ask.graph << ' ' << std::to_string(ask.fraction).substr(0, 4) << ' ' << ask.order << " | "
              << (on ? "all" : "without " + std::string(ask.off)) << " | " << ToString(answer.status) << " | "
              << (answer.plan ? c.Percent(answer.plan->duration.count()) : "none") << " | "
              << c.Percent(answer.lower_bound) << " | " << Seconds(start) << " |" << std::endl;
  }
}

}  // namespace

void Workers() {
  std::cout << "| instance | workers | status | plan | bound | seconds |\n|---|---|---|---|---|---|\n";
  for (const Ask& ask : std::vector<Ask>{
           {"layered_n250_", 0.8, "fixed", "anneal", "1"},
           {"layered_n250_", 0.7, "free", "anneal", "1"},
           {"gen transformer 24 16", 0.5, "fixed", "gap-cover", "2"},
           {"layered_n1000_", 0.8, "fixed", "gap-cover", "0.2"},
           {"layered_n1000_", 0.9, "fixed", "relax", "2"},
           {"layered_n250_", 0.9, "fixed", "learning", "1"},
           {"gen random 45 2", 0.8, "staged", "intervals", "8"},
           {"gen random 14 1", 0.75, "free", "state-search", "1"},
           {"gen random 24 1", 0.75, "free", "state-search", "1"},
           {"gen transformer 800 1 plain", 0.5, "fixed", "windows", "4", "2"},
           {"ResNet50_256_train", 0.3, "fixed", "neighbourhood", "3"},
           {"gen layered 10000 1", 0.8, "fixed", "drops", "1"},
           {"layered_n250_", 0.7, "free", "gap-cover-integer", "1"},
           {"layered_n100_", 0.62, "free", "gap-cover-integer", "1"},
           {"ResNet50_256_train", 0.3, "free", "gap-cover-integer", "1"},
           {"ResNet50_256_train", 0.3, "fixed", "presolve", "1"},
           {"gen transformer 24 16", 0.5, "fixed", "presolve", "1"},
       })
    One(ask);
}

void Size() {
  std::cout << "| model | ops | boundaries or positions | columns or literals | rows or copies | build s | MiB |\n"
               "|---|---|---|---|---|---|---|\n";
  const auto boundary = [](const char* name, const Instance& in, std::int64_t budget, std::int32_t count) {
    const SequenceFacts facts = EvaluateSequence(in, in.order);
    std::vector<std::int32_t> hot, at;
    for (std::size_t p = 0; p < facts.profile.size(); ++p)
      if (facts.profile[p] > budget) hot.push_back(static_cast<std::int32_t>(p));
    for (std::int32_t k = 0; k < count && !hot.empty(); ++k)
      at.push_back(hot[hot.size() * static_cast<std::size_t>(2 * k + 1) / static_cast<std::size_t>(2 * count)]);
    at.erase(std::unique(at.begin(), at.end()), at.end());
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
    for (const std::int32_t k : {1, 3, 10}) boundary("layered, made", in, budget, k);
    const std::vector<std::int32_t> cuts = ChooseCuts(in, 3000);
    std::vector<Window> windows = ExtractWindows(in, in.order, cuts, false);
    const auto largest = std::max_element(windows.begin(), windows.end(), [](const Window& a, const Window& b) {
      return a.instance.num_ops < b.instance.num_ops;
    });
    for (const std::int32_t k : {3, 10}) boundary("its largest window", largest->instance, budget, k);
  }
  for (const char* name : {"layered_n100_", "layered_n250_", "layered_n1000_"}) {
    if (Find(name).empty()) continue;
    const Case c(name, 0.8);
    if (c.instance.num_ops >= 1000) {
      for (const std::int32_t k : {1, 3, 10, 40}) boundary(name, c.instance, c.budget, k);
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
    if (Find(name).empty()) continue;
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
    if (!Find("layered_n250_").empty()) {
      const Case c("layered_n250_", 0.8);
      alone("engine, intervals with the LP, RL n=250 0.8 fixed", after, [&](WorkBudget& work) {
        IntervalSolver solver(c.instance, OrderMode::kFixed, c.budget, {});
        static_cast<void>(solver.Step(work));
      });
    }
    if (!Find("layered_n1000_").empty()) {
      const Case c("layered_n1000_", 0.8);
      alone("engine, boundary relaxation, RL n=1000 0.8, nine boundaries", after, [&](WorkBudget& work) {
        const SequenceFacts facts = EvaluateSequence(c.instance, c.instance.order);
        std::vector<std::int32_t> hot, at;
        for (std::size_t p = 0; p < facts.profile.size(); ++p)
          if (facts.profile[p] > c.budget) hot.push_back(static_cast<std::int32_t>(p));
        for (std::size_t k = 0; k < 9; ++k) at.push_back(hot[hot.size() * (2 * k + 1) / 18]);
        const BoundaryModel model(c.instance, c.budget, at);
        PathCuts cuts(model);
        LearningSolver solver(model.program(), &cuts, {});
        static_cast<void>(solver.Step(work));
      });
    }
  }
}

}  // namespace ebb::bench
