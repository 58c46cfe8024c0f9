// SPDX-License-Identifier: Apache-2.0
//
// The API's handles with owners.
#pragma once

#include <memory>
#include <new>
#include <string>

#include "cli/exit_codes.hpp"
#include <ebbtide/ebbtide.h>

namespace ebb::cli {

struct Free {
  void operator()(ebb_graph* h) const { ebb_graph_free(h); }
  void operator()(ebb_solver* h) const { ebb_solver_free(h); }
  void operator()(ebb_plan* h) const { ebb_plan_free(h); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

template <class T>
[[nodiscard]] Handle<T> Own(T* handle) {
  if (handle == nullptr) throw std::bad_alloc();
  return Handle<T>(handle);
}

[[nodiscard]] inline Handle<ebb_graph> ReadGraphFile(const std::string& path, const std::string& format) {
  Handle<ebb_graph> graph = Own(ebb_graph_new());
  Want(ebb_graph_read_file(graph.get(), path.c_str(), format.empty() ? nullptr : format.c_str()), graph.get());
  return graph;
}

[[nodiscard]] inline Handle<ebb_plan> ReadPlanFile(const ebb_graph* graph, const std::string& path) {
  Handle<ebb_plan> plan = Own(ebb_plan_new());
  Want(ebb_plan_read_file(plan.get(), graph, path.c_str()), plan.get());
  return plan;
}

}  // namespace ebb::cli
