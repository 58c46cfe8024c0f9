/* SPDX-License-Identifier: Apache-2.0 */
/* The example of docs/api.md. */
#include <ebbtide/ebbtide.h>
#include <stdio.h>

int main(void) {
  ebb_graph* graph = ebb_graph_new();
  int64_t x, y, z, op;
  ebb_graph_add_tensor(graph, "x", 400, -1, &x); /* name, bytes, not a view */
  ebb_graph_add_tensor(graph, "y", 400, -1, &y);
  ebb_graph_add_tensor(graph, "z", 100, -1, &z);
  ebb_graph_add_op(graph, "load", 10, &op); /* name, duration */
  ebb_graph_op_makes(graph, op, x);
  ebb_graph_add_op(graph, "f", 20, &op);
  ebb_graph_op_reads(graph, op, x);
  ebb_graph_op_makes(graph, op, y);
  ebb_graph_add_op(graph, "g", 30, &op);
  ebb_graph_op_reads(graph, op, y);
  ebb_graph_op_makes(graph, op, z);
  ebb_graph_add_output(graph, z);
  if (ebb_graph_finish(graph) != EBB_OK) { /* checks everything */
    fprintf(stderr, "%s\n", ebb_graph_error(graph));
    return 1;
  }

  ebb_solver* solver = ebb_solver_new();
  ebb_plan* plan = ebb_plan_new();
  ebb_solver_set(solver, "budget", "800"); /* docs/options.md */
  ebb_solver_set(solver, "time-limit", "5");
  if (ebb_solver_solve(solver, graph, plan) != EBB_OK) {
    fprintf(stderr, "%s\n", ebb_solver_error(solver));
    return 1;
  }
  printf("%s: duration %lld, bound %lld\n", ebb_status_name(ebb_plan_status(plan)), (long long)ebb_plan_duration(plan),
         (long long)ebb_plan_lower_bound(plan));
  for (int64_t i = 0; i < ebb_plan_num_executions(plan); ++i)
    printf("%s, %lld bytes resident\n", ebb_graph_op_name(graph, ebb_plan_op(plan, i)),
           (long long)ebb_plan_resident(plan, i));

  ebb_plan_free(plan);
  ebb_solver_free(solver);
  ebb_graph_free(graph);
}
