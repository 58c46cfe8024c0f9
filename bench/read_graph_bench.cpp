// SPDX-License-Identifier: Apache-2.0
// Reading graphs, against parsing the same JSON into a document tree: a reader that builds and checks a graph should
// cost a few times the parsing at most. Arguments: ops.
#include <string>

#include <benchmark/benchmark.h>
#include <boost/json.hpp>

#include "engine/problem/fingerprint.hpp"
#include "io/generate.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

namespace {

std::string Text(std::int64_t ops) {
  ebb::GenerateSpec spec;
  spec.ops = ops;
  return ebb::GraphToJson(ebb::Generate("layered", spec));
}

void ReadNative(benchmark::State& state) {
  const std::string text = Text(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(ebb::ReadGraph(text, "bench").graph.num_ops());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void ParseTree(benchmark::State& state) {
  const std::string text = Text(state.range(0));
  for (auto _ : state) {
    boost::json::monotonic_resource memory;
    benchmark::DoNotOptimize(boost::json::parse(text, &memory).is_object());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void WriteNative(benchmark::State& state) {
  const ebb::Graph graph = ebb::ReadGraph(Text(state.range(0)), "bench").graph;
  for (auto _ : state) benchmark::DoNotOptimize(ebb::GraphToJson(graph).size());
}

void TakeFingerprint(benchmark::State& state) {
  const ebb::Graph graph = ebb::ReadGraph(Text(state.range(0)), "bench").graph;
  for (auto _ : state) benchmark::DoNotOptimize(ebb::Fingerprint(graph).size());
}

}  // namespace

BENCHMARK(ReadNative)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(ParseTree)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(WriteNative)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(TakeFingerprint)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
