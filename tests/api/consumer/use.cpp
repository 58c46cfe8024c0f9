// SPDX-License-Identifier: Apache-2.0
// The example of docs/api.md.
#include <iostream>

#include <ebbtide/ebbtide.hpp>

int main(int, char** argv) {
  try {
    const ebbtide::Graph graph = ebbtide::Graph::FromFile(argv[1]);
    ebbtide::Solver solver;
    solver.Set("budget", "0.8").Set("time-limit", "5").OnProgress([](const ebb_progress* progress) {
      return ebb_progress_gap(progress) != 0;  // good enough: false ends the solve
    });
    ebbtide::Plan plan = solver.Solve(graph);
    std::cout << ebb_status_name(plan.status()) << ": duration " << plan.duration() << ", peak " << plan.peak() << "\n";
    const std::vector<std::int64_t> sequence = plan.Sequence();
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      std::cout << graph.op_name(sequence[i]) << " of";  // the executions that made its inputs
      for (const std::int64_t producer : plan.Producers(static_cast<std::int64_t>(i))) std::cout << " " << producer;
      std::cout << "\n";
    }
  } catch (const ebbtide::Error& error) {  // error.code: EBB_ERROR_...
    std::cerr << error.what() << "\n";
    return 1;
  }
}
