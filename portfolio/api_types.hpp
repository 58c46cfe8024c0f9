// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the handles of ebbtide.h, and the wall that no exception passes.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/log.hpp"
#include "engine/base/options.hpp"
#include "engine/base/work_budget.hpp"
#include "engine/problem/graph.hpp"
#include "engine/problem/plan.hpp"
#include "portfolio/flow_memory.hpp"
#include "portfolio/solve.hpp"
#include <ebbtide/ebbtide.h>

namespace ebb {

// A finished graph; shared by its handle and by the plans made of it.
struct GraphData {
  explicit GraphData(Graph g) : graph(std::move(g)) {}
  Graph graph;
  std::string format;
  std::vector<std::string> warnings;

  // Of the given order; worked out at the first question.
  [[nodiscard]] std::int64_t BasePeak() const;

 private:
  mutable std::once_flag once_;
  mutable std::int64_t base_peak_ = -1;
};

// A graph under construction by calls: names are made up at the end.
struct GraphDraft {
  struct Tensor {
    std::string name;
    std::int64_t bytes = 0, view_of = -1;
  };
  struct Op {
    std::string name;
    std::int64_t duration = 0, workspace = 0;
    bool recomputable = true;
    std::vector<std::int64_t> inputs, outputs;
    std::vector<std::pair<std::int64_t, std::int64_t>> inplace;
  };
  std::string name, duration_unit;
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<std::int64_t> outputs, order;
  bool has_order = false;
};

// A file that cannot be read or written.
class IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ebb

struct ebb_graph {
  std::string error;
  ebb::GraphDraft draft;
  std::shared_ptr<const ebb::GraphData> data;  // null until finished
};

struct ebb_progress {
  const ebb::LogEvent* event;
};

struct ebb_solver {
  std::string error, answer;  // answer: what ebb_solver_get returned last
  ebb::Options options;
  ebb_progress_fn callback = nullptr;
  void* user = nullptr;
  std::vector<ebb::OpId> hint;
  std::shared_ptr<const ebb::GraphData> hint_graph;
  ebb::FlowMemory flows;
  // cancel sets the flag first, a new solve clears the signal first and then looks at the flag: nothing is lost.
  std::atomic<bool> cancelled{false};
  ebb::StopSignal stop;
};

struct ebb_plan {
  std::string error, verdict, written;
  std::shared_ptr<const ebb::GraphData> data;  // null: empty handle
  ebb::Answer answer;
  mutable std::vector<std::int64_t> resident;  // per execution; worked out at the first question
};

namespace ebb {

// Runs f(); what it throws becomes a code and the handle's error text.
template <class Handle, class F>
ebb_code Guard(Handle* handle, F f) noexcept {
  if (handle == nullptr) return EBB_ERROR_USAGE;
  const auto fail = [&](ebb_code code, const char* text) noexcept {
    try {
      handle->error = text;
    } catch (...) {
      handle->error.clear();
    }
    return code;
  };
  try {
    handle->error.clear();
    f();
    return EBB_OK;
  } catch (const OptionError& e) {
    return fail(EBB_ERROR_USAGE, e.what());
  } catch (const InputError& e) {
    return fail(EBB_ERROR_INPUT, e.what());
  } catch (const IoError& e) {
    return fail(EBB_ERROR_IO, e.what());
  } catch (const std::bad_alloc&) {
    return fail(EBB_ERROR_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return fail(EBB_ERROR_INTERNAL, e.what());
  } catch (...) {
    return fail(EBB_ERROR_INTERNAL, "unknown exception");
  }
}

}  // namespace ebb
