// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cli/exit_codes.hpp"
#include "io/atomic_file.hpp"

namespace ebb::cli {
namespace {

bool IsStandardOutput(const std::string& path) { return path.empty() || path == "-"; }

void Print(const char* data, std::size_t size) {
  if (std::fwrite(data, 1, size, stdout) != size || std::fflush(stdout) != 0)
    throw CommandError(Exit::kInput, std::string("standard output: ") + std::strerror(errno));
}

}  // namespace

void WantWritable(const std::string& path) {
  if (IsStandardOutput(path)) return;
  try {
    const AtomicFile probe{std::filesystem::path(path)};
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

void WritePlanTo(ebb_plan* plan, const std::string& path) {
  if (!IsStandardOutput(path)) {
    Want(ebb_plan_write_file(plan, path.c_str()), plan);
    return;
  }
  const char* data = nullptr;
  std::size_t size = 0;
  Want(ebb_plan_write_memory(plan, &data, &size), plan);
  Print(data, size);
}

void WriteGraphTo(const Graph& graph, const std::string& path) {
  if (IsStandardOutput(path)) {
    WriteTextTo(GraphToJson(graph), path);
    return;
  }
  try {
    WriteGraph(graph, std::filesystem::path(path));
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

void WriteTextTo(const std::string& text, const std::string& path) {
  if (IsStandardOutput(path)) {
    Print(text.data(), text.size());
    return;
  }
  try {
    AtomicFile file{std::filesystem::path(path)};
    file.Write(text);
    file.Commit();
  } catch (const std::runtime_error& e) {
    throw CommandError(Exit::kInput, e.what());
  }
}

}  // namespace ebb::cli
