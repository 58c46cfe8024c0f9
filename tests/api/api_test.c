/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface, from C99, as a compiler would use it: graphs by calls, from memory and from bad memory; solving, with
 * progress, cancel and hints; every accessor; plans written, read back and checked; errors that end in codes and texts.
 */
#include <ebbtide/ebbtide.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition);   \
      ++failures;                                                            \
    }                                                                        \
  } while (0)

/* A chain a0 -> a1 -> ... forward, then back: step i reads a_i and the step before. Each tensor 10 bytes. */
static ebb_graph* Chain(int n) {
  ebb_graph* g = ebb_graph_new();
  int64_t op, last = -1, *forward = malloc((size_t)n * sizeof *forward);
  CHECK(ebb_graph_set_name(g, "chain") == EBB_OK);
  CHECK(ebb_graph_set_duration_unit(g, "us") == EBB_OK);
  for (int i = 0; i < n; ++i) {
    CHECK(ebb_graph_add_tensor(g, NULL, 10, -1, &forward[i]) == EBB_OK);
    CHECK(ebb_graph_add_op(g, NULL, 1, &op) == EBB_OK);
    if (i > 0) CHECK(ebb_graph_op_reads(g, op, forward[i - 1]) == EBB_OK);
    CHECK(ebb_graph_op_makes(g, op, forward[i]) == EBB_OK);
  }
  for (int i = n - 1; i >= 0; --i) {
    char name[32];
    int64_t t;
    snprintf(name, sizeof name, "grad%d", i);
    CHECK(ebb_graph_add_tensor(g, name, 10, -1, &t) == EBB_OK);
    CHECK(ebb_graph_add_op(g, name, 1, &op) == EBB_OK);
    CHECK(ebb_graph_op_reads(g, op, forward[i]) == EBB_OK);
    if (last >= 0) CHECK(ebb_graph_op_reads(g, op, last) == EBB_OK);
    CHECK(ebb_graph_op_makes(g, op, t) == EBB_OK);
    last = t;
  }
  CHECK(ebb_graph_add_output(g, last) == EBB_OK);
  CHECK(ebb_graph_finish(g) == EBB_OK);
  free(forward);
  return g;
}

static void TestVersionsAndOptions(void) {
  ebb_solver* s = ebb_solver_new();
  CHECK(strlen(ebb_version()) > 0);
  CHECK(strncmp(ebb_engine_version(), "CaDiCaL ", 8) == 0);
  CHECK(ebb_num_options() > 5);
  for (size_t i = 0; i < ebb_num_options(); ++i) {
    if (i > 0) CHECK(strcmp(ebb_option_name(i - 1), ebb_option_name(i)) < 0);
    CHECK(strlen(ebb_option_help(i)) > 0);
    const char* value = ebb_solver_get(s, ebb_option_name(i));
    CHECK(ebb_solver_error(s)[0] == '\0');
    if (value[0] != '\0') {
      char copy[128];
      snprintf(copy, sizeof copy, "%s", value);
      CHECK(ebb_solver_set(s, ebb_option_name(i), copy) == EBB_OK);
    }
  }
  CHECK(strcmp(ebb_option_name(ebb_num_options()), "") == 0);
  CHECK(ebb_solver_set(s, "nonsense", "1") == EBB_ERROR_USAGE);
  CHECK(strstr(ebb_solver_error(s), "nonsense") != NULL);
  CHECK(ebb_solver_set(s, "threads", "0") == EBB_ERROR_USAGE);
  CHECK(strstr(ebb_solver_error(s), "threads") != NULL);
  CHECK(ebb_solver_set(s, "budget", "-5") == EBB_ERROR_USAGE);
  CHECK(ebb_solver_set(s, NULL, "1") == EBB_ERROR_USAGE);
  CHECK(strcmp(ebb_solver_get(s, "nonsense"), "") == 0);
  ebb_solver_free(s);
  ebb_solver_free(NULL);
}

