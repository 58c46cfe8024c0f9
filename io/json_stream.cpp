// SPDX-License-Identifier: Apache-2.0
#include "io/json_stream.hpp"

#include <cstring>
#include <limits>
#include <vector>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>  // header-only: no package beyond Boost's headers

#include "engine/base/status.hpp"

namespace ebb {
namespace {

using boost::json::error_code;

// Follows the position in a text that arrives in pieces; counts lines only as far as it is asked to.
class Cursor {
 public:
  void NextPiece(std::string_view piece) {
    Advance(end_);
    line_start_ -= end_ - begin_;
    begin_ = at_ = piece.data();
    end_ = piece.data() + piece.size();
  }
  [[nodiscard]] bool Holds(const char* p) const { return p >= begin_ && p <= end_; }
  // Positions only grow: for a p before an earlier one, that one's.
  [[nodiscard]] TextPosition At(const char* p) {
    Advance(p);
    if (p < at_) p = at_;
    return {line_, (p - begin_) - line_start_ + 1};
  }

 private:
  void Advance(const char* p) {
    while (at_ < p) {
      const void* found = std::memchr(at_, '\n', static_cast<std::size_t>(p - at_));
      if (found == nullptr) {
        at_ = p;
        return;
      }
      at_ = static_cast<const char*>(found) + 1;
      ++line_;
      line_start_ = at_ - begin_;
    }
  }
  const char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  std::int64_t line_ = 1;
  std::int64_t line_start_ = 0;  // offset from begin_; negative when the line began in an earlier piece
};

// The parser's events. depth_ counts open arrays and objects outside of the record.
struct Handler {
  static constexpr std::size_t max_object_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_array_size = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t max_key_size = std::size_t{1} << 30;
  static constexpr std::size_t max_string_size = std::size_t{1} << 30;

  JsonTape tape;
  std::vector<std::uint32_t> open;  // nodes of the record that are not closed yet
  std::string part;                 // a string that arrives in pieces
  std::string key;                  // the top-level member we are in
  Cursor cursor;
  TextPosition record;  // where the current record starts
  bool record_placed = false;
  JsonSink* sink = nullptr;  // none: the whole document is the record
  std::size_t record_bytes = std::numeric_limits<std::size_t>::max();
  int depth = 0;  // 0 outside, 1 in the top object, 2 in an array that is a member of it

