// SPDX-License-Identifier: Apache-2.0
//
// ebb_plan_...: answers looked at, checked, read and written.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>

#include "engine/bounds/certificate.hpp"
#include "engine/bounds/gap_cover_flow.hpp"
#include "engine/bounds/gaps.hpp"
#include "engine/problem/validator.hpp"
#include "io/atomic_file.hpp"
#include "io/certificate_json.hpp"
#include "io/plan_json.hpp"
#include "portfolio/api_types.hpp"
#include "portfolio/proof.hpp"

namespace ebb {
namespace {

const Plan* PlanOf(const ebb_plan* p) { return p != nullptr && p->answer.plan ? &*p->answer.plan : nullptr; }

const Plan& WantPlan(const ebb_plan* p) {
  if (PlanOf(p) == nullptr || !p->data) throw OptionError("the handle holds no plan");
  return *PlanOf(p);
}

bool In(std::int64_t index, std::size_t size) { return index >= 0 && index < static_cast<std::int64_t>(size); }

PlanFile ToFile(const ebb_plan* p) {
  PlanFile file;
  file.plan = WantPlan(p);
  file.budget = p->answer.budget;
  file.order = p->answer.order;
  file.status = p->answer.status;
  file.lower_bound = Duration(p->answer.lower_bound);
  return file;
}

void Take(ebb_plan* p, const std::shared_ptr<const GraphData>& data, PlanFile file) {
  Answer answer;
  answer.status = file.status;
  answer.order = file.order;
  answer.budget = file.budget.value_or(Bytes::Max());
  answer.base_duration = data->graph.base_duration().count();
  answer.lower_bound = file.lower_bound ? file.lower_bound->count() : answer.base_duration;
  answer.plan = std::move(file.plan);
  p->answer = std::move(answer);
  p->data = data;
  p->resident.clear();
  p->verdict.clear();
}

std::shared_ptr<const GraphData> WantGraph(const ebb_graph* graph) {
  if (graph == nullptr || !graph->data) throw OptionError("the graph is missing or not finished");
  return graph->data;
}

GapCoverCertificate Certify(const Graph& graph, Bytes budget) {
  const Instance instance = MakeInstance(graph);
  const GapTable table = FixedOrderGaps(instance);
  // More than the order needs without repeats changes nothing, and keeps sums in range.
  const std::int64_t bytes = std::min(budget.count(), table.peak());
  if (table.impossible) throw InputError("the given order has no plan, whatever the budget");
  const GapCoverBound bound = SolveGapCover(instance, table, bytes);
  if (bound.shortage)
    throw InputError("op '" + graph.op_name(ToOpId(static_cast<std::size_t>(table.row_op[bound.shortage->row]))) +
                     "' needs " + std::to_string(bound.shortage->needed) + " bytes at its place, the budget gives " +
                     std::to_string(bound.shortage->given));
  return MakeCertificate(graph, instance, table, bound, bytes);
}

// Bytes resident while each execution runs, from the plan's own births and deaths.
std::vector<std::int64_t> ResidentBytes(const Graph& graph, const Plan& plan) {
  std::vector<std::int64_t> out(plan.executions.size());
  std::int64_t resident = graph.input_bytes().count();
  auto next = plan.frees.begin();
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (; next != plan.frees.end() && next->after < static_cast<std::int32_t>(i); ++next)
      resident -= graph.storage_bytes(next->tensor).count();
    const OpId op = plan.executions[i];
    for (const TensorId t : graph.outputs(op))
      if (graph.view_of(t) == TensorId::kNone && graph.overwrites(t) == TensorId::kNone)
        resident += graph.size(t).count();
    out[i] = resident + graph.workspace(op).count();
  }
  return out;
}

const char* Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds: return "holds";
    case Verdict::kUnknownOp: return "unknown-op";
    case Verdict::kOpNeverRuns: return "op-never-runs";
    case Verdict::kRunsAgain: return "runs-again";
    case Verdict::kTooManyExecutions: return "too-many-executions";
    case Verdict::kInputCount: return "input-count";
    case Verdict::kWrongProducer: return "wrong-producer";
    case Verdict::kMissingInput: return "missing-input";
    case Verdict::kMissingViewBase: return "missing-view-base";
    case Verdict::kMissingOutput: return "missing-output";
    case Verdict::kBadFree: return "bad-free";
    case Verdict::kOutOfOrder: return "out-of-order";
    case Verdict::kStageOutOfOrder: return "stage-out-of-order";
    case Verdict::kOverBudget: return "over-budget";
    case Verdict::kWrongDuration: return "wrong-duration";
    case Verdict::kWrongPeak: return "wrong-peak";
  }
  return "";
}

}  // namespace
}  // namespace ebb

using ebb::Guard;
using ebb::PlanOf;

