// SPDX-License-Identifier: Apache-2.0
#include "io/read_graph.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/base/status.hpp"
#include "io/graph_readers.hpp"

namespace ebb {
namespace {

enum class Format { kNative, kNodeLink, kDtr, kHlo, kTorch };

Format FormatNamed(const std::string& name) {
  const std::vector<std::string>& all = GraphFormats();
  const auto it = std::find(all.begin(), all.end(), name);
  if (it == all.end()) {
    std::string list;
    for (const std::string& f : all) list += (list.empty() ? "" : ", ") + f;
    throw InputError("unknown graph format " + Quoted(name) + " (known: " + list + ")");
  }
  return static_cast<Format>(it - all.begin());
}

// Gives a piece back to the stream it was taken from.
class WithHead final : public ByteSource {
 public:
  WithHead(ByteSource& rest, std::string_view head) : rest_(rest), head_(head) {}
  std::string_view Next() override {
    if (!given_) {
      given_ = true;
      if (!head_.empty()) return head_;
    }
    return rest_.Next();
  }

 private:
  ByteSource& rest_;
  std::string_view head_;
  bool given_ = false;
};

// Finds out from the top-level keys which JSON format this is, and hands everything to its reader.
class JsonDispatcher final : public JsonSink {
 public:
  JsonDispatcher(Warnings& warnings, bool by_content, Format format) : warnings_(warnings), format_(format) {
    if (by_content) return;
    for (const auto& [name, json] : kJsonFormats)
      if (name == format) reader_ = json->make(warnings_);
  }

  void OnMember(std::string_view key, JsonView value) override {
    if (JsonGraphReader* reader = ReaderFor(key)) {
      reader->OnMember(key, value);
    } else if (key == "name" && value.is(JsonKind::kString)) {
      if (has_early_name_) throw InputError("the key \"name\" comes twice");
      early_name_ = value.text();
      has_early_name_ = true;
    } else {
      warnings_.UnknownKey(key, "the graph");
    }
  }
  void OnArray(std::string_view key) override {
    if (JsonGraphReader* reader = ReaderFor(key))
      reader->OnArray(key);
    else
      warnings_.UnknownKey(key, "the graph");
  }
  void OnElement(std::string_view key, JsonView value) override {
    if (reader_ != nullptr) reader_->OnElement(key, value);
  }
  Graph Finish() {
    if (reader_ == nullptr)
      throw InputError("no graph in it: neither \"ops\" and \"tensors\" nor \"nodes\" and \"links\"");
    return reader_->Finish();
  }
  [[nodiscard]] Format format() const { return format_; }

 private:
  // Where several formats know a key, the first one counts.
  static constexpr std::array<std::pair<Format, const JsonGraphFormat*>, 3> kJsonFormats = {
      {{Format::kNative, &kNativeFormat}, {Format::kNodeLink, &kNodeLinkFormat}, {Format::kTorch, &kTorchFormat}}};

  JsonGraphReader* ReaderFor(std::string_view key) {
    if (reader_ != nullptr || key == "name") return reader_.get();  // several formats have a name
    for (const auto& [name, json] : kJsonFormats) {
      if (KeyedSink::Find(json->keys, key) < 0) continue;
      format_ = name;
      reader_ = json->make(warnings_);
      if (has_early_name_) {
        JsonTape tape;
        tape.AddString(early_name_);
        reader_->OnMember("name", JsonView(tape, 0));
      }
      break;
    }
    return reader_.get();
  }

  Warnings& warnings_;
  Format format_;
  std::unique_ptr<JsonGraphReader> reader_;
  std::string early_name_;
  bool has_early_name_ = false;
};

std::string_view SkipSpace(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? std::string_view{} : text.substr(at);
}

std::string Hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes.substr(0, 4)) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += ' ';
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

// By the first bytes: JSON is kNative here, the dispatcher looks closer.
Format Sniff(std::string_view head, const std::string& name) {
  const std::string_view text = SkipSpace(head);
  if (text.empty()) {
    if (head.size() >= 65536) throw InputError(name + ": no graph: the first 64 KiB are blank");
    throw InputError(name + ": the file is empty");
  }
  if (text.front() == '{') {
    const std::string_view line = text.substr(0, text.find('\n'));
    return line.find("\"INSTRUCTION\"") != std::string_view::npos ? Format::kDtr : Format::kNative;
  }
  // A module may have comments in front of it.
  const std::size_t module = text.find("HloModule");
  if (module == 0 || (text.substr(0, 2) == "//" && module != std::string_view::npos)) return Format::kHlo;
  if (text.front() == '[') return Format::kNative;  // the parser says what it thinks of a lone array
  throw InputError(
      name + ": no graph format that is known (JSON, DTR operation log, HLO text); it starts with the bytes" +
      Hex(text) + (text.front() == '\x08' ? "; as ONNX models do, which builds with EBB_WITH_ONNX read" : ""));
}

ReadGraphResult Read(ByteSource& source, const std::string& name, const ReadOptions& options) {
  const bool by_content = options.format.empty();
  Format format = by_content ? Format::kNative : FormatNamed(options.format);
  std::string head;
  while (head.size() < 65536) {
    const std::string_view piece = source.Next();
    if (piece.empty()) break;
    head.append(piece);
  }
  if (by_content)
    format = Sniff(head, name);
  else if (head.empty())
    throw InputError(name + ": the file is empty");
  WithHead stream(source, head);
  Warnings warnings(name + ": ");
  const auto done = [&](Graph graph, Format as) {
    return ReadGraphResult{std::move(graph), warnings.Take(), GraphFormats()[static_cast<std::size_t>(as)]};
  };
  if (format == Format::kDtr) return done(ReadDtrLog(stream, name, warnings), format);
  if (format == Format::kHlo) return done(ReadHlo(stream, name, options.costs, warnings), format);
  JsonDispatcher dispatcher(warnings, by_content, format);
  ParseJsonStream(stream, name, dispatcher);
  try {
    return done(dispatcher.Finish(), dispatcher.format());
  } catch (const InputError& e) {
    throw InputError(name + ": " + e.what());
  }
}

}  // namespace

const std::vector<std::string>& GraphFormats() {
  static const std::vector<std::string> names = {"native", "node-link", "dtr", "hlo", "torch"};
  return names;
}

ReadGraphResult ReadGraph(const std::filesystem::path& path, const ReadOptions& options) {
  const std::unique_ptr<ByteSource> source = OpenFile(path, options.max_bytes);
  return Read(*source, path.string(), options);
}

ReadGraphResult ReadGraph(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes, name, options.max_bytes);
  return Read(*source, name, options);
}

}  // namespace ebb
