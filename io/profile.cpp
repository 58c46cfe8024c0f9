// SPDX-License-Identifier: Apache-2.0
#include "io/profile.hpp"

#include "engine/base/status.hpp"
#include "io/json_stream.hpp"

namespace ebb {
namespace {

class ProfileSink final : public JsonSink {
 public:
  explicit ProfileSink(boost::unordered_flat_map<std::string, std::int64_t>& times) : times_(times) {}
  void OnMember(std::string_view key, JsonView value) override {
    if (!key.empty() && key.front() == '%') key.remove_prefix(1);
    const std::int64_t time = WholeNumber(value, {"the time of op", key});
    if (time < 0) throw InputError("the time of op " + Quoted(key) + " is " + std::to_string(time) + ", negative");
    if (!times_.emplace(key, time).second) throw InputError("op " + Quoted(key) + " has two times");
  }
  void OnArray(std::string_view key) override {
    throw InputError("the time of op " + Quoted(key) + " is an array, a whole number is wanted");
  }
  void OnElement(std::string_view, JsonView) override {}

 private:
  boost::unordered_flat_map<std::string, std::int64_t>& times_;
};

}  // namespace

Profile Profile::Read(const std::filesystem::path& path) {
  if (path.empty()) return {};
  const std::unique_ptr<ByteSource> source = OpenFile(path);
  return Read(*source, path.string());
}

Profile Profile::Read(ByteSource& source, const std::string& name) {
  Profile profile;
  ProfileSink sink(profile.times_);
  ParseJsonStream(source, name, sink);
  return profile;
}

std::optional<std::int64_t> Profile::Of(std::string_view op) {
  const auto it = times_.find(std::string(op));
  if (it == times_.end()) return std::nullopt;
  ++used_;
  return it->second;
}

void Profile::WarnOfUnused(Warnings& warnings) const {
  if (used_ < times_.size())
    warnings.Say(std::to_string(times_.size() - used_) + " names in the profile are no ops of the graph");
}

}  // namespace ebb
