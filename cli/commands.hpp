// SPDX-License-Identifier: Apache-2.0
//
// The subcommands. Each adds itself to the app; its work is done when the returned function is called after parsing.
// What they throw: CommandError, CLI::Error, std::bad_alloc.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "cli/exit_codes.hpp"

namespace ebb::cli {

using Command = std::function<Exit()>;

struct AddedCommand {
  CLI::App* app;
  Command run;
};

[[nodiscard]] AddedCommand AddSolve(CLI::App& app);
[[nodiscard]] AddedCommand AddCheck(CLI::App& app);
[[nodiscard]] AddedCommand AddConvert(CLI::App& app);
[[nodiscard]] AddedCommand AddExport(CLI::App& app);
[[nodiscard]] AddedCommand AddGen(CLI::App& app);
[[nodiscard]] AddedCommand AddInfo(CLI::App& app);
[[nodiscard]] AddedCommand AddOptions(CLI::App& app);
[[nodiscard]] AddedCommand AddSweep(CLI::App& app);

}  // namespace ebb::cli
