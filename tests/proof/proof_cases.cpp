// SPDX-License-Identifier: Apache-2.0
// proof_cases DIR SEED COUNT: random graphs with every feature, their optimum by the exact search over states, and the
// engine's proof that nothing is shorter, as files for proof_test.py. Prints how many had no such proof.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "engine/problem/instance.hpp"
#include "heuristics/state_search.hpp"
#include "io/write_graph.hpp"
#include "portfolio/proof.hpp"
#include "tests/oracle/random_graph.hpp"

using namespace ebb;
using namespace ebb::test;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::filesystem::path dir = argv[1];
  Rng rng(std::strtoull(argv[2], nullptr, 10));
  const int count = std::atoi(argv[3]);
  int without = 0;
  for (int written = 0; written < count;) {
    RandomGraphOptions options = Chance(rng, 40) ? RandomGraphOptions::Plain() : RandomGraphOptions();
    options.min_ops = 5;
    options.max_ops = static_cast<int>(Draw(rng, 6, 14));
    options.max_size = Chance(rng, 50) ? 9 : 1'000'000'000'000;
    options.max_duration = Chance(rng, 50) ? 9 : 1'000'000;
    const Graph graph = RandomGraph(rng, options);
    const Instance instance = MakeInstance(graph);
    const std::int64_t budget = RandomBudget(graph, rng);
    const OrderMode order = graph.num_ops() <= 7 ? OrderMode::kFree
                            : Chance(rng, 50)    ? OrderMode::kFixed
                                                 : OrderMode::kStaged;
    WorkBudget work(2'000'000'000);
    const StateSearchResult best = SearchStates(instance, budget, order, 0, work);
    if (best.status != SolveStatus::kOptimal || best.duration == instance.base_duration) continue;
    WorkBudget more(5'000'000'000);
    const std::string proof = MakeProof(graph, {order, budget, best.duration}, more);
    if (proof.empty()) {
      ++without;
      continue;
    }
    const std::string name = std::to_string(written++);
    WriteGraph(graph, dir / ("graph" + name + ".json"));
    std::ofstream(dir / ("proof" + name + ".txt")) << proof;
  }
  std::printf("%d graphs without a proof\n", without);
}