static void TestBadGraphs(void) {
  int64_t a = -1, b = -1, f = -1;
  ebb_graph* g = ebb_graph_new();
  CHECK(ebb_graph_add_tensor(g, "a", -1, -1, &a) == EBB_ERROR_INPUT);
  CHECK(strstr(ebb_graph_error(g), "a") != NULL);
  CHECK(ebb_graph_add_tensor(g, "a", 1, 7, &a) == EBB_ERROR_USAGE); /* view of nothing */
  CHECK(ebb_graph_add_op(g, "f", -1, &f) == EBB_ERROR_INPUT);
  CHECK(ebb_graph_op_reads(g, 0, 0) == EBB_ERROR_USAGE);
  CHECK(ebb_graph_num_ops(g) == 0);
  /* a cycle */
  CHECK(ebb_graph_add_tensor(g, "a", 1, -1, &a) == EBB_OK && ebb_graph_add_tensor(g, "b", 1, -1, &b) == EBB_OK);
  CHECK(ebb_graph_add_op(g, "f", 1, &f) == EBB_OK);
  CHECK(ebb_graph_op_reads(g, f, b) == EBB_OK && ebb_graph_op_makes(g, f, a) == EBB_OK);
  CHECK(ebb_graph_add_op(g, "g", 1, &f) == EBB_OK);
  CHECK(ebb_graph_op_reads(g, f, a) == EBB_OK && ebb_graph_op_makes(g, f, b) == EBB_OK);
  CHECK(ebb_graph_finish(g) == EBB_ERROR_INPUT);
  CHECK(strstr(ebb_graph_error(g), "cycle") != NULL);
  ebb_graph_free(g);

  const char* bad[] = {"", "{", "[1,2]", "\x7f", "{\"format\":\"ebbtide-graph\",\"version\":99}"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    g = ebb_graph_new();
    CHECK(ebb_graph_read_memory(g, bad[i], strlen(bad[i]), NULL) == EBB_ERROR_INPUT);
    CHECK(strlen(ebb_graph_error(g)) > 0);
    ebb_graph_free(g);
  }
  g = ebb_graph_new();
  CHECK(ebb_graph_read_file(g, "/no/such/file.json", NULL) != EBB_OK);
  CHECK(strstr(ebb_graph_error(g), "/no/such/file.json") != NULL);
  ebb_graph_free(g);
  CHECK(ebb_graph_finish(NULL) == EBB_ERROR_USAGE);
  ebb_graph_free(NULL);
}

struct Seen {
  int calls, plans, stop;
  int64_t last_bound;
};

static int OnProgress(const ebb_progress* p, void* user) {
  struct Seen* seen = user;
  ++seen->calls;
  if (strcmp(ebb_progress_kind(p), "plan") == 0) {
    ++seen->plans;
    CHECK(ebb_progress_duration(p) > 0 && ebb_progress_peak(p) > 0 && ebb_progress_executions(p) > 0);
    CHECK(strlen(ebb_progress_worker(p)) > 0);
    CHECK(ebb_progress_gap(p) >= 0);
  }
  CHECK(ebb_progress_lower_bound(p) >= seen->last_bound);
  CHECK(ebb_progress_seconds(p) >= 0);
  seen->last_bound = ebb_progress_lower_bound(p);
  return seen->stop;
}

/* The plan holds by the accessors alone: producers ran before, deaths come after the last use, peak and sum fit. */
static void Follow(const ebb_graph* g, const ebb_plan* p, int64_t budget) {
  const int64_t n = ebb_plan_num_executions(p);
  int64_t duration = 0, peak = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t op = ebb_plan_op(p, i);
    CHECK(op >= 0 && op < ebb_graph_num_ops(g));
    duration += ebb_graph_op_duration(g, op);
    if (ebb_plan_resident(p, i) > peak) peak = ebb_plan_resident(p, i);
    for (int64_t k = 0; k < ebb_plan_num_inputs(p, i); ++k) {
      CHECK(ebb_plan_producer(p, i, k) < i && ebb_plan_producer(p, i, k) >= EBB_PRODUCER_ABSENT);
    }
    CHECK(ebb_plan_producer(p, i, ebb_plan_num_inputs(p, i)) == EBB_PRODUCER_ABSENT);
  }
  CHECK(duration == ebb_plan_duration(p));
  CHECK(peak == ebb_plan_peak(p));
  CHECK(peak <= budget);
  for (int64_t i = 0; i < ebb_plan_num_frees(p); ++i) {
    CHECK(ebb_plan_free_after(p, i) >= ebb_plan_free_execution(p, i));
    CHECK(ebb_plan_free_tensor(p, i) >= 0 && ebb_plan_free_tensor(p, i) < ebb_graph_num_tensors(g));
    if (i > 0) CHECK(ebb_plan_free_after(p, i - 1) <= ebb_plan_free_after(p, i));
  }
  CHECK(ebb_plan_op(p, -1) == -1 && ebb_plan_op(p, n) == -1 && ebb_plan_resident(p, n) == -1);
  CHECK(ebb_plan_free_after(p, ebb_plan_num_frees(p)) == -1);
}