  void Place(const char* p) {
    if (record_placed || !cursor.Holds(p)) return;
    record = cursor.At(p);
    record_placed = true;
  }
  // A value of the record is complete; at the outermost level so is the record.
  bool Close() {
    if (tape.Bytes() + part.size() > record_bytes)
      throw InputError("one value takes more than " + std::to_string(record_bytes) + " bytes of memory");
    if (!open.empty() || sink == nullptr) return true;
    if (depth == 0) throw InputError("the file holds a lone JSON value, an object with a graph or a plan is wanted");
    const JsonView value(tape, 0);
    if (depth == 2)
      sink->OnElement(key, value);
    else
      sink->OnMember(key, value);
    tape.Clear();
    record_placed = false;
    return true;
  }
  bool Streaming() const { return sink != nullptr && open.empty(); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    if (Streaming() && depth == 0) {
      depth = 1;
      return true;
    }
    open.push_back(tape.Begin(JsonKind::kObject));
    return true;
  }
  bool on_array_begin(error_code&) {
    if (Streaming() && depth == 0)
      throw InputError("the file holds a JSON array, an object with a graph or a plan is wanted");
    if (Streaming() && depth == 1) {
      depth = 2;
      sink->OnArray(key);
      record_placed = false;
      return true;
    }
    open.push_back(tape.Begin(JsonKind::kArray));
    return true;
  }
  bool on_object_end(std::size_t n, error_code&) { return End(n); }
  bool on_array_end(std::size_t n, error_code&) { return End(n); }
  bool End(std::size_t n) {
    if (open.empty()) {
      --depth;
      record_placed = false;
      return true;
    }
    tape.End(open.back(), n);
    open.pop_back();
    return Close();
  }
  bool Part(boost::json::string_view s) {
    Place(s.data());
    part.append(s.data(), s.size());
    if (part.size() > record_bytes)
      throw InputError("a string is longer than " + std::to_string(record_bytes) + " bytes");
    return true;
  }
  bool on_key_part(boost::json::string_view s, std::size_t, error_code&) { return Part(s); }
  bool on_string_part(boost::json::string_view s, std::size_t, error_code&) { return Part(s); }
  bool on_key(boost::json::string_view s, std::size_t, error_code&) {
    Place(s.data());
    part.append(s.data(), s.size());
    if (Streaming() && depth == 1)
      key = part;
    else
      tape.AddString(part);
    part.clear();
    return true;
  }
  bool on_string(boost::json::string_view s, std::size_t, error_code&) {
    Place(s.data());
    if (part.empty()) {
      tape.AddString({s.data(), s.size()});
    } else {
      part.append(s.data(), s.size());
      tape.AddString(part);
      part.clear();
    }
    return Close();
  }
  bool on_number_part(boost::json::string_view s, error_code&) {
    Place(s.data());
    return true;
  }
  bool on_int64(std::int64_t i, boost::json::string_view s, error_code&) {
    Place(s.data());
    tape.Add(JsonKind::kInteger, i);
    return Close();
  }
  bool on_uint64(std::uint64_t u, boost::json::string_view s, error_code& ec) {
    return on_double(static_cast<double>(u), s, ec);  // past 2^63-1: refused wherever an integer is wanted
  }
  bool on_double(double d, boost::json::string_view s, error_code&) {
    Place(s.data());
    tape.Add(JsonKind::kReal, 0, d);
    return Close();
  }
  bool on_bool(bool b, error_code&) {
    tape.Add(JsonKind::kBool, b ? 1 : 0);
    return Close();
  }
  bool on_null(error_code&) {
    tape.Add(JsonKind::kNull, 0);
    return Close();
  }
  bool on_comment_part(boost::json::string_view, error_code&) { return true; }
  bool on_comment(boost::json::string_view, error_code&) { return true; }
};

std::string Describe(const error_code& ec) {
  if (ec == boost::json::error::incomplete) return "the JSON text ends too early";
  if (ec == boost::json::error::too_deep) return "the JSON is nested too deeply";
  return "not JSON: " + ec.message();
}

boost::json::parse_options Options(std::size_t depth) {
  boost::json::parse_options options;
  options.max_depth = depth;
  return options;
}

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

void ParseJsonStream(ByteSource& source, const std::string& name, JsonSink& sink, const JsonLimits& limits) {
  boost::json::basic_parser<Handler> parser(Options(limits.depth));
  Handler& handler = parser.handler();
  handler.sink = &sink;
  handler.record_bytes = limits.record_bytes;
  const auto fail = [&](TextPosition at, const std::string& what) {
    throw InputError(name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what);
  };

  bool first = true, done = false;
  for (;;) {
    std::string_view piece = source.Next();
    const bool last = piece.empty();
    if (first && piece.substr(0, 3) == "\xef\xbb\xbf") piece.remove_prefix(3);  // byte order mark
    first = false;
    if (!last && piece.empty()) continue;
    handler.cursor.NextPiece(piece);
    const char* at = piece.data();
    if (!done) {
      error_code ec;
      std::size_t used = 0;
      try {
        used = parser.write_some(!last, piece.data(), piece.size(), ec);
      } catch (const InputError& e) {
        if (!handler.record_placed) handler.record = handler.cursor.At(at);
        fail(handler.record, e.what());
      }
      at += used;
      if (ec) fail(handler.cursor.At(at), Describe(ec));
      done = parser.done();
    }
    for (const char* end = piece.data() + piece.size(); at != end; ++at)
      if (!IsSpace(*at)) fail(handler.cursor.At(at), "something follows the end of the JSON value");
    if (last) return;
  }
}

struct JsonLineParser::Impl {
  boost::json::basic_parser<Handler> parser{Options(64)};
};
JsonLineParser::JsonLineParser() : impl_(std::make_unique<Impl>()) {}
JsonLineParser::~JsonLineParser() = default;

JsonView JsonLineParser::Parse(std::string_view text) {
  Handler& handler = impl_->parser.handler();
  handler.tape.Clear();
  handler.open.clear();
  handler.part.clear();
  impl_->parser.reset();
  error_code ec;
  std::size_t used = impl_->parser.write_some(false, text.data(), text.size(), ec);
  while (!ec && used < text.size() && IsSpace(text[used])) ++used;
  if (!ec && used < text.size())
    throw InputError(std::to_string(used + 1) + ": something follows the end of the JSON value");
  if (ec) throw InputError(std::to_string(used + 1) + ": " + Describe(ec));
  return {handler.tape, 0};
}

}  // namespace ebb
