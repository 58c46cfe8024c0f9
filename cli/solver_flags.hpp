// SPDX-License-Identifier: Apache-2.0
//
// The API's table of options as command line flags: `--name VALUE`, and `--name` / `--no-name` for switches.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include <ebbtide/ebbtide.h>

namespace ebb::cli {

class SolverFlags {
 public:
  // All options but those named in `without`. This object must outlive the app.
  void AddTo(CLI::App& app, const std::vector<std::string_view>& without = {});
  // Sets what was given on the command line. Throws CommandError that names the flag.
  void Apply(ebb_solver* solver) const;
  [[nodiscard]] bool Given(std::string_view name) const;
  [[nodiscard]] std::string Value(std::string_view name) const;  // as written; empty where not given

 private:
  struct Flag {
    const char* name;
    std::string value;
    CLI::Option* option;
  };
  std::deque<Flag> flags_;  // CLI11 keeps addresses of the values
};

}  // namespace ebb::cli