extern "C" {

ebb_plan* ebb_plan_new(void) { return new (std::nothrow) ebb_plan; }
void ebb_plan_free(ebb_plan* plan) { delete plan; }
const char* ebb_plan_error(const ebb_plan* plan) { return plan == nullptr ? "null handle" : plan->error.c_str(); }

ebb_code ebb_plan_read_file(ebb_plan* plan, const ebb_graph* graph, const char* path) {
  return Guard(plan, [&] {
    const auto data = ebb::WantGraph(graph);
    if (path == nullptr) throw ebb::OptionError("no path");
    ebb::Take(plan, data, ebb::ReadPlan(data->graph, std::filesystem::path(path)).file);
  });
}

ebb_code ebb_plan_read_memory(ebb_plan* plan, const ebb_graph* graph, const void* bytes, size_t size) {
  return Guard(plan, [&] {
    const auto data = ebb::WantGraph(graph);
    if (bytes == nullptr && size > 0) throw ebb::OptionError("no data");
    ebb::Take(plan, data,
              ebb::ReadPlan(data->graph, std::string_view(static_cast<const char*>(bytes), size), "memory").file);
  });
}

ebb_code ebb_plan_write_file(ebb_plan* plan, const char* path) {
  return Guard(plan, [&] {
    if (path == nullptr) throw ebb::OptionError("no path");
    const ebb::PlanFile file = ebb::ToFile(plan);
    try {
      ebb::WritePlan(plan->data->graph, file, std::filesystem::path(path));
    } catch (const ebb::InputError& e) {
      throw ebb::IoError(e.what());
    }
  });
}

ebb_code ebb_plan_write_memory(ebb_plan* plan, const char** data, size_t* size) {
  return Guard(plan, [&] {
    if (data == nullptr || size == nullptr) throw ebb::OptionError("nowhere to put data or size");
    plan->written = ebb::PlanToJson(plan->data ? plan->data->graph : throw ebb::OptionError("the handle holds no plan"),
                                    ebb::ToFile(plan));
    *data = plan->written.data();
    *size = plan->written.size();
  });
}

ebb_code ebb_plan_write_certificate(ebb_plan* plan, const char* path) {
  return Guard(plan, [&] {
    if (path == nullptr) throw ebb::OptionError("no path");
    if (!plan->data) throw ebb::OptionError("the handle holds no answer");
    if (plan->answer.order == ebb::OrderMode::kFree)
      throw ebb::OptionError("a certificate is for the given order; the answer is for any order");
    const ebb::GapCoverCertificate certificate = ebb::Certify(plan->data->graph, plan->answer.budget);
    try {
      ebb::WriteCertificate(plan->data->graph, certificate, std::filesystem::path(path));
    } catch (const ebb::InputError& e) {
      throw ebb::IoError(e.what());
    }
  });
}

ebb_code ebb_plan_write_proof(ebb_plan* plan, const char* path, double seconds) {
  return Guard(plan, [&] {
    if (path == nullptr || !(seconds >= 0)) throw ebb::OptionError("no path, or no time");
    if (!plan->data) throw ebb::OptionError("the handle holds no answer");
    const ebb::Answer& answer = plan->answer;
    ebb::StopSignal stop;
    stop.SetDeadline(ebb::StopSignal::Clock::now() + std::chrono::duration_cast<ebb::StopSignal::Clock::duration>(
                                                         std::chrono::duration<double>(std::min(seconds, 1e9))));
    ebb::WorkBudget work(std::numeric_limits<ebb::Ticks>::max(), &stop);
    ebb::ProofClaim claim{answer.order, answer.budget.count(), answer.lower_bound, answer.max_executions};
    if (answer.status == ebb::SolveStatus::kInfeasible) claim.duration.reset();
    const std::string proof = ebb::MakeProof(plan->data->graph, claim, work);
    if (proof.empty()) throw ebb::InputError("no proof of this within the time given");
    try {
      ebb::AtomicFile file{std::filesystem::path(path)};
      file.Write(proof);
      file.Commit();
    } catch (const ebb::InputError& e) {
      throw ebb::IoError(e.what());
    }
  });
}

ebb_code ebb_plan_check(ebb_plan* plan) {
  return Guard(plan, [&] {
    const ebb::Plan& p = ebb::WantPlan(plan);
    ebb::PlanRules rules;
    rules.order = plan->answer.order;
    rules.budget = plan->answer.budget;
    const ebb::ValidationResult result = ebb::Validate(plan->data->graph, p, rules);
    plan->verdict = ebb::Name(result.verdict);
    if (!result.ok()) throw ebb::InputError(result.text);
    if (plan->answer.lower_bound > p.duration.count()) {
      plan->verdict = "bound-above-duration";
      throw ebb::InputError("the plan claims a lower bound of " + std::to_string(plan->answer.lower_bound) +
                            " above its duration of " + std::to_string(p.duration.count()));
    }
  });
}

const char* ebb_plan_verdict(const ebb_plan* plan) { return plan ? plan->verdict.c_str() : ""; }

ebb_status ebb_plan_status(const ebb_plan* plan) {
  return plan ? static_cast<ebb_status>(plan->answer.status) : EBB_STATUS_UNKNOWN;
}
ebb_order ebb_plan_order(const ebb_plan* plan) {
  return plan ? static_cast<ebb_order>(plan->answer.order) : EBB_ORDER_FIXED;
}
int64_t ebb_plan_budget(const ebb_plan* plan) { return plan ? plan->answer.budget.count() : -1; }
int64_t ebb_plan_duration(const ebb_plan* plan) { return PlanOf(plan) ? PlanOf(plan)->duration.count() : -1; }
int64_t ebb_plan_base_duration(const ebb_plan* plan) { return plan ? plan->answer.base_duration : -1; }
int64_t ebb_plan_peak(const ebb_plan* plan) { return PlanOf(plan) ? PlanOf(plan)->peak.count() : -1; }
int64_t ebb_plan_lower_bound(const ebb_plan* plan) { return plan ? plan->answer.lower_bound : 0; }
int64_t ebb_plan_peak_bound(const ebb_plan* plan) { return plan ? plan->answer.peak_bound : 0; }
double ebb_plan_gap(const ebb_plan* plan) {
  if (PlanOf(plan) == nullptr) return -1;
  const auto duration = static_cast<double>(PlanOf(plan)->duration.count());
  return duration == 0 ? 0 : (duration - static_cast<double>(plan->answer.lower_bound)) / duration;
}

const char* ebb_plan_reason(const ebb_plan* plan) { return plan ? plan->answer.reason.text.c_str() : ""; }
int64_t ebb_plan_reason_op(const ebb_plan* plan) { return plan ? static_cast<int64_t>(plan->answer.reason.op) : -1; }
int64_t ebb_plan_reason_bytes_needed(const ebb_plan* plan) { return plan ? plan->answer.reason.bytes_needed : -1; }
int64_t ebb_plan_reason_bytes_given(const ebb_plan* plan) { return plan ? plan->answer.reason.bytes_given : -1; }

int64_t ebb_plan_num_executions(const ebb_plan* plan) {
  return PlanOf(plan) ? static_cast<int64_t>(PlanOf(plan)->executions.size()) : 0;
}
int64_t ebb_plan_op(const ebb_plan* plan, int64_t execution) {
  if (!ebb::In(execution, static_cast<size_t>(ebb_plan_num_executions(plan)))) return -1;
  return static_cast<int64_t>(PlanOf(plan)->executions[static_cast<size_t>(execution)]);
}
int64_t ebb_plan_num_inputs(const ebb_plan* plan, int64_t execution) {
  if (!ebb::In(execution, static_cast<size_t>(ebb_plan_num_executions(plan)))) return 0;
  return static_cast<int64_t>(PlanOf(plan)->inputs[static_cast<size_t>(execution)].size());
}
int64_t ebb_plan_producer(const ebb_plan* plan, int64_t execution, int64_t input) {
  if (!ebb::In(input, static_cast<size_t>(ebb_plan_num_inputs(plan, execution)))) return EBB_PRODUCER_ABSENT;
  return PlanOf(plan)->inputs[static_cast<size_t>(execution)][static_cast<size_t>(input)];
}
int64_t ebb_plan_resident(const ebb_plan* plan, int64_t execution) {
  if (!ebb::In(execution, static_cast<size_t>(ebb_plan_num_executions(plan)))) return -1;
  try {
    if (plan->resident.empty()) plan->resident = ebb::ResidentBytes(plan->data->graph, *PlanOf(plan));
    return plan->resident[static_cast<size_t>(execution)];
  } catch (...) {
    return -1;
  }
}

int64_t ebb_plan_num_frees(const ebb_plan* plan) {
  return PlanOf(plan) ? static_cast<int64_t>(PlanOf(plan)->frees.size()) : 0;
}
int64_t ebb_plan_free_after(const ebb_plan* plan, int64_t index) {
  return ebb::In(index, static_cast<size_t>(ebb_plan_num_frees(plan)))
             ? PlanOf(plan)->frees[static_cast<size_t>(index)].after
             : -1;
}
int64_t ebb_plan_free_execution(const ebb_plan* plan, int64_t index) {
  return ebb::In(index, static_cast<size_t>(ebb_plan_num_frees(plan)))
             ? PlanOf(plan)->frees[static_cast<size_t>(index)].execution
             : -1;
}
int64_t ebb_plan_free_tensor(const ebb_plan* plan, int64_t index) {
  return ebb::In(index, static_cast<size_t>(ebb_plan_num_frees(plan)))
             ? static_cast<int64_t>(PlanOf(plan)->frees[static_cast<size_t>(index)].tensor)
             : -1;
}

}  // extern "C"
