/* SPDX-License-Identifier: Apache-2.0
 *
 * Ebbtide: minimum-duration rematerialization under a memory budget. The C interface (C99), stable; everything else of
 * the library is internal.
 *
 * Handles are opaque and made and freed here. A graph is immutable once it is finished and may then be read by many
 * threads and solvers at once; a solver and a plan belong to one thread at a time (ebb_solver_cancel excepted). Plans
 * keep their graph alive.
 *
 * Every call that can fail returns an ebb_code, and its handle keeps one line of text about the last failure (the
 * ..._error functions; "" where the last call went well). Text returned is UTF-8, zero-terminated, owned by its handle
 * and valid until the next call that changes that handle, unless said otherwise.
 *
 * The library prints nothing, reads no environment, installs no signal handler, keeps no global state and lets no
 * exception out. Quantities are exact signed 64-bit integers: bytes, and durations in the graph's own unit.
 *
 * Absent indices, out-of-range indices and null handles are answered with -1, 0, "" or EBB_ERROR_USAGE, never with a
 * crash; only memory that the caller hands over must be what it is said to be.
 */
#ifndef EBBTIDE_EBBTIDE_H
#define EBBTIDE_EBBTIDE_H

#include <stddef.h>
#include <stdint.h>

/* The version that this header belongs to; ebb_version() is the library's. Programs that were built with one version of
 * a major number run with every later one of it: the interface only grows. */
#define EBB_VERSION_MAJOR 0
#define EBB_VERSION_MINOR 1
#define EBB_VERSION_PATCH 0

#if defined(EBB_STATIC)
#define EBB_API
#elif defined(_WIN32)
#if defined(EBB_BUILDING_LIBRARY)
#define EBB_API __declspec(dllexport)
#else
#define EBB_API __declspec(dllimport)
#endif
#else
#define EBB_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ebb_code {
  EBB_OK = 0,
  EBB_ERROR_INTERNAL = 1, /* a fault of the library */
  EBB_ERROR_USAGE = 2,    /* a wrong argument: unknown option, value out of range, call out of turn */
  EBB_ERROR_INPUT = 3,    /* a graph or plan that is not what it must be */
  EBB_ERROR_IO = 6,       /* a file that cannot be read or written */
  EBB_ERROR_MEMORY = 7    /* out of memory */
} ebb_code;

typedef enum ebb_status {
  EBB_STATUS_UNKNOWN = 0,   /* nothing was found within the limits; says nothing about feasibility */
  EBB_STATUS_FEASIBLE = 1,  /* a plan, a valid lower bound and the gap between them */
  EBB_STATUS_OPTIMAL = 2,   /* a plan of proved least duration for the order asked for */
  EBB_STATUS_INFEASIBLE = 3 /* proved: there is no plan (under max-executions, where that was set) */
} ebb_status;

typedef enum ebb_order { EBB_ORDER_FIXED = 0, EBB_ORDER_STAGED = 1, EBB_ORDER_FREE = 2 } ebb_order;

typedef struct ebb_graph ebb_graph;
typedef struct ebb_solver ebb_solver;
typedef struct ebb_plan ebb_plan;
typedef struct ebb_progress ebb_progress;

/* ---- versions ---------------------------------------------------------------------------------------------------- */

EBB_API const char* ebb_version(void);                  /* of the library, e.g. "0.1.0"; static */
EBB_API const char* ebb_engine_version(void);           /* of the SAT engine inside, e.g. "CaDiCaL 1.7.4"; static */
EBB_API const char* ebb_status_name(ebb_status status); /* "optimal", ...; static */

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

EBB_API ebb_graph* ebb_graph_new(void); /* NULL: out of memory */
EBB_API void ebb_graph_free(ebb_graph* graph);
EBB_API const char* ebb_graph_error(const ebb_graph* graph);

/* From a file or from memory, in any format that the library reads; told by content, plain or xz/gzip/zstd. `format` is
 * NULL or the name of a format to insist on. The graph must be new; it is finished afterwards. */
