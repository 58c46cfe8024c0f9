// SPDX-License-Identifier: Apache-2.0
//
// The trail: true literals in the order in which the engine knew them, each with the reason it can give.
//
// The engine runs ahead of the SAT solver: what a propagator infers is true here at once and handed over afterwards, in
// order, so that the literals of a reason always stand before what they imply on both trails. `handed_level` is the SAT
// solver's level when it had the literal (-1: not yet).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/core/literal.hpp"
#include "engine/core/propagator.hpp"

namespace ebb::core {

struct Reason {
  enum class Kind : std::uint8_t {
    kSat,    // the SAT solver said so; never asked for
    kLink,   // a stronger bound literal of the same variable: a = its number
    kEager,  // literals in the arena: a = offset, b = count
    kLazy,   // the propagator explains: rule, a, b are its own
  };
  Kind kind = Kind::kSat;
  std::uint16_t rule = 0;
  PropId propagator = PropId::kNone;
  std::int64_t a = 0;
  std::int32_t b = 0;
};

struct TrailEntry {
  Lit lit;
  std::int32_t handed_level = -1;
  bool moved_bound = false;  // the literal tightened a bound of its variable
  bool late = false;         // was already implied when its literal was made: see Engine::Relink
  Reason reason;
};

}  // namespace ebb::core
