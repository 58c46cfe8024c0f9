// SPDX-License-Identifier: Apache-2.0
// certificate_cases DIR SEED COUNT: random graphs with every feature and a certificate for each, as files, for
// certificate_test.py.
#include "engine/bounds/certificate.hpp"
#include "io/certificate_json.hpp"
#include "tests/oracle/case_files.hpp"

using namespace ebb;
using namespace ebb::test;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  CaseFiles files(argv);
  while (files.Wanted()) {
    RandomGraphOptions options;
    options.max_ops = static_cast<int>(Draw(files.rng, 3, 60));
    DrawScale(options, files.rng);
    const Graph graph = RandomGraph(files.rng, options);
    const Instance in = MakeInstance(graph);
    const GapTable table = FixedOrderGaps(in);
    if (table.impossible || table.peak() == table.floor()) continue;
    const std::int64_t budget = Draw(files.rng, table.floor(), table.peak() - 1);
    const GapCoverBound bound = SolveGapCover(in, table, budget);
    WriteCertificate(graph, MakeCertificate(graph, in, table, bound, budget), files.Add(graph, "certificate", ".json"));
  }
}