EBB_API ebb_code ebb_graph_read_file(ebb_graph* graph, const char* path, const char* format);
EBB_API ebb_code ebb_graph_read_memory(ebb_graph* graph, const void* data, size_t size, const char* format);

/* By calls, in any order that names things before they are used. Indices count from 0 in the order of the calls. Names
 * must be unique; NULL makes one up ("t0", "op0"). `view_of` is -1 or the tensor whose storage this one shows. */
EBB_API ebb_code ebb_graph_set_name(ebb_graph* graph, const char* name);
EBB_API ebb_code ebb_graph_set_duration_unit(ebb_graph* graph, const char* unit);
EBB_API ebb_code ebb_graph_add_tensor(ebb_graph* graph, const char* name, int64_t bytes, int64_t view_of,
                                      int64_t* tensor);
EBB_API ebb_code ebb_graph_add_op(ebb_graph* graph, const char* name, int64_t duration, int64_t* op);
EBB_API ebb_code ebb_graph_op_reads(ebb_graph* graph, int64_t op, int64_t tensor); /* -1: an absent optional input */
EBB_API ebb_code ebb_graph_op_makes(ebb_graph* graph, int64_t op, int64_t tensor);
/* `output` takes over the storage of `input`. */
EBB_API ebb_code ebb_graph_op_overwrites(ebb_graph* graph, int64_t op, int64_t input, int64_t output);
EBB_API ebb_code ebb_graph_op_set_workspace(ebb_graph* graph, int64_t op, int64_t bytes);
EBB_API ebb_code ebb_graph_op_set_recomputable(ebb_graph* graph, int64_t op, int recomputable);
EBB_API ebb_code ebb_graph_add_output(ebb_graph* graph, int64_t tensor); /* must be resident at the end */
/* All ops, once each; default: stable topological order. */
EBB_API ebb_code ebb_graph_set_order(ebb_graph* graph, const int64_t* ops, size_t count);
/* Checks everything. Only finished graphs can be solved, written and looked at. On failure the graph is empty again. */
EBB_API ebb_code ebb_graph_finish(ebb_graph* graph);

/* What a finished graph holds. */
EBB_API const char* ebb_graph_name(const ebb_graph* graph);
EBB_API const char* ebb_graph_format(const ebb_graph* graph); /* that it was read from; "" if built by calls */
EBB_API size_t ebb_graph_num_warnings(const ebb_graph* graph);
EBB_API const char* ebb_graph_warning(const ebb_graph* graph, size_t index);
EBB_API int64_t ebb_graph_num_ops(const ebb_graph* graph);
EBB_API int64_t ebb_graph_num_tensors(const ebb_graph* graph);
EBB_API const char* ebb_graph_op_name(const ebb_graph* graph, int64_t op);
EBB_API const char* ebb_graph_tensor_name(const ebb_graph* graph, int64_t tensor);
EBB_API int64_t ebb_graph_op_duration(const ebb_graph* graph, int64_t op);
EBB_API int64_t ebb_graph_tensor_bytes(const ebb_graph* graph, int64_t tensor); /* of its storage */
EBB_API int64_t ebb_graph_find_op(const ebb_graph* graph, const char* name);    /* -1: none; looks at all */
EBB_API int64_t ebb_graph_find_tensor(const ebb_graph* graph, const char* name);
EBB_API int64_t ebb_graph_base_duration(const ebb_graph* graph); /* one execution of each op */
EBB_API int64_t ebb_graph_base_peak(const ebb_graph* graph);     /* of the given order, nothing run twice; -1:
                                                                    it needs repeats */
/* No plan needs less, whatever the order: the largest single op, the making of an op's last input, the outputs
 * together. */
EBB_API int64_t ebb_graph_memory_floor(const ebb_graph* graph);
EBB_API ebb_code ebb_graph_write_file(ebb_graph* graph, const char* path); /* native JSON, written aside and renamed */

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* The table of options (docs/options.md), sorted by name; static texts. */
EBB_API size_t ebb_num_options(void);
EBB_API const char* ebb_option_name(size_t index);
EBB_API const char* ebb_option_type(size_t index);    /* "switch", "integer", "real", "choice", "budget" */
EBB_API const char* ebb_option_choices(size_t index); /* "a|b|c" for a choice */
EBB_API double ebb_option_low(size_t index);          /* of an integer or real */
EBB_API double ebb_option_high(size_t index);
EBB_API const char* ebb_option_help(size_t index);

