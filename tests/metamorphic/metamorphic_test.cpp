// SPDX-License-Identifier: Apache-2.0
// Relations between answers to related questions, where nobody knows the answer itself. On graphs of up to 14 ops the
// product proves optima, and these must move as the question says; on larger ones with a fixed amount of work, every
// bound must stay at or under every plan of a question that is at least as hard.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "ebbtide/ebbtide.h"
#include "engine/problem/graph_builder.hpp"
#include "io/generate.hpp"
#include "io/write_graph.hpp"
#include "tests/oracle/judge.hpp"
#include "tests/oracle/random_graph.hpp"
#include "tests/support/seed.hpp"

using namespace ebb;
using namespace ebb::test;

namespace {

// A graph that can be changed.
struct Draft {
  struct Tensor {
    std::string name;
    std::int64_t size;
    std::string view_of;
  };
  std::vector<Tensor> tensors;
  std::vector<GraphBuilder::OpSpec> ops;
  std::vector<std::string> outputs, order;

  explicit Draft(const Graph& g) {
    const auto name = [&](TensorId t) { return t == TensorId::kNone ? std::string() : g.tensor_name(t); };
    for (std::size_t i = 0; i < g.num_tensors(); ++i)
      tensors.push_back({name(ToTensorId(i)), g.size(ToTensorId(i)).count(), name(g.view_of(ToTensorId(i)))});
    for (std::size_t i = 0; i < g.num_ops(); ++i) {
      const OpId op = ToOpId(i);
      GraphBuilder::OpSpec s;
      s.name = g.op_name(op);
      s.duration = g.duration(op).count();
      s.workspace = g.workspace(op).count();
      s.recomputable = g.recomputable(op);
      for (const TensorId t : g.inputs(op)) s.inputs.push_back(name(t));
      for (const TensorId t : g.outputs(op)) s.outputs.push_back(name(t));
      for (const InplacePair& p : g.inplace(op)) s.inplace.emplace_back(name(p.input), name(p.output));
      ops.push_back(s);
    }
    for (const TensorId t : g.graph_outputs()) outputs.push_back(name(t));
    for (const OpId op : g.order()) order.push_back(g.op_name(op));
  }
  [[nodiscard]] Graph Build() const {
    GraphBuilder b;
    for (const Tensor& t : tensors) b.AddTensor(t.name, t.size, t.view_of);
    for (const auto& op : ops) b.AddOp(op);
    for (const auto& t : outputs) b.AddGraphOutput(t);
    b.SetOrder(order);
    return b.Build();
  }
};

struct Answer {
  ebb_status status;
  std::int64_t duration, bound;
  bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& a) {
  return out << ebb_status_name(a.status) << ' ' << a.duration << ' ' << a.bound;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

Answer Ask(const Graph& graph, std::int64_t budget, const std::string& order, const Settings& more = {}) {
  const std::string json = GraphToJson(graph);
  const std::unique_ptr<ebb_graph, void (*)(ebb_graph*)> handle(ebb_graph_new(), ebb_graph_free);
  REQUIRE(ebb_graph_read_memory(handle.get(), json.data(), json.size(), nullptr) == EBB_OK);
  const std::unique_ptr<ebb_solver, void (*)(ebb_solver*)> solver(ebb_solver_new(), ebb_solver_free);
  const std::unique_ptr<ebb_plan, void (*)(ebb_plan*)> plan(ebb_plan_new(), ebb_plan_free);
  Settings all = {{"budget", std::to_string(budget)}, {"order", order}, {"threads", "1"}, {"time-limit", "120"}};
  all.insert(all.end(), more.begin(), more.end());
  for (const auto& [name, value] : all)
    REQUIRE_MESSAGE(ebb_solver_set(solver.get(), name.c_str(), value.c_str()) == EBB_OK,
                    ebb_solver_error(solver.get()));
  REQUIRE_MESSAGE(ebb_solver_solve(solver.get(), handle.get(), plan.get()) == EBB_OK, ebb_solver_error(solver.get()));
  const ebb_status status = ebb_plan_status(plan.get());
  if (ebb_plan_duration(plan.get()) < 0)
    return {status, -1, status == EBB_STATUS_INFEASIBLE ? 0 : ebb_plan_lower_bound(plan.get())};
  CHECK(ebb_plan_check(plan.get()) == EBB_OK);
  CHECK(ebb_plan_peak(plan.get()) <= budget);
  return {status, ebb_plan_duration(plan.get()), ebb_plan_lower_bound(plan.get())};
}

// The optimum of a graph that is small enough to be proved. Infeasible is worse than any duration.
std::int64_t Optimum(const Graph& graph, std::int64_t budget, const std::string& order, const Settings& more = {}) {
  const Answer a = Ask(graph, budget, order, more);
  REQUIRE((a.status == EBB_STATUS_OPTIMAL || a.status == EBB_STATUS_INFEASIBLE));
  return a.status == EBB_STATUS_OPTIMAL ? a.duration : std::numeric_limits<std::int64_t>::max();
}
constexpr std::int64_t kNoPlan = std::numeric_limits<std::int64_t>::max();

// The same graph under other names and with ops and tensors in another order of the file.
Graph Relabelled(const Graph& graph, Rng& rng) {
  Draft d(graph);
  const auto other = [](const std::string& name) {
    return name.empty() ? name : "z" + std::string(name.rbegin(), name.rend()) + "_";
  };
  for (auto& t : d.tensors) {
    t.name = other(t.name);
    t.view_of = other(t.view_of);
  }
  for (auto& op : d.ops) {
    op.name = other(op.name);
    for (auto& t : op.inputs) t = other(t);
    for (auto& t : op.outputs) t = other(t);
    for (auto& [in, out] : op.inplace) {
      in = other(in);
      out = other(out);
    }
  }
  for (auto& t : d.outputs) t = other(t);
  for (auto& op : d.order) op = other(op);
  const auto shuffle = [&](auto& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(i) - 1))]);
  };
  shuffle(d.tensors);
  shuffle(d.ops);
  shuffle(d.outputs);
  return d.Build();
}

