// SPDX-License-Identifier: Apache-2.0
// proof_cases DIR SEED COUNT: COUNT random graphs with every feature, what the exact search over states says of them
// (an optimum, or that there is no plan), and our proof of it: as files for proof_test.py. Of each two graphs one has
// the proof that comes first, the other that of one kind. Prints how many had none.
#include <cstdio>
#include <fstream>
#include <string>

#include "engine/problem/instance.hpp"
#include "heuristics/state_search.hpp"
#include "portfolio/proof.hpp"
#include "tests/oracle/case_files.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

struct Tried {
  const char* name;
  ProofKinds kinds;
  int asked = 0, written = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  CaseFiles files(argv);
  Rng& rng = files.rng;
  Tried tried[] = {{"all", {}},
                   {"boundaries", {false, true, false, false}},
                   {"states", {false, false, true, false}},
                   {"intervals", {false, false, false, true}}};
  for (int made = 0; files.Wanted(); ++made) {
    RandomGraphOptions options = Chance(rng, 40) ? RandomGraphOptions::Plain() : RandomGraphOptions();
    options.min_ops = 4;
    options.max_ops = static_cast<int>(Draw(rng, 5, 12));
    DrawScale(options, rng);
    const Graph graph = RandomGraph(rng, options);
    const Instance instance = MakeInstance(graph);
    const std::int64_t budget = RandomBudget(graph, rng);
    const auto draw = Draw(rng, 0, 2);
    const OrderMode order = draw == 0 && graph.num_ops() <= 9 ? OrderMode::kFree
                            : draw == 1                       ? OrderMode::kStaged
                                                              : OrderMode::kFixed;
    const auto cap = Chance(rng, 80) ? 0 : static_cast<std::int32_t>(Draw(rng, 1, 3));
    WorkBudget work(2'000'000'000);
    const StateSearchResult best = SearchStates(instance, budget, order, cap, work);
    ProofClaim claim{order, budget, best.duration, cap};
    if (best.status == SolveStatus::kInfeasible) {
      if (Chance(rng, 50)) continue;  // half of them are enough
      claim.duration.reset();
    } else if (best.status != SolveStatus::kOptimal || best.duration == instance.base_duration) {
      continue;
    }
    Tried& how = tried[made % 2 == 0 ? 0 : Draw(rng, 1, 3)];
    if (&how == &tried[1] && order == OrderMode::kFree) continue;
    WorkBudget more(3'000'000'000);
    const std::string proof = MakeProof(graph, claim, more, how.kinds);
    ++how.asked;
    if (proof.empty()) continue;
    ++how.written;
    std::ofstream(files.Add(graph, "proof", ".txt")) << proof;
  }
  for (const Tried& how : tried) std::printf("%s: %d of %d have a proof\n", how.name, how.written, how.asked);
  return tried[0].written == tried[0].asked ? 0 : 1;
}