/* ---- solving ----------------------------------------------------------------------------------------------------- */

EBB_API ebb_solver* ebb_solver_new(void); /* NULL: out of memory */
EBB_API void ebb_solver_free(ebb_solver* solver);
EBB_API const char* ebb_solver_error(const ebb_solver* solver);

/* Options by name, values as text: ebb_solver_set(s, "budget", "0.8"), (s, "threads", "2"), (s, "anneal", "off"). */
EBB_API ebb_code ebb_solver_set(ebb_solver* solver, const char* option, const char* value);
EBB_API const char* ebb_solver_get(ebb_solver* solver, const char* option); /* "" where not set or unknown */

/* Called during a solve, from the library's threads but never from two at once: when a better plan or bound is found,
 * and about ten times a second besides. Non-zero ends the solve as ebb_solver_cancel does. The progress is valid during
 * the call. It must not call into the solver, ebb_solver_cancel excepted. */
typedef int (*ebb_progress_fn)(const ebb_progress* progress, void* user);
EBB_API ebb_code ebb_solver_on_progress(ebb_solver* solver, ebb_progress_fn callback, void* user);
EBB_API double ebb_progress_seconds(const ebb_progress* progress);
EBB_API int64_t ebb_progress_duration(const ebb_progress* progress); /* of the best plan; -1: none yet */
EBB_API int64_t ebb_progress_peak(const ebb_progress* progress);
EBB_API int64_t ebb_progress_executions(const ebb_progress* progress);
EBB_API int64_t ebb_progress_lower_bound(const ebb_progress* progress);
EBB_API double ebb_progress_gap(const ebb_progress* progress);          /* -1: no plan yet */
EBB_API const char* ebb_progress_worker(const ebb_progress* progress);  /* who found what is new; "" */
EBB_API const char* ebb_progress_message(const ebb_progress* progress); /* text for people; "" */
EBB_API const char* ebb_progress_kind(const ebb_progress* progress);    /* "plan", "bound", "message" or "tick" */

/* A plan of the same graph to start from; NULL: none. Copied. */
EBB_API ebb_code ebb_solver_hint(ebb_solver* solver, const ebb_plan* plan);

/* Solves; `plan` takes the answer: status, bounds and, where there is one, the plan. EBB_OK whatever the status. What
 * `plan` held before is gone. */
EBB_API ebb_code ebb_solver_solve(ebb_solver* solver, const ebb_graph* graph, ebb_plan* plan);

/* Ends a running solve soon, with the best plan so far; a solve that begins later is ended at once, until
 * ebb_solver_reset. From any thread, and safe in a signal handler. */
EBB_API void ebb_solver_cancel(ebb_solver* solver);
EBB_API void ebb_solver_reset(ebb_solver* solver); /* takes a cancel back */

/* ---- plans and answers ------------------------------------------------------------------------------------------- */

EBB_API ebb_plan* ebb_plan_new(void); /* NULL: out of memory */
EBB_API void ebb_plan_free(ebb_plan* plan);
EBB_API const char* ebb_plan_error(const ebb_plan* plan);

/* Reads a plan file of this graph. The graph's fingerprint must fit; whether the plan holds is ebb_plan_check's word.
 */
EBB_API ebb_code ebb_plan_read_file(ebb_plan* plan, const ebb_graph* graph, const char* path);
EBB_API ebb_code ebb_plan_read_memory(ebb_plan* plan, const ebb_graph* graph, const void* data, size_t size);
/* Native JSON. To a file: written aside and renamed. To memory: *data belongs to the plan. A plan must be there. */
EBB_API ebb_code ebb_plan_write_file(ebb_plan* plan, const char* path);
EBB_API ebb_code ebb_plan_write_memory(ebb_plan* plan, const char** data, size_t* size);

