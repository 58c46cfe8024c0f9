// SPDX-License-Identifier: Apache-2.0
//
// Ebbtide for C++17: owners for the handles of ebbtide.h, errors as exceptions, ranges as vectors. Header only; all of
// it is calls of the C interface, whose comments hold here too.
//
//   ebbtide::Graph graph = ebbtide::Graph::FromFile("graph.json");
//   ebbtide::Solver solver;
//   solver.Set("budget", "0.8").Set("threads", "2");
//   ebbtide::Plan plan = solver.Solve(graph);
//   for (std::int64_t op : plan.Sequence()) ...
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebbtide/ebbtide.h>

namespace ebbtide {

class Error : public std::runtime_error {
 public:
  Error(ebb_code why, const char* text) : std::runtime_error(text), code(why) {}
  ebb_code code;
};

namespace detail {
struct Deleter {
  void operator()(ebb_graph* h) const { ebb_graph_free(h); }
  void operator()(ebb_solver* h) const { ebb_solver_free(h); }
  void operator()(ebb_plan* h) const { ebb_plan_free(h); }
};
template <class T>
std::unique_ptr<T, Deleter> Own(T* handle) {
  if (handle == nullptr) throw std::bad_alloc();
  return std::unique_ptr<T, Deleter>(handle);
}
inline const char* ErrorText(const ebb_graph* h) { return ebb_graph_error(h); }
inline const char* ErrorText(const ebb_solver* h) { return ebb_solver_error(h); }
inline const char* ErrorText(const ebb_plan* h) { return ebb_plan_error(h); }
template <class T>
void Want(ebb_code code, const T* handle) {
  if (code != EBB_OK) throw Error(code, ErrorText(handle));
}
}  // namespace detail

// A graph: read, or built by calls and finished by Finish().
class Graph {
 public:
  Graph() : h_(detail::Own(ebb_graph_new())) {}
  // In any format; `format` insists on one.
  static Graph FromFile(const std::string& path, const char* format = nullptr) {
    Graph g;
    detail::Want(ebb_graph_read_file(g.get(), path.c_str(), format), g.get());
    return g;
  }
  static Graph FromMemory(std::string_view bytes, const char* format = nullptr) {
    Graph g;
    detail::Want(ebb_graph_read_memory(g.get(), bytes.data(), bytes.size(), format), g.get());
    return g;
  }
  std::vector<std::string> Warnings() const {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < ebb_graph_num_warnings(get()); ++i) out.emplace_back(ebb_graph_warning(get(), i));
    return out;
  }

  void SetName(const std::string& name) { detail::Want(ebb_graph_set_name(get(), name.c_str()), get()); }

  std::int64_t AddTensor(const std::string& name, std::int64_t bytes, std::int64_t view_of = -1) {
    std::int64_t id = -1;
    detail::Want(ebb_graph_add_tensor(get(), name.c_str(), bytes, view_of, &id), get());
    return id;
  }
  std::int64_t AddOp(const std::string& name, std::int64_t duration, const std::vector<std::int64_t>& inputs,
                     const std::vector<std::int64_t>& outputs) {
    std::int64_t id = -1;
    detail::Want(ebb_graph_add_op(get(), name.c_str(), duration, &id), get());
    for (const std::int64_t t : inputs) detail::Want(ebb_graph_op_reads(get(), id, t), get());
    for (const std::int64_t t : outputs) detail::Want(ebb_graph_op_makes(get(), id, t), get());
    return id;
  }
  void SetWorkspace(std::int64_t op, std::int64_t bytes) {
    detail::Want(ebb_graph_op_set_workspace(get(), op, bytes), get());
  }
  void SetRecomputable(std::int64_t op, bool may) {
    detail::Want(ebb_graph_op_set_recomputable(get(), op, may ? 1 : 0), get());
  }
  void Overwrites(std::int64_t op, std::int64_t input, std::int64_t output) {
    detail::Want(ebb_graph_op_overwrites(get(), op, input, output), get());
  }
  void AddOutput(std::int64_t tensor) { detail::Want(ebb_graph_add_output(get(), tensor), get()); }
  void SetOrder(const std::vector<std::int64_t>& ops) {
    detail::Want(ebb_graph_set_order(get(), ops.data(), ops.size()), get());
  }
  void Finish() { detail::Want(ebb_graph_finish(get()), get()); }

  std::int64_t num_ops() const { return ebb_graph_num_ops(get()); }
  std::int64_t num_tensors() const { return ebb_graph_num_tensors(get()); }
  std::int64_t FindOp(const std::string& name) const { return ebb_graph_find_op(get(), name.c_str()); }  // -1: none
  std::int64_t FindTensor(const std::string& name) const { return ebb_graph_find_tensor(get(), name.c_str()); }
  std::int64_t op_duration(std::int64_t op) const { return ebb_graph_op_duration(get(), op); }
  std::int64_t tensor_bytes(std::int64_t t) const { return ebb_graph_tensor_bytes(get(), t); }
  std::int64_t memory_floor() const { return ebb_graph_memory_floor(get()); }
  std::string op_name(std::int64_t op) const { return ebb_graph_op_name(get(), op); }
  std::string tensor_name(std::int64_t t) const { return ebb_graph_tensor_name(get(), t); }
  std::int64_t base_duration() const { return ebb_graph_base_duration(get()); }
  std::int64_t base_peak() const { return ebb_graph_base_peak(get()); }
  void Write(const std::string& path) { detail::Want(ebb_graph_write_file(get(), path.c_str()), get()); }