static void TestSolve(void) {
  ebb_graph* g = Chain(6);
  ebb_solver* s = ebb_solver_new();
  ebb_plan* p = ebb_plan_new();
  struct Seen seen = {0, 0, 0, 0};
  CHECK(ebb_graph_num_ops(g) == 12 && ebb_graph_num_tensors(g) == 12);
  CHECK(strcmp(ebb_graph_name(g), "chain") == 0);
  CHECK(ebb_graph_find_op(g, "grad0") == 11 && ebb_graph_find_op(g, "none") == -1);
  CHECK(ebb_graph_find_tensor(g, "grad0") == 11);
  CHECK(ebb_graph_base_duration(g) == 12);
  CHECK(ebb_graph_base_peak(g) == 70);
  CHECK(strcmp(ebb_graph_op_name(g, 99), "") == 0 && ebb_graph_op_duration(g, -1) == -1);
  CHECK(ebb_graph_add_tensor(g, "late", 1, -1, NULL) == EBB_ERROR_USAGE);

  CHECK(ebb_solver_solve(s, g, p) == EBB_ERROR_USAGE); /* no budget */
  CHECK(strstr(ebb_solver_error(s), "budget") != NULL);
  CHECK(ebb_solver_set(s, "budget", "70") == EBB_OK);
  CHECK(ebb_solver_set(s, "threads", "1") == EBB_OK);
  CHECK(ebb_solver_set(s, "time-limit", "20") == EBB_OK);
  CHECK(ebb_solver_on_progress(s, OnProgress, &seen) == EBB_OK);
  CHECK(ebb_solver_solve(s, g, p) == EBB_OK);
  CHECK(ebb_plan_status(p) == EBB_STATUS_OPTIMAL && ebb_plan_duration(p) == 12);
  CHECK(seen.plans == 1);

  /* The closed form of a chain of n forward and n backward steps with three live activations is beyond what fits here;
   * what must hold: the exact search proves it, and less memory never takes less time. */
  int64_t before = 12;
  for (int64_t budget = 60; budget >= 30; budget -= 10) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)budget);
    CHECK(ebb_solver_set(s, "budget", text) == EBB_OK);
    seen.last_bound = 0;
    CHECK(ebb_solver_solve(s, g, p) == EBB_OK);
    CHECK(ebb_plan_status(p) == EBB_STATUS_OPTIMAL);
    CHECK(ebb_plan_duration(p) >= before);
    CHECK(ebb_plan_lower_bound(p) == ebb_plan_duration(p) && ebb_plan_gap(p) == 0);
    CHECK(ebb_plan_budget(p) == budget && ebb_plan_base_duration(p) == 12 && ebb_plan_order(p) == EBB_ORDER_FIXED);
    before = ebb_plan_duration(p);
    Follow(g, p, budget);
  }

  /* Written, read back, checked, spoilt. */
  const char* data;
  size_t size;
  CHECK(ebb_plan_write_memory(p, &data, &size) == EBB_OK && size > 100);
  char* copy = malloc(size);
  memcpy(copy, data, size);
  ebb_plan* q = ebb_plan_new();
  CHECK(ebb_plan_read_memory(q, g, copy, size) == EBB_OK);
  CHECK(ebb_plan_check(q) == EBB_OK && strcmp(ebb_plan_verdict(q), "holds") == 0);
  CHECK(ebb_plan_duration(q) == ebb_plan_duration(p) && ebb_plan_peak(q) == ebb_plan_peak(p));
  CHECK(ebb_plan_read_memory(q, g, copy, size / 2) == EBB_ERROR_INPUT && strlen(ebb_plan_error(q)) > 0);
  char* peak = strstr(copy, "\"peak\": ");
  CHECK(peak != NULL);
  if (peak != NULL) {
    peak[8] = '9';
    CHECK(ebb_plan_read_memory(q, g, copy, size) == EBB_OK);
    CHECK(ebb_plan_check(q) == EBB_ERROR_INPUT && strlen(ebb_plan_verdict(q)) > 0);
  }
  CHECK(ebb_plan_write_file(p, "/no/such/folder/p.json") == EBB_ERROR_IO);
  CHECK(ebb_plan_write_certificate(p, "/no/such/folder/c.json") == EBB_ERROR_IO);
  CHECK(strstr(ebb_plan_error(p), "/no/such/folder") != NULL);
  CHECK(ebb_plan_write_certificate(p, "/dev/null") == EBB_OK);
  CHECK(ebb_plan_write_proof(p, NULL, 1) != EBB_OK);
  CHECK(ebb_plan_write_proof(p, "/no/such/folder/p.txt", 20) == EBB_ERROR_IO);
  CHECK(ebb_plan_write_proof(p, "/dev/null", 20) == EBB_OK);
  ebb_graph* other = Chain(5);
  memcpy(copy, data, size);
  CHECK(ebb_plan_read_memory(q, other, copy, size) == EBB_ERROR_INPUT); /* another graph's */
  free(copy);

  /* A hint is where the search starts, so the answer is no worse even without work. */
  seen.last_bound = 0;
  CHECK(ebb_solver_hint(s, p) == EBB_OK);
  CHECK(ebb_solver_set(s, "time-limit", "0") == EBB_OK);
  CHECK(ebb_solver_solve(s, g, q) == EBB_OK);
  CHECK(ebb_plan_duration(q) == ebb_plan_duration(p));
  CHECK(ebb_solver_hint(s, NULL) == EBB_OK);
  CHECK(ebb_solver_set(s, "time-limit", "20") == EBB_OK);

  /* Hopeless. */
  seen.last_bound = 0;
  CHECK(ebb_solver_set(s, "budget", "29") == EBB_OK);
  CHECK(ebb_solver_solve(s, g, p) == EBB_OK);
  CHECK(ebb_plan_status(p) == EBB_STATUS_INFEASIBLE && ebb_plan_duration(p) == -1 && ebb_plan_gap(p) == -1);
  CHECK(ebb_plan_reason_op(p) >= 0 && ebb_plan_reason_bytes_needed(p) == 30 && ebb_plan_reason_bytes_given(p) == 29);
  CHECK(strlen(ebb_plan_reason(p)) > 0 && ebb_plan_num_executions(p) == 0 && ebb_plan_op(p, 0) == -1);
  CHECK(ebb_plan_write_memory(p, &data, &size) == EBB_ERROR_USAGE);
  CHECK(ebb_plan_check(p) == EBB_ERROR_USAGE);

  ebb_plan_free(q);
  ebb_plan_free(p);
  ebb_solver_free(s);
  ebb_graph_free(other);
  ebb_graph_free(g);
}