/* Why no plan of this graph in the given order is shorter than the gap-cover bound for the budget asked for, as a file
 * that a script can check (docs/certificate.md). For answers of fixed or staged order, with or without a plan.
 * EBB_ERROR_INPUT: the budget is below what some op needs at its place. */
EBB_API ebb_code ebb_plan_write_certificate(ebb_plan* plan, const char* path);

/* Why no plan of the order asked for is shorter than the answer's lower bound, or, where the answer is infeasible, why
 * there is none: proved once more and written down step by step (docs/proof_format.md). Takes up to `seconds`.
 * EBB_ERROR_INPUT: no such proof was found in that time; then nothing is written. */
EBB_API ebb_code ebb_plan_write_proof(ebb_plan* plan, const char* path, double seconds);

/* Judges the plan by the model: order, budget, every read and death, duration and peak. EBB_OK: it holds.
 * EBB_ERROR_INPUT: it does not, and ebb_plan_error tells why; ebb_plan_verdict names the verdict. */
EBB_API ebb_code ebb_plan_check(ebb_plan* plan);
EBB_API const char* ebb_plan_verdict(const ebb_plan* plan);

EBB_API ebb_status ebb_plan_status(const ebb_plan* plan);
EBB_API ebb_order ebb_plan_order(const ebb_plan* plan);
EBB_API int64_t ebb_plan_budget(const ebb_plan* plan);        /* bytes */
EBB_API int64_t ebb_plan_duration(const ebb_plan* plan);      /* -1: no plan */
EBB_API int64_t ebb_plan_base_duration(const ebb_plan* plan); /* one execution of each op */
EBB_API int64_t ebb_plan_peak(const ebb_plan* plan);          /* bytes; -1: no plan */
EBB_API int64_t ebb_plan_lower_bound(const ebb_plan* plan);   /* no plan of this order is shorter */
EBB_API int64_t ebb_plan_peak_bound(const ebb_plan* plan);    /* minimise = peak: no plan has a lower peak; else 0 */
EBB_API double ebb_plan_gap(const ebb_plan* plan);            /* (duration - bound) / duration; -1: no plan */

/* Why there is no plan: a line of text, and, where one op alone proves it, that op, the bytes it needs and the bytes
 * given (else -1). */
EBB_API const char* ebb_plan_reason(const ebb_plan* plan);
EBB_API int64_t ebb_plan_reason_op(const ebb_plan* plan);
EBB_API int64_t ebb_plan_reason_bytes_needed(const ebb_plan* plan);
EBB_API int64_t ebb_plan_reason_bytes_given(const ebb_plan* plan);

/* The executions, in their order: which op; for each of its inputs, as listed, the execution that made it; and the
 * bytes resident while it runs. */
#define EBB_PRODUCER_GRAPH_INPUT (-1)
#define EBB_PRODUCER_ABSENT (-2)
EBB_API int64_t ebb_plan_num_executions(const ebb_plan* plan);
EBB_API int64_t ebb_plan_op(const ebb_plan* plan, int64_t execution);
EBB_API int64_t ebb_plan_num_inputs(const ebb_plan* plan, int64_t execution);
EBB_API int64_t ebb_plan_producer(const ebb_plan* plan, int64_t execution, int64_t input);
EBB_API int64_t ebb_plan_resident(const ebb_plan* plan, int64_t execution);

/* The deaths of storages, in the order of their positions: after which execution, whose storage (the execution and the
 * tensor that it was made for). */
EBB_API int64_t ebb_plan_num_frees(const ebb_plan* plan);
EBB_API int64_t ebb_plan_free_after(const ebb_plan* plan, int64_t index);
EBB_API int64_t ebb_plan_free_execution(const ebb_plan* plan, int64_t index);
EBB_API int64_t ebb_plan_free_tensor(const ebb_plan* plan, int64_t index);

#ifdef __cplusplus
}
#endif

#endif /* EBBTIDE_EBBTIDE_H */
