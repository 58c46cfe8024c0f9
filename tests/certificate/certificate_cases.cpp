// SPDX-License-Identifier: Apache-2.0
// certificate_cases DIR SEED COUNT: random graphs with every feature and a certificate for each, as files, for
// certificate_test.py.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "engine/bounds/certificate.hpp"
#include "io/certificate_json.hpp"
#include "io/write_graph.hpp"
#include "tests/oracle/random_graph.hpp"

using namespace ebb;
using namespace ebb::test;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::filesystem::path dir = argv[1];
  Rng rng(std::strtoull(argv[2], nullptr, 10));
  const int count = std::atoi(argv[3]);
  for (int written = 0; written < count;) {
    RandomGraphOptions options;
    options.max_ops = static_cast<int>(Draw(rng, 3, 60));
    options.max_size = Draw(rng, 0, 1) != 0 ? 9 : 1'000'000'000'000;
    options.max_duration = Draw(rng, 0, 1) != 0 ? 9 : 1'000'000;
    const Graph graph = RandomGraph(rng, options);
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    if (table.impossible || table.peak() == table.floor()) continue;
    const std::int64_t budget = Draw(rng, table.floor(), table.peak() - 1);
    const GapCoverBound bound = SolveGapCover(in, table, budget);
    const std::string name = std::to_string(written++) + ".json";
    WriteGraph(graph, dir / ("graph" + name));
    WriteCertificate(graph, MakeCertificate(graph, in, table, bound, budget), dir / ("certificate" + name));
  }
}
