// SPDX-License-Identifier: Apache-2.0
//
// Integer variables as chains of bound literals [x >= v], made only when somebody asks for one (lazy clause generation:
// Ohrimenko, Stuckey, Codish 2009; Feydy, Stuckey, "Lazy clause generation reengineered", CP 2009). This class holds
// domains, present bounds, the literals that exist, and the history of the bounds; the engine owns the trail and calls
// it.
//
// A domain is a range or a sorted set of values (sparse: the staged start times). A bound between two values of a
// sparse domain is moved to the next value, so that equal bounds are one literal.
//
// History: every change of a bound is an event {variable, side, value, literal, trail position, event before it}. The
// chain of events of one side answers "which literal said x >= v before trail position p", which is all that a lazy
// explanation needs; undoing pops events.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/literal.hpp"

namespace ebb::core {

class IntVars {
 public:
  enum class Side : std::uint8_t { kLower, kUpper };
  // [x >= value] is `lit`.
  struct OrderLit {
    std::int64_t value;
    Lit lit;
  };
  struct Owner {
    IntVar var = IntVar::kNone;
    std::int64_t value = 0;
  };

  IntVar AddRange(std::int64_t lo, std::int64_t hi);
  IntVar AddSparse(std::vector<std::int64_t> values);  // not empty; sorted and made unique here
  [[nodiscard]] std::size_t size() const { return vars_.size(); }

  [[nodiscard]] std::int64_t lb(IntVar x) const { return vars_[Index(x)].bound[0]; }
  [[nodiscard]] std::int64_t ub(IntVar x) const { return vars_[Index(x)].bound[1]; }
  [[nodiscard]] std::int64_t root_lo(IntVar x) const { return vars_[Index(x)].lo; }
  [[nodiscard]] std::int64_t root_hi(IntVar x) const { return vars_[Index(x)].hi; }
  // The smallest value of the domain >= v (root_hi + 1 where there is none), the largest <= v (root_lo - 1).
  [[nodiscard]] std::int64_t Ceil(IntVar x, std::int64_t v) const;
  [[nodiscard]] std::int64_t Floor(IntVar x, std::int64_t v) const;

  [[nodiscard]] std::span<const OrderLit> literals(IntVar x) const { return vars_[Index(x)].lits; }
  // The literal [x >= value], value canonical; none where it does not exist.
  [[nodiscard]] Lit Find(IntVar x, std::int64_t value) const;
  // Notes that `lit` is [x >= value]; value canonical and strictly inside the domain.
  void Insert(IntVar x, std::int64_t value, Lit lit);
  [[nodiscard]] Owner owner(std::size_t sat_var) const { return sat_var < owner_.size() ? owner_[sat_var] : Owner{}; }

  // The bound that a true literal of x says: its side and value (for [x < v]: the largest value below v).
  struct Bound {
    IntVar var = IntVar::kNone;
    Side side = Side::kLower;
    std::int64_t value = 0;
  };
  [[nodiscard]] Bound Meaning(Lit lit) const;

  // Makes the bound tighter. Returns the event's index; -1 where it is no news.
  std::int32_t Tighten(const Bound& bound, Lit lit, std::int32_t position);
  // Undoes all events at trail positions >= `position`.
  void Undo(std::int32_t position);

  // The literal that, before trail position `before`, said x >= v (or x <= v): of those that suffice the oldest one.
  // None: the domain itself says so. Precondition: it holds at that position.
  [[nodiscard]] Lit Why(IntVar x, Side side, std::int64_t v, std::int32_t before) const;
  [[nodiscard]] std::int64_t BoundAt(IntVar x, Side side, std::int32_t before) const;

 private:
  struct Var {
    std::int64_t lo, hi;
    std::int64_t bound[2];
    std::int32_t last_event[2] = {-1, -1};
    std::vector<std::int64_t> domain;  // empty: the range [lo, hi]
    std::vector<OrderLit> lits;        // ascending by value
  };
  struct Event {
    IntVar var;
    Side side;
    std::int32_t position;
    std::int32_t previous;
    std::int64_t value, old_value;
    Lit lit;
  };
  [[nodiscard]] static std::size_t At(Side side) { return side == Side::kLower ? 0 : 1; }

  std::vector<Var> vars_;
  std::vector<Owner> owner_;  // by SAT variable
  std::vector<Event> events_;
};

}  // namespace ebb::core
