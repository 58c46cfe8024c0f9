// SPDX-License-Identifier: Apache-2.0
// Bounds at scale: the gap table, the flow and the free-order table of a training step (forward chain of blocks with
// skips, backward reading the activations; layers, microbatches, budget in percent of the peak).
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "engine/bounds/free_order_gaps.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/memory_floor.hpp"
#include "engine/problem/graph_builder.hpp"
#include "engine/problem/instance.hpp"

namespace {

using namespace ebb;

constexpr int kBlock = 12;

Instance TrainingStep(int layers, int microbatches) {
  boost::random::mt19937 rng(1);
  const auto pick = [&](const std::vector<int>& from) {
    return from[boost::random::uniform_int_distribution<std::size_t>(0, from.size() - 1)(rng)];
  };
  GraphBuilder builder;
  std::vector<std::int64_t> duration, size;
  const auto add = [&](const std::vector<std::size_t>& inputs, std::int64_t time, std::int64_t bytes) {
    GraphBuilder::OpSpec op;
    op.name = std::to_string(duration.size());
    op.duration = time;
    op.outputs = {op.name};
    for (const std::size_t i : inputs) op.inputs.push_back(std::to_string(i));
    builder.AddTensor(op.name, bytes);
    builder.AddOp(std::move(op));
    duration.push_back(time);
    size.push_back(bytes);
    return duration.size() - 1;
  };
  for (int m = 0; m < microbatches; ++m) {
    std::size_t x = add({}, 1, 64);
    std::vector<std::vector<std::size_t>> blocks;
    for (int l = 0; l < layers; ++l) {
      std::vector<std::size_t> block{x};
      for (int j = 0; j < kBlock; ++j) {
        std::vector<std::size_t> inputs{block.back()};
        if (j == 5 || j == 11) inputs.push_back(block.front());
        block.push_back(add(inputs, pick({1, 2, 4, 40, 80}), pick({16, 64, 64, 128, 256})));
      }
      x = block.back();
      blocks.push_back(std::move(block));
    }
    std::size_t gradient = add({x}, 5, 64);
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      for (int j = kBlock; j-- > 0;)
        gradient = add({gradient, (*block)[j], (*block)[j + 1]}, 2 * duration[(*block)[j + 1]], size[(*block)[j]]);
  }
  return MakeInstance(builder.Build());
}

const Instance& Cached(const benchmark::State& state) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Instance>> cache;
  std::unique_ptr<Instance>& in = cache[{state.range(0), state.range(1)}];
  if (!in)
    in = std::make_unique<Instance>(TrainingStep(static_cast<int>(state.range(0)), static_cast<int>(state.range(1))));
  return *in;
}

void Table(benchmark::State& state) {
  const Instance& in = Cached(state);
  for (auto _ : state) benchmark::DoNotOptimize(FixedOrderGaps(in));
  state.counters["ops"] = static_cast<double>(in.num_ops);
}

void Flow(benchmark::State& state) {
  const Instance& in = Cached(state);
  const GapTable table = FixedOrderGaps(in);
  const std::int64_t budget = table.peak() / 100 * state.range(2);
  std::int64_t extra = 0;
  for (auto _ : state) extra = SolveGapCover(in, table, budget).extra;
  state.counters["ops"] = static_cast<double>(in.num_ops);
  state.counters["percent"] = 100.0 * static_cast<double>(extra) / static_cast<double>(in.base_duration);
}

// From the rows of a budget one point higher, as a sweep does.
void FlowNear(benchmark::State& state) {
  const Instance& in = Cached(state);
  const GapTable table = FixedOrderGaps(in);
  const std::int64_t unit = table.peak() / 100;
  const GapCoverBound near = SolveGapCover(in, table, unit * (state.range(2) + 1));
  for (auto _ : state) benchmark::DoNotOptimize(SolveGapCover(in, table, unit * state.range(2), 2, nullptr, &near));
}

void AnyOrder(benchmark::State& state) {
  const Instance& in = Cached(state);
  const std::int64_t budget = FixedOrderGaps(in).peak() / 100 * state.range(2);
  for (auto _ : state) benchmark::DoNotOptimize(BestFreeOrderGaps(in, budget));
}

void Floors(benchmark::State& state) {
  const Instance& in = Cached(state);
  for (auto _ : state) benchmark::DoNotOptimize(ComputeFloor(in, 0));
}

void Sizes(benchmark::internal::Benchmark* b) {
  b->Unit(benchmark::kMillisecond);
  for (const std::vector<std::int64_t>& size : {std::vector<std::int64_t>{96, 1}, {96, 40}, {400, 100}})
    for (const std::int64_t percent : {50, 20}) b->Args({size[0], size[1], percent});
}

BENCHMARK(Table)->Unit(benchmark::kMillisecond)->Args({96, 1})->Args({96, 40})->Args({400, 100});
BENCHMARK(Floors)->Unit(benchmark::kMillisecond)->Args({96, 1})->Args({96, 40})->Args({400, 100});
BENCHMARK(Flow)->Apply(Sizes);
BENCHMARK(FlowNear)->Apply(Sizes);
BENCHMARK(AnyOrder)->Apply(Sizes);

}  // namespace
