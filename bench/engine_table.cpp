// SPDX-License-Identifier: Apache-2.0
// engine_table [rules|models|tree|refinement|steps|workers|open|size|stop]...: the tables of docs/engine.md, "What
// pays" (bench/engine writes them there). Counted work (ticks) and conflicts are the same on every machine; seconds are
// not and are only told where nothing else says it. Ends with 3 where rows are left out for want of their graphs.
#include "bench/engine_table.hpp"

#include <string_view>

int main(int argc, char** argv) {
  using namespace ebb::bench;
  const auto wanted = [&](std::string_view name) {
    for (int i = 1; i < argc; ++i)
      if (argv[i] == name) return true;
    return argc == 1;
  };
  if (wanted("rules")) Rules();
  if (wanted("models")) Models();
  if (wanted("tree")) Tree();
  if (wanted("refinement")) Refinement();
  if (wanted("steps")) Steps();
  if (wanted("workers")) Workers();
  if (wanted("open")) Open();
  if (wanted("size")) Size();
  if (wanted("stop")) Stop();
  for (const std::string& name : LeftOut())
    std::cerr << "engine_table: no graph called '" << name << "' under " << EBB_SHARED_DIR
              << ": its rows are left out\n";
  return LeftOut().empty() ? 0 : 3;
}