  ebb_graph* get() const { return h_.get(); }

 private:
  std::unique_ptr<ebb_graph, detail::Deleter> h_;
};

// An answer: a status with bounds and, where there is one, a plan.
class Plan {
 public:
  Plan() : h_(detail::Own(ebb_plan_new())) {}
  static Plan FromFile(const Graph& graph, const std::string& path) {
    Plan p;
    detail::Want(ebb_plan_read_file(p.get(), graph.get(), path.c_str()), p.get());
    return p;
  }

  static Plan FromMemory(const Graph& graph, std::string_view json) {
    Plan p;
    detail::Want(ebb_plan_read_memory(p.get(), graph.get(), json.data(), json.size()), p.get());
    return p;
  }

  ebb_status status() const { return ebb_plan_status(get()); }
  ebb_order order() const { return ebb_plan_order(get()); }
  bool has_plan() const { return ebb_plan_duration(get()) >= 0; }
  std::int64_t duration() const { return ebb_plan_duration(get()); }
  std::int64_t base_duration() const { return ebb_plan_base_duration(get()); }
  std::int64_t peak() const { return ebb_plan_peak(get()); }
  std::int64_t budget() const { return ebb_plan_budget(get()); }
  std::int64_t lower_bound() const { return ebb_plan_lower_bound(get()); }
  double gap() const { return ebb_plan_gap(get()); }
  std::string reason() const { return ebb_plan_reason(get()); }

  // The ops in the order of their executions.
  std::vector<std::int64_t> Sequence() const {
    std::vector<std::int64_t> out(static_cast<std::size_t>(ebb_plan_num_executions(get())));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = ebb_plan_op(get(), static_cast<std::int64_t>(i));
    return out;
  }
  // Bytes resident while an execution runs.
  std::int64_t Resident(std::int64_t execution) const { return ebb_plan_resident(get(), execution); }
  // For each input of one execution, the execution that made it (or EBB_PRODUCER_...).
  std::vector<std::int64_t> Producers(std::int64_t execution) const {
    std::vector<std::int64_t> out(static_cast<std::size_t>(ebb_plan_num_inputs(get(), execution)));
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = ebb_plan_producer(get(), execution, static_cast<std::int64_t>(k));
    return out;
  }
  struct Free {
    std::int64_t after, execution, tensor;
  };
  std::vector<Free> Frees() const {
    std::vector<Free> out(static_cast<std::size_t>(ebb_plan_num_frees(get())));
    for (std::size_t k = 0; k < out.size(); ++k) {
      const auto i = static_cast<std::int64_t>(k);
      out[k] = {ebb_plan_free_after(get(), i), ebb_plan_free_execution(get(), i), ebb_plan_free_tensor(get(), i)};
    }
    return out;
  }
  void Check() { detail::Want(ebb_plan_check(get()), get()); }  // throws where the plan does not hold
  void Write(const std::string& path) { detail::Want(ebb_plan_write_file(get(), path.c_str()), get()); }
  std::string ToJson() {
    const char* data = nullptr;
    std::size_t size = 0;
    detail::Want(ebb_plan_write_memory(get(), &data, &size), get());
    return std::string(data, size);
  }
  void WriteCertificate(const std::string& path) {
    detail::Want(ebb_plan_write_certificate(get(), path.c_str()), get());
  }
  void WriteProof(const std::string& path, double seconds) {
    detail::Want(ebb_plan_write_proof(get(), path.c_str(), seconds), get());
  }

  ebb_plan* get() const { return h_.get(); }

 private:
  std::unique_ptr<ebb_plan, detail::Deleter> h_;
};

class Solver {
 public:
  // Gets the progress, returns whether to go on. What it throws ends the solve and comes out of Solve.
  using Progress = std::function<bool(const ebb_progress*)>;

  Solver() : h_(detail::Own(ebb_solver_new())) {}
  Solver& Set(const std::string& option, const std::string& value) {
    detail::Want(ebb_solver_set(get(), option.c_str(), value.c_str()), get());
    return *this;
  }
  std::string Get(const std::string& option) { return ebb_solver_get(get(), option.c_str()); }
  Solver& Hint(const Plan& plan) {
    detail::Want(ebb_solver_hint(get(), plan.get()), get());
    return *this;
  }
  Solver& OnProgress(Progress progress) {
    progress_ = std::move(progress);
    return *this;
  }
  Plan Solve(const Graph& graph) {
    Plan plan;
    struct Call {
      Progress* progress;
      std::exception_ptr thrown;
    } call{&progress_, nullptr};
    const auto callback = [](const ebb_progress* p, void* user) -> int {
      Call& c = *static_cast<Call*>(user);
      try {
        return (*c.progress)(p) ? 0 : 1;
      } catch (...) {
        c.thrown = std::current_exception();
        return 1;
      }
    };
    detail::Want(ebb_solver_on_progress(get(), progress_ ? +callback : nullptr, &call), get());
    const ebb_code code = ebb_solver_solve(get(), graph.get(), plan.get());
    if (call.thrown) std::rethrow_exception(call.thrown);
    detail::Want(code, get());
    return plan;
  }
  void Cancel() { ebb_solver_cancel(get()); }  // from any thread
  void Reset() { ebb_solver_reset(get()); }

  ebb_solver* get() const { return h_.get(); }

 private:
  std::unique_ptr<ebb_solver, detail::Deleter> h_;
  Progress progress_;
};

}  // namespace ebbtide
