// SPDX-License-Identifier: Apache-2.0
//
// What can be said of an instance before any search: ops that some shortest plan runs only once, whatever the budget.
// They are marked (may_repeat = 0) and nothing else changes: ops keep their indices, so a sequence of the smaller
// instance is one of the larger, and what holds for one holds for the other. Every solver then has less to try: a value
// whose maker runs once is pinned where it is needed, for the bounds as for the search.
//
//   unread    nothing reads what it makes, and it is not kept
//   free      what it makes takes no bytes: it stays for nothing
//   heavy     what its repeat would have to find there takes no less than what it makes: inputs that nobody else reads,
//             by makers that run once. Let the last repeat be o2, the execution before it o1: these inputs lie there
//             from o1 to o2; keep the outputs in their place, and o2 is gone.
//   passed    everything it makes is read by one op alone, and that one runs once: of several executions before it the
//   on        last is enough. In fixed order only where that op is the very next one, since the first executions have
//             their places; in staged order not at all, since two stages would become one.
//
// A rule looks at values that nothing takes over and that no view lives in. Applied until nothing changes; each mark
// can make room for others (a backward pass collapses from its end).
//
// Looked at and dropped, with numbers (docs/presolve.md): merging chains; marking by reduced costs.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/status.hpp"
#include "engine/problem/instance.hpp"

namespace ebb {

struct PresolveCounts {
  std::int64_t ops = 0;  // that could run again before
  std::int64_t unread = 0, free = 0, heavy = 0, passed_on = 0;
  std::int32_t rounds = 0;

  [[nodiscard]] std::int64_t removed() const { return unread + free + heavy + passed_on; }
};

// "12 unread, 3 free, 0 heavy, 40 passed on"
[[nodiscard]] std::string Describe(const PresolveCounts& counts);

// Marks ops of the instance, for plans in this order. Linear in the graph, a few rounds.
PresolveCounts MarkOnceOps(Instance& instance, OrderMode order);

}  // namespace ebb
