#include "analysis/trench/trench_fields.h"

#include <zlib.h>

#include <algorithm>
#include <map>

#include "analysis/trench/trench_json.h"
#include "base/http/trace_lines.h"
#include "base/text/base64.h"
#include "base/text/counted.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

std::uint32_t crc32_of(std::string_view text) {
  auto const* const bytes = reinterpret_cast<const Bytef*>(text.data());
  return static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes, text.size()));
}

class Collector {
 public:
  bool add(HeaderList fields) {
    for (const HeaderView& field : fields) {
      if (!equals_ignoring_case(field.name, kTrenchField)) continue;
      for (auto rest = field.value; !rest.empty();) {
        if (!add_line(take_trace_line(rest))) return false;
      }
    }
    return true;
  }

  std::expected<TrenchFields, std::string> finish() {
    TrenchFields fields{.url = std::string(url_), .trace = std::nullopt};
    if (counts_.empty() && parts_.empty()) return fields;
    auto json = joined_json();
    if (!error_.empty()) return std::unexpected(std::move(error_));
    auto trace = read_trench_json(json);
    if (!trace) return std::unexpected("its JSON: " + trace.error());
    fields.trace = std::move(*trace);
    return fields;
  }

  std::string take_error() { return std::move(error_); }

 private:
  bool fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  bool add_line(std::string_view line) {
    if (starts_with_ignoring_case(line, kTraceUrl)) {
      auto const url = line.substr(kTraceUrl.size());
      if (!url_.empty() && url_ != url) return fail("it has two different URLs");
      url_ = url;
      return true;
    }
    auto const equals = line.find('=');
    auto const number = trace_number(line.substr(0, equals));
    if (!number || equals == std::string_view::npos) return add_counts(line);
    auto const part = line.substr(equals + 1);
    auto const [place, is_new] = parts_.emplace(*number, part);
    if (is_new || place->second == part) return true;
    return fail("line " + std::to_string(*number) + " comes twice, with different text");
  }

  bool add_counts(std::string_view line) {
    while (!line.empty()) {
      auto const semicolon = std::min(line.find(';'), line.size());
      auto const pair = trim_blanks(line.substr(0, semicolon));
      line.remove_prefix(std::min(semicolon + 1, line.size()));
      auto const equals = std::min(pair.find('='), pair.size());
      auto const name = std::ranges::find_if(kTraceCounts, [&](std::string_view count) {
        return equals_ignoring_case(count, pair.substr(0, equals));
      });
      if (name == kTraceCounts.end()) return fail("a line is not a URL, a count or a part");
      auto const number = trace_number(pair.substr(std::min(equals + 1, pair.size())));
      if (!number) return fail(std::string(*name) + " must be a number");
      auto const [place, is_new] = counts_.emplace(*name, *number);
      if (!is_new && place->second != *number) {
        return fail(std::string(*name) + " comes twice, with different numbers");
      }
    }
    return true;
  }

  /// Empty, with an error, if something about it is wrong.
  std::string joined_json() {
    for (auto const name : kTraceCounts) {
      if (!counts_.contains(name)) return refuse(std::string(name) + " is missing");
    }
    auto const lines = counts_["base64lines"];
    auto const announced = " of " + std::to_string(lines);
    if (!parts_.empty() && parts_.rbegin()->first >= lines) {
      return refuse("line " + std::to_string(parts_.rbegin()->first) + " is beyond the last" +
                    announced);
    }
    std::string joined;
    std::uint64_t next = 0;
    for (auto const& [number, part] : parts_) {
      if (number != next) break;
      joined += part;
      ++next;
    }
    if (next < lines) return refuse("line " + std::to_string(next) + announced + " is missing");
    if (joined.size() != counts_["base64bytes"]) {
      return refuse("base64bytes is " + std::to_string(counts_["base64bytes"]) +
                    ", but the lines have " + counted(joined.size(), "character"));
    }
    auto json = decode_base64(joined);
    if (!json) return refuse("its lines are not base64");
    if (json->size() != counts_["jsonbytes"]) {
      return refuse("jsonbytes is " + std::to_string(counts_["jsonbytes"]) +
                    ", but the lines hold " + counted(json->size(), "byte"));
    }
    auto const crc = crc32_of(*json);
    if (crc != counts_["jsoncrc32"]) {
      return refuse("jsoncrc32 is " + std::to_string(counts_["jsoncrc32"]) +
                    ", but the CRC-32 of the JSON is " + std::to_string(crc));
    }
    return *std::move(json);
  }

  std::string refuse(std::string why) {
    error_ = std::move(why);
    return {};
  }

  std::string_view url_;
  std::map<std::string_view, std::uint64_t> counts_;
  std::map<std::uint64_t, std::string_view> parts_;
  std::string error_;
};

}  // namespace

std::expected<TrenchFields, std::string> read_trench_fields(HeaderList head, HeaderList trailers) {
  Collector collector;
  if (!collector.add(head) || !collector.add(trailers)) {
    return std::unexpected(collector.take_error());
  }
  return collector.finish();
}

}  // namespace reprise
