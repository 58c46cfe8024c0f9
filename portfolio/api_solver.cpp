// SPDX-License-Identifier: Apache-2.0
//
// ebb_solver_..., ebb_option_..., ebb_progress_... and the versions.
#include <array>
#include <string_view>

#include "portfolio/api_types.hpp"

namespace ebb {
namespace {

// The header is installed without CMake: it says its version itself, and must say the project's.
#define EBB_TEXT_OF(x) #x
#define EBB_TEXT(x) EBB_TEXT_OF(x)
static_assert(std::string_view(EBB_TEXT(EBB_VERSION_MAJOR) "." EBB_TEXT(EBB_VERSION_MINOR) "." EBB_TEXT(
                  EBB_VERSION_PATCH)) == EBB_PROJECT_VERSION);

// Texts of the option table end in a zero because they are literals, except names, which are built with one too.
const OptionInfo* Row(size_t index) { return index < OptionTable().size() ? &OptionTable()[index] : nullptr; }

}  // namespace
}  // namespace ebb

using ebb::Guard;

extern "C" {

const char* ebb_version(void) { return EBB_PROJECT_VERSION; }
const char* ebb_engine_version(void) { return "CaDiCaL " EBB_CADICAL_VERSION; }
const char* ebb_status_name(ebb_status status) { return ebb::ToString(static_cast<ebb::SolveStatus>(status)); }

size_t ebb_num_options(void) { return ebb::OptionTable().size(); }
const char* ebb_option_name(size_t index) { return ebb::Row(index) ? ebb::Row(index)->name.data() : ""; }
const char* ebb_option_type(size_t index) { return ebb::Row(index) ? ebb::ToString(ebb::Row(index)->type).data() : ""; }
const char* ebb_option_choices(size_t index) { return ebb::Row(index) ? ebb::Row(index)->choices.data() : ""; }
double ebb_option_low(size_t index) { return ebb::Row(index) ? ebb::Row(index)->lo : 0; }
double ebb_option_high(size_t index) { return ebb::Row(index) ? ebb::Row(index)->hi : 0; }
const char* ebb_option_help(size_t index) { return ebb::Row(index) ? ebb::Row(index)->help.data() : ""; }

ebb_solver* ebb_solver_new(void) { return new (std::nothrow) ebb_solver; }
void ebb_solver_free(ebb_solver* solver) { delete solver; }
const char* ebb_solver_error(const ebb_solver* solver) {
  return solver == nullptr ? "null handle" : solver->error.c_str();
}

ebb_code ebb_solver_set(ebb_solver* solver, const char* option, const char* value) {
  return Guard(solver, [&] {
    if (option == nullptr || value == nullptr) throw ebb::OptionError("option or value missing");
    solver->options.Set(option, value);
  });
}

const char* ebb_solver_get(ebb_solver* solver, const char* option) {
  if (solver == nullptr || option == nullptr) return "";
  return Guard(solver, [&] { solver->answer = solver->options.Get(option); }) == EBB_OK ? solver->answer.c_str() : "";
}

ebb_code ebb_solver_on_progress(ebb_solver* solver, ebb_progress_fn callback, void* user) {
  return Guard(solver, [&] {
    solver->callback = callback;
    solver->user = user;
  });
}

double ebb_progress_seconds(const ebb_progress* p) { return p ? p->event->seconds : 0; }
int64_t ebb_progress_duration(const ebb_progress* p) { return p ? p->event->duration : -1; }
int64_t ebb_progress_peak(const ebb_progress* p) { return p ? p->event->peak : -1; }
int64_t ebb_progress_executions(const ebb_progress* p) { return p ? p->event->executions : -1; }
int64_t ebb_progress_lower_bound(const ebb_progress* p) { return p ? p->event->lower_bound : 0; }
double ebb_progress_gap(const ebb_progress* p) { return p ? p->event->gap() : -1; }
const char* ebb_progress_worker(const ebb_progress* p) { return p ? p->event->worker : ""; }
const char* ebb_progress_message(const ebb_progress* p) { return p ? p->event->text.c_str() : ""; }
const char* ebb_progress_kind(const ebb_progress* p) {
  static constexpr std::array<const char*, 4> kNames = {"plan", "bound", "message", "tick"};
  return p ? kNames[static_cast<std::size_t>(p->event->kind)] : "";
}

ebb_code ebb_solver_hint(ebb_solver* solver, const ebb_plan* plan) {
  return Guard(solver, [&] {
    solver->hint.clear();
    solver->hint_graph.reset();
    if (plan == nullptr) return;
    if (!plan->data || !plan->answer.plan) throw ebb::OptionError("hint: the handle holds no plan");
    solver->hint = plan->answer.plan->executions;
    solver->hint_graph = plan->data;
  });
}

ebb_code ebb_solver_solve(ebb_solver* solver, const ebb_graph* graph, ebb_plan* plan) {
  return Guard(solver, [&] {
    if (graph == nullptr || plan == nullptr) throw ebb::OptionError("graph or plan missing");
    if (!graph->data) throw ebb::OptionError("the graph is not finished");
    if (solver->hint_graph && solver->hint_graph->graph.num_ops() != graph->data->graph.num_ops())
      throw ebb::InputError("hint: a plan of another graph");
    solver->stop.Reset();
    if (solver->cancelled.load()) solver->stop.Cancel();
    ebb::LogSink sink;
    if (solver->callback != nullptr) {
      sink = [solver](const ebb::LogEvent& event) {
        const ebb_progress progress{&event};
        return solver->callback(&progress, solver->user) == 0;
      };
    }
    const std::shared_ptr<const ebb::GraphData> data = graph->data;
    if (solver->flows.graph != data) solver->flows = {data, {}, {}, {}};
    ebb::Answer answer =
        ebb::Solve(data->graph, solver->options, solver->hint, solver->stop, std::move(sink), &solver->flows);
    plan->answer = std::move(answer);
    plan->data = data;
    plan->resident.clear();
    plan->error.clear();
    plan->verdict.clear();
  });
}

void ebb_solver_cancel(ebb_solver* solver) {
  if (solver == nullptr) return;
  solver->cancelled.store(true);
  solver->stop.Cancel();
}

void ebb_solver_reset(ebb_solver* solver) {
  if (solver != nullptr) solver->cancelled.store(false);
}

}  // extern "C"
