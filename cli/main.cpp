// SPDX-License-Identifier: Apache-2.0
//
// ebbtide: the command. Plans and reports go to standard output or to files, everything else to standard error; an
// error is one line that names the culprit.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include <ebbtide/ebbtide.h>

namespace ebb::cli {
namespace {

// One line, whatever the text holds.
int Fail(Exit code, std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  std::fprintf(stderr, "ebbtide: error: %s\n", text.c_str());
  return static_cast<int>(code);
}

// Where to read on: the help of the command that was parsed.
std::string See(const CLI::App& app) {
  std::string command = "ebbtide";
  for (const CLI::App* at = &app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    command += " " + at->get_name();
  }
  return " (see " + command + " --help)";
}

int Main(int argc, char** argv) {
  CLI::App app{"Minimum-duration rematerialization under a memory budget"};
  app.name("ebbtide");
  app.set_version_flag("--version", std::string("ebbtide ") + ebb_version() + " (" + ebb_engine_version() + ")");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done (solve: a plan was written), 2 usage, 3 bad input, 4 proved infeasible,\n"
      "5 no plan within the limits, 1 internal error. `ebbtide COMMAND --help` tells more.");
  const std::vector<AddedCommand> commands = {AddSolve(app), AddCheck(app), AddConvert(app), AddExport(app),
                                              AddGen(app),   AddInfo(app),  AddOptions(app), AddSweep(app)};
  // CLI11 would only say that a subcommand is missing.
  const auto named = [&](const AddedCommand& command) { return command.app->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), named))
    return Fail(Exit::kUsage, std::string("unknown command '") + argv[1] + "' (see ebbtide --help)");
  try {
    app.parse(argc, argv);
    for (const AddedCommand& command : commands)
      if (command.app->parsed()) return static_cast<int>(command.run());
  } catch (const CLI::Success& e) {
    return app.exit(e);  // help and version
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> extra = app.remaining(true);
    return Fail(Exit::kUsage, "'" + (extra.empty() ? std::string() : extra.front()) + "' is not understood" + See(app));
  } catch (const CLI::RequiredError& e) {
    return Fail(Exit::kUsage, (argc < 2 ? "no command given" : e.what()) + See(app));
  } catch (const CLI::Error& e) {
    return Fail(Exit::kUsage, e.what());
  } catch (const CommandError& e) {
    return Fail(e.code, e.what());
  } catch (const std::bad_alloc&) {
    return Fail(Exit::kInternal, "out of memory");
  } catch (const std::system_error& e) {
    const bool thread = e.code() == std::errc::resource_unavailable_try_again;
    return Fail(Exit::kInternal,
                (thread ? "no thread could be started (out of memory, or a limit on processes): " : "") +
                    std::string(e.what()));
  } catch (const std::exception& e) {
    return Fail(Exit::kInternal, e.what());
  }
  return Fail(Exit::kUsage, "no command given");
}

}  // namespace
}  // namespace ebb::cli

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of the write, not the end of the process
  return ebb::cli::Main(argc, argv);
}