Graph Scaled(const Graph& graph, std::int64_t bytes, std::int64_t duration) {
  Draft d(graph);
  for (auto& t : d.tensors) t.size *= bytes;
  for (auto& op : d.ops) {
    op.workspace *= bytes;
    op.duration *= duration;
  }
  return d.Build();
}

// With an op more that costs nothing and needs nothing: empty, a control edge between neighbours, or a view.
Graph WithIdleOp(const Graph& graph, Rng& rng) {
  Draft d(graph);
  GraphBuilder::OpSpec op;
  op.name = "idle";
  const auto at = static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(d.order.size())));
  d.order.insert(d.order.begin() + static_cast<std::ptrdiff_t>(at), "idle");
  if (Chance(rng, 50)) {
    d.tensors.push_back({"idle_out", 0, ""});
    op.outputs = {"idle_out"};
    if (at + 1 < d.order.size() && Chance(rng, 50))
      for (auto& reader : d.ops)
        if (reader.name == d.order[at + 1]) reader.inputs.push_back("idle_out");
  }
  d.ops.push_back(op);
  return d.Build();
}

std::int64_t Times(std::int64_t optimum, std::int64_t factor) {
  return optimum == kNoPlan ? kNoPlan : optimum * factor;
}

constexpr const char* kOrders[] = {"free", "fixed", "staged"};

}  // namespace

