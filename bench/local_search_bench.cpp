// SPDX-License-Identifier: Apache-2.0
//
// Moves of the annealing a second, and what one costs as graphs grow. `forward_backward` is a training step of blocks
// (lifetimes of all lengths), `layered` the random family of the paper (many readers a value); budgets are a fraction
// of the no-recompute peak of the given order. Walks are warmed up first, so that they stand near the budget.
//
// Counters: moves a second, accepted share, ticks a move.
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "engine/problem/graph_builder.hpp"
#include "heuristics/annealing.hpp"
#include "heuristics/random.hpp"

namespace {

using ebb::Graph;
using ebb::GraphBuilder;

// A chain forward, and backward readers of its activations in the reverse order; every sixth block skips ahead.
Graph ForwardBackward(std::int64_t ops) {
  ebb::QuickRandom random(7);
  GraphBuilder b;
  const std::int64_t half = ops / 2;
  const auto add = [&](const std::string& name, std::int64_t duration, std::int64_t size,
                       std::vector<std::string> inputs) {
    GraphBuilder::OpSpec op;
    op.name = name;
    op.duration = duration;
    op.inputs = std::move(inputs);
    op.outputs = {name};
    b.AddTensor(name, size);
    b.AddOp(std::move(op));
  };
  for (std::int64_t i = 0; i < half; ++i) {
    std::vector<std::string> inputs;
    if (i > 0) inputs.push_back("f" + std::to_string(i - 1));
    if (i >= 6 && i % 6 == 0) inputs.push_back("f" + std::to_string(i - 6));
    add("f" + std::to_string(i), 1 + random.Below(80), 16 + random.Below(240), inputs);
  }
  for (std::int64_t i = half; i-- > 0;) {
    std::vector<std::string> inputs{"f" + std::to_string(i)};
    if (i > 0) inputs.push_back("f" + std::to_string(i - 1));
    if (i + 1 < half) inputs.push_back("b" + std::to_string(i + 1));
    add("b" + std::to_string(i), 1 + random.Below(160), 16 + random.Below(240), inputs);
  }
  return b.Build();
}

// Every op reads 1 to 8 earlier values, most of them from close by, some from anywhere.
Graph Layered(std::int64_t ops) {
  ebb::QuickRandom random(9);
  GraphBuilder b;
  for (std::int64_t i = 0; i < ops; ++i) {
    GraphBuilder::OpSpec op;
    op.name = std::to_string(i);
    op.duration = 1 + random.Below(200);
    const std::int64_t reads = i == 0 ? 0 : 1 + random.Below(8);
    for (std::int64_t k = 0; k < reads; ++k) {
      const std::int64_t back =
          random.Chance(0.1) ? 1 + random.Below(i) : random.LogUniform(std::min<std::int64_t>(i, 60));
      op.inputs.push_back(std::to_string(i - back));
    }
    op.outputs = {op.name};
    b.AddTensor(op.name, 1 + random.Below(100));
    b.AddOp(std::move(op));
  }
  return b.Build();
}

struct Case {
  Graph graph;
  ebb::Instance instance;
  explicit Case(Graph g) : graph(std::move(g)), instance(ebb::MakeInstance(graph)) {}
};

const Case& CaseOf(bool layered, std::int64_t ops) {
  static std::map<std::pair<bool, std::int64_t>, std::unique_ptr<Case>> cases;
  auto& slot = cases[{layered, ops}];
  if (!slot) slot = std::make_unique<Case>(layered ? Layered(ops) : ForwardBackward(ops));
  return *slot;
}

void Walk(benchmark::State& state, bool layered, ebb::OrderMode order, bool windows) {
  const Case& c = CaseOf(layered, state.range(0));
  ebb::AnnealingParams params;
  params.order = order;
  const std::int64_t peak = ebb::EvaluateSequence(c.instance, c.instance.order).peak;
  params.budget = peak / 10 * 8;
  params.hot = 0.1;
  params.window = windows ? 1024 : -1;
  ebb::Annealing search(c.instance, params);
  search.Start(c.instance.order);
  ebb::WorkBudget warm(200'000'000 + 20'000 * state.range(0));
  search.Run(warm);
  const std::int64_t moves = search.counts().moves, accepted = search.counts().accepted;
  std::int64_t ticks = 0;
  for (auto _ : state) {
    ebb::WorkBudget work(5'000'000);
    search.Run(work);
    ticks += work.spent();
  }
  const auto done = static_cast<double>(search.counts().moves - moves);
  state.counters["moves/s"] = benchmark::Counter(done, benchmark::Counter::kIsRate);
  state.counters["accepted"] = static_cast<double>(search.counts().accepted - accepted) / done;
  state.counters["ticks/move"] = static_cast<double>(ticks) / done;
  state.counters["us/move"] = benchmark::Counter(done / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// As the product walks: in windows of up to 1024 events.
void BM_Windows(benchmark::State& state) { Walk(state, false, ebb::OrderMode::kFixed, true); }
// All over the sequence: what grows with the graph is the price of cache misses.
void BM_Whole(benchmark::State& state) { Walk(state, false, ebb::OrderMode::kFixed, false); }
void BM_LayeredWhole(benchmark::State& state) { Walk(state, true, ebb::OrderMode::kFixed, false); }
void BM_LayeredFree(benchmark::State& state) { Walk(state, true, ebb::OrderMode::kFree, false); }

BENCHMARK(BM_Windows)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Whole)->RangeMultiplier(10)->Range(100, 1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LayeredWhole)->RangeMultiplier(10)->Range(100, 100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_LayeredFree)->RangeMultiplier(10)->Range(100, 100'000)->Unit(benchmark::kMillisecond);

}  // namespace
