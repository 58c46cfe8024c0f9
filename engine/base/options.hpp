// SPDX-License-Identifier: Apache-2.0
//
// Options of a solve, generated from options.def (the idea is CaDiCaL's: one sorted table, everything else follows).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/budget_spec.hpp"
#include "engine/base/status.hpp"

namespace ebb {

// An option's name or value that is not what it must be: a mistake in the call, not in a file.
class OptionError : public InputError {
 public:
  using InputError::InputError;
};

// What searches. kAuto: everything that is switched on; otherwise one technique alone. From kKeep on: the methods of
// the literature (portfolio/worker_classic.cpp), each by itself, with no bound and no search.
enum class Method {
  kAuto = 0,
  kAnneal,
  kExact,
  kRelax,
  kKeep,
  kChen,
  kRevolve,
  kKusumoto,
  kKusumotoApprox,
  kRotor,
  kEvict,
  kDtr,
  kDtrClass,
  kDtrLocal,
  kDtrLru,
  kDtrLargest,
  kDtrMsps,
  kOrderDfs,
  kOrderBfs,
  kOrderGreedy,
  kOrderBeam,
  kOrderRandom
};

enum class Minimise { kDuration = 0, kPeak };

enum class OptionType { kSwitch, kInteger, kReal, kChoice, kBudget };

// One row of the table.
struct OptionInfo {
  std::string_view name;  // with dashes
  OptionType type;
  double default_value;  // kChoice: the index; a value outside [lo, hi]: not set
  double lo, hi;
  std::string_view choices;  // kChoice: "a|b|c"
  std::string_view help;
};

struct Options {
  // clang-format off
#define EBB_SWITCH(member, def, help) bool member = def;
#define EBB_INTEGER(member, def, lo, hi, help) std::int64_t member = def;
#define EBB_REAL(member, def, lo, hi, help) double member = def;
#define EBB_CHOICE(member, type, def, choices, help) type member = type::def;
#define EBB_BUDGET(member, help) BudgetSpec member;
#include "engine/base/options.def"
#undef EBB_SWITCH
#undef EBB_INTEGER
#undef EBB_REAL
#undef EBB_CHOICE
#undef EBB_BUDGET
  // clang-format on

  // Sets an option by its name from text. Throws OptionError that names the option and what it expects.
  void Set(std::string_view name, std::string_view value);
  // The value as text that Set takes; empty where not set. Throws OptionError on an unknown name.
  [[nodiscard]] std::string Get(std::string_view name) const;
  // Was it set by Set (whatever the value)?
  [[nodiscard]] bool WasSet(std::string_view name) const;

 private:
  std::uint64_t was_set_ = 0;  // by row of the table
};

// The table, sorted by name.
[[nodiscard]] std::span<const OptionInfo> OptionTable();
[[nodiscard]] std::string_view ToString(OptionType type);

}  // namespace ebb