TEST_CASE("optima move as the question does") {
  Rng rng(Seed("metamorphic"));
  int feasible = 0;
  for (int round = 0; round < 40; ++round) {
    RandomGraphOptions options = Chance(rng, 30) ? RandomGraphOptions::Plain() : RandomGraphOptions();
    options.min_ops = 6;
    options.max_ops = 14;
    if (Chance(rng, 60)) options.once = 0;
    const Graph graph = RandomGraph(rng, options);
    const std::int64_t budget = RandomBudget(graph, rng);
    CAPTURE(Describe(graph));
    CAPTURE(budget);
    std::int64_t before = 0;
    for (const char* order : kOrders) {
      CAPTURE(order);
      const std::int64_t optimum = Optimum(graph, budget, order);
      feasible += optimum != kNoPlan;
      CHECK(optimum >= before);  // free <= fixed <= staged
      before = optimum;
      CHECK(Optimum(graph, budget + Draw(rng, 1, 4), order) <= optimum);
      CHECK(Optimum(Relabelled(graph, rng), budget, order) == optimum);
      const std::int64_t k = Draw(rng, 2, 1'000'000), m = Draw(rng, 2, 1'000'000);
      CHECK(Optimum(Scaled(graph, k, 1), budget * k + Draw(rng, 0, k - 1), order) == optimum);
      CHECK(Optimum(Scaled(graph, 1, m), budget, order) == Times(optimum, m));
      CHECK(Optimum(WithIdleOp(graph, rng), budget, order) == optimum);
      // A graph input that nobody reads takes its bytes off the budget.
      Draft more(graph);
      more.tensors.push_back({"extra", 13, ""});
      CHECK(Optimum(more.Build(), budget + 13, order) == optimum);
      // One output more to keep, or one op that may no longer be repeated: never better.
      Draft kept(graph);
      const std::string& name =
          kept.tensors[static_cast<std::size_t>(Draw(rng, 0, static_cast<std::int64_t>(kept.tensors.size()) - 1))].name;
      if (std::find(kept.outputs.begin(), kept.outputs.end(), name) == kept.outputs.end()) kept.outputs.push_back(name);
      std::optional<Graph> with_kept;
      try {
        with_kept = kept.Build();
      } catch (const InputError&) {
        // Overwritten for good: refused.
      }
      if (with_kept) CHECK(Optimum(*with_kept, budget, order) >= optimum);
      const std::int64_t capped = Optimum(graph, budget, order, {{"max-executions", "2"}});
      CHECK(capped >= optimum);
      CHECK(Optimum(graph, budget, order, {{"max-executions", "1"}}) >= capped);
    }
  }
  CHECK(feasible > 40);
}

TEST_CASE("bounds of larger graphs never pass plans of harder questions") {
  const std::uint64_t seed = Seed("metamorphic_large");
  Rng rng(seed);
  struct Question {
    const char* kind;
    GenerateSpec spec;
  };
  std::vector<Question> questions(5);
  questions[0].kind = "layered";
  questions[0].spec.ops = 80;
  questions[1].kind = "random";
  questions[1].spec.ops = 120;
  questions[2].kind = "transformer";
  questions[2].spec.layers = 2;
  questions[3].kind = "unet";
  questions[3].spec.layers = 3;
  questions[4].kind = "chain";
  questions[4].spec.layers = 25;
  for (Question& q : questions) {
    q.spec.seed = seed;
    const Graph graph = Generate(q.kind, q.spec);
    CAPTURE(q.kind);
    const std::int64_t peak = Judge(graph, graph.order()).peak;
    const Settings little = {{"work-limit", "0.1"}};
    struct Seen {
      std::int64_t budget;
      int order;  // free, fixed, staged
      Answer answer;
    };
    std::vector<Seen> seen;
    for (const int percent : {95, 85, 75}) {
      const std::int64_t budget = peak * percent / 100;
      for (int order = 0; order < 3; ++order) {
        CAPTURE(percent);
        CAPTURE(kOrders[order]);
        const Answer answer = Ask(graph, budget, kOrders[order], little);
        CHECK(answer == Ask(graph, budget, kOrders[order], little));  // same work, same answer
        seen.push_back({budget, order, answer});
        seen.push_back({budget, order, Ask(Relabelled(graph, rng), budget, kOrders[order], little)});
      }
    }
    // The plan of a smaller budget or a stricter order is a plan for the larger or laxer one.
    for (const Seen& harder : seen)
      for (const Seen& easier : seen) {
        if (harder.budget > easier.budget || harder.order < easier.order) continue;
        CAPTURE(harder.budget);
        CAPTURE(harder.order);
        CAPTURE(easier.budget);
        CAPTURE(easier.order);
        if (harder.answer.duration < 0) continue;
        CHECK(easier.answer.status != EBB_STATUS_INFEASIBLE);
        CHECK(easier.answer.bound <= harder.answer.duration);
      }
  }
}