static void TestCancel(void) {
  ebb_graph* g = Chain(60);
  ebb_solver* s = ebb_solver_new();
  ebb_plan* p = ebb_plan_new();
  struct Seen seen = {0, 0, 1, 0}; /* stops at the first call */
  CHECK(ebb_solver_set(s, "budget", "100") == EBB_OK);
  CHECK(ebb_solver_set(s, "threads", "2") == EBB_OK);
  CHECK(ebb_solver_set(s, "time-limit", "1000") == EBB_OK);
  CHECK(ebb_solver_on_progress(s, OnProgress, &seen) == EBB_OK);
  CHECK(ebb_solver_solve(s, g, p) == EBB_OK); /* ends, or the test runs into its time limit */
  CHECK(seen.calls >= 1);
  CHECK(ebb_plan_status(p) == EBB_STATUS_FEASIBLE || ebb_plan_status(p) == EBB_STATUS_UNKNOWN);

  CHECK(ebb_solver_on_progress(s, NULL, NULL) == EBB_OK);
  ebb_solver_cancel(s); /* also before */
  CHECK(ebb_solver_solve(s, g, p) == EBB_OK);
  CHECK(ebb_plan_status(p) != EBB_STATUS_OPTIMAL && ebb_plan_status(p) != EBB_STATUS_INFEASIBLE);
  ebb_solver_reset(s);
  ebb_graph_free(g); /* plans keep it */
  if (ebb_plan_duration(p) > 0) CHECK(ebb_plan_resident(p, 0) == 10);
  ebb_plan_free(p);
  ebb_solver_free(s);
}

static void TestWorkLimitRepeats(void) {
  ebb_graph* g = Chain(40);
  for (int threads = 1; threads <= 3; ++threads) {
    char* first = NULL;
    size_t first_size = 0;
    for (int run = 0; run < 2; ++run) {
      char text[16];
      ebb_solver* s = ebb_solver_new();
      ebb_plan* p = ebb_plan_new();
      const char* data;
      size_t size;
      snprintf(text, sizeof text, "%d", threads);
      CHECK(ebb_solver_set(s, "budget", "0.3") == EBB_OK && ebb_solver_set(s, "threads", text) == EBB_OK);
      CHECK(ebb_solver_set(s, "work-limit", "0.4") == EBB_OK && ebb_solver_set(s, "seed", "7") == EBB_OK);
      CHECK(ebb_solver_solve(s, g, p) == EBB_OK);
      CHECK(ebb_plan_write_memory(p, &data, &size) == EBB_OK);
      if (run == 0) {
        first = malloc(size);
        first_size = size;
        memcpy(first, data, size);
      } else {
        CHECK(size == first_size && memcmp(first, data, size) == 0);
      }
      ebb_plan_free(p);
      ebb_solver_free(s);
    }
    free(first);
  }
  ebb_graph_free(g);
}

int main(void) {
  TestVersionsAndOptions();
  TestBadGraphs();
  TestSolve();
  TestCancel();
  TestWorkLimitRepeats();
  printf(failures ? "%d failures\n" : "all held\n", failures);
  return failures != 0;
}
