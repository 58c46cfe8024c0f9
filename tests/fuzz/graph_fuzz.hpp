// SPDX-License-Identifier: Apache-2.0
// What every graph reader owes any bytes whatever: a graph that survives being written and read again, or an InputError
// of one line that starts with the file's name. Anything else (another exception, a crash, a sanitizer's report, a lot
// of time or memory) is a fault.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/base/status.hpp"
#include "engine/problem/fingerprint.hpp"
#include "io/read_graph.hpp"
#include "io/write_graph.hpp"

namespace ebb::fuzz {

[[noreturn]] inline void Fault(const char* what, const std::string& detail) {
  std::fprintf(stderr, "%s: %s\n", what, detail.c_str());
  std::abort();
}

inline void CheckMessage(const std::string& message, const std::string& name) {
  if (message.rfind(name + ":", 0) != 0) Fault("a message that does not start with the file's name", message);
  if (message.find('\n') != std::string::npos) Fault("a message of several lines", message);
  if (message.size() > 2000) Fault("a very long message", message);
}

// `read` reads a graph from something called "input".
template <class Read>
void CheckRead(const Read& read) {
  try {
    const ReadGraphResult r = read();
    for (const std::string& w : r.warnings) CheckMessage(w, "input");
    const std::string text = GraphToJson(r.graph);
    const Graph again = ReadGraph(text, "again").graph;
    if (GraphToJson(again) != text) Fault("another graph after writing and reading", text);
    if (Fingerprint(again) != Fingerprint(r.graph)) Fault("another fingerprint after writing and reading", text);
  } catch (const InputError& e) {
    CheckMessage(e.what(), "input");
  }
}

// `format` empty: told by content.
inline void ReadOnce(const std::uint8_t* data, std::size_t size, const char* format) {
  ReadOptions options;
  options.format = format;
  options.max_bytes = 1 << 22;
  CheckRead([&] { return ReadGraph(std::string_view(reinterpret_cast<const char*>(data), size), "input", options); });
}

}  // namespace ebb::fuzz
