// SPDX-License-Identifier: Apache-2.0
//
// ebbtide options: the table of options for people; --markdown makes docs/options.md.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "cli/commands.hpp"
#include "cli/format.hpp"
#include "cli/handles.hpp"
#include "cli/output.hpp"

namespace ebb::cli {
namespace {

std::string Range(std::size_t row) {
  const std::string_view type = ebb_option_type(row);
  if (type == "switch") return "true, false";
  if (type == "choice") {
    std::string out;
    for (const char c : std::string_view(ebb_option_choices(row))) c == '|' ? out += ", " : out += c;
    return out;
  }
  if (type == "budget") return "";
  const std::string low = Fixed(ebb_option_low(row), 0);
  return ebb_option_high(row) > 9e18 ? "from " + low : low + " to " + Fixed(ebb_option_high(row), 0);
}

std::string Markdown() {
  std::string out =
      "# Options of a solve\n\n"
      "Generated from `engine/base/options.def` by `ebbtide options --markdown`; do not edit. Each is a flag of\n"
      "`ebbtide solve` (`--name VALUE`; switches: `--name`, `--no-name`) and an option of the API\n"
      "(`ebb_solver_set(solver, \"name\", \"value\")`).\n\n"
      "| name | type | default | range | meaning |\n|---|---|---|---|---|\n";
  const Handle<ebb_solver> defaults = Own(ebb_solver_new());
  for (std::size_t i = 0; i < ebb_num_options(); ++i) {
    const std::string value = ebb_solver_get(defaults.get(), ebb_option_name(i));
    out += std::string("| `") + ebb_option_name(i) + "` | " + ebb_option_type(i) + " | " +
           (value.empty() ? "not set" : value) + " | " + Range(i) + " | " + ebb_option_help(i) + " |\n";
  }
  return out;
}

std::string Plain() {
  std::string out;
  const auto column = [&](std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    out += text + ' ';
  };
  const Handle<ebb_solver> defaults = Own(ebb_solver_new());
  for (std::size_t i = 0; i < ebb_num_options(); ++i) {
    column(ebb_option_name(i), 16);
    column(ebb_option_type(i), 8);
    column(ebb_solver_get(defaults.get(), ebb_option_name(i)), 10);
    out += std::string(ebb_option_help(i)) + "\n";
  }
  return out;
}

}  // namespace

AddedCommand AddOptions(CLI::App& app) {
  auto markdown = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("options", "list the options of a solve");
  command->add_flag("--markdown", *markdown, "as docs/options.md");
  return {command, [markdown] {
            WriteTextTo(*markdown ? Markdown() : Plain(), "");
            return Exit::kOk;
          }};
}

}  // namespace ebb::cli
