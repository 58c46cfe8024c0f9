// SPDX-License-Identifier: Apache-2.0
#include "cli/solver_flags.hpp"

#include <algorithm>
#include <cstring>

#include "cli/exit_codes.hpp"
#include "cli/handles.hpp"

namespace ebb::cli {
namespace {

const char* TypeName(std::size_t row) {
  const std::string_view type = ebb_option_type(row);
  return type == "integer" ? "INT" : type == "real" ? "NUMBER" : type == "budget" ? "BYTES" : "NAME";
}

}  // namespace

void SolverFlags::AddTo(CLI::App& app, const std::vector<std::string_view>& without) {
  const Handle<ebb_solver> defaults = Own(ebb_solver_new());
  for (std::size_t i = 0; i < ebb_num_options(); ++i) {
    const char* name = ebb_option_name(i);
    if (std::find(without.begin(), without.end(), name) != without.end()) continue;
    Flag& flag = flags_.emplace_back(Flag{name, {}, nullptr});
    std::string help = ebb_option_help(i);
    const std::string dashed = std::string("--") + name;
    if (std::strcmp(ebb_option_type(i), "switch") == 0) {
      flag.option = app.add_flag(dashed + ",!--no-" + name, flag.value, help)->group("Techniques (all on)");
    } else {
      if (*ebb_option_choices(i) != '\0') help = std::string(ebb_option_choices(i)) + ": " + help;
      if (const std::string value = ebb_solver_get(defaults.get(), name); !value.empty())
        help += " (default: " + value + ")";
      flag.option = app.add_option(dashed, flag.value, help)->type_name(TypeName(i));
    }
  }
}

void SolverFlags::Apply(ebb_solver* solver) const {
  for (const Flag& flag : flags_) {
    if (flag.option->count() == 0) continue;
    if (ebb_solver_set(solver, flag.name, flag.value.c_str()) != EBB_OK)
      throw CommandError(Exit::kUsage, std::string("--") + ebb_solver_error(solver));
  }
}

bool SolverFlags::Given(std::string_view name) const {
  return std::any_of(flags_.begin(), flags_.end(),
                     [&](const Flag& f) { return f.name == name && f.option->count() > 0; });
}

std::string SolverFlags::Value(std::string_view name) const {
  for (const Flag& flag : flags_)
    if (flag.name == name && flag.option->count() > 0) return flag.value;
  return {};
}

}  // namespace ebb::cli
