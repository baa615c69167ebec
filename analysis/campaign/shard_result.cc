#include "analysis/campaign/shard_result.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

#include "analysis/campaign/file_name.h"
#include "base/text/printable.h"
#include "pageload/results/fields.h"
#include "pageload/results/result_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::string_view kShardSchema = "reprise-shard/1";
/// The first line stays short: progress reads those of all shards.
constexpr std::size_t kUrlBytesMax = 2'000;
constexpr std::size_t kWhyBytesMax = 300;

json::array failures_json(const ShardHeader& header) {
  json::array out;
  for (PageFailure each : header.failures) {
    if (out.size() == ShardHeader::kFailuresMax) break;
    each.url.resize(std::min(each.url.size(), kUrlBytesMax));
    each.why.resize(std::min(each.why.size(), kWhyBytesMax));
    auto failure = failure_json(each);
    failure["page"] = each.page;
    out.push_back(std::move(failure));
  }
  return out;
}

std::expected<json::object, std::string> object_in(std::string_view line) {
  boost::system::error_code malformed;
  auto parsed = json::parse(line, malformed);
  if (malformed) return std::unexpected("a line is not JSON: " + malformed.message());
  if (!parsed.is_object()) return std::unexpected("a line is not a JSON object");
  return std::move(parsed.get_object());
}

}  // namespace

std::string header_line(const ShardHeader& header) {
  json::object out{{"schema", kShardSchema},
                   {"plan", header.plan},
                   {"shard", header.shard},
                   {"node", as_utf8(header.node)},
                   {"seconds", header.seconds},
                   {"records", header.records},
                   {"loads", header.loads},
                   {"failed", header.failed},
                   {"finished_unix_ms", header.finished_unix_ms},
                   {"reprise", header.reprise}};
  if (!header.failures.empty()) out["failures"] = failures_json(header);
  return json::serialize(out) + "\n";
}

std::string record_lines(const ShardRecord& record) {
  json::object out{
      {"page", record.page}, {"first_run", record.first_run}, {"side", as_utf8(record.side)}};
  if (!record.advice.empty()) out["advice"] = record.advice;
  return json::serialize(out) + "\n" + json::serialize(to_json(record.result)) + "\n";
}

std::expected<ShardHeader, std::string> read_header(std::string_view line) {
  auto const object = object_in(line);
  if (!object) return std::unexpected(object.error());
  std::string error;
  Fields from(*object, "", error);
  if (from.text("schema") != kShardSchema) from.wrong("schema", "is not reprise-shard/1");
  ShardHeader header{.plan = from.text("plan"),
                     .shard = static_cast<std::size_t>(from.integer("shard")),
                     .node = from.text("node"),
                     .seconds = from.number("seconds").value_or(0),
                     .records = static_cast<std::size_t>(from.integer("records")),
                     .loads = static_cast<std::size_t>(from.integer("loads")),
                     .failed = static_cast<std::size_t>(from.integer("failed")),
                     .finished_unix_ms = from.number("finished_unix_ms").value_or(0),
                     .reprise = from.text("reprise")};
  from.each("failures", ShardHeader::kFailuresMax, [&](Fields each) {
    header.failures.push_back({.page = static_cast<std::size_t>(each.integer("page")),
                               .name = {},
                               .side = each.text("side"),
                               .url = each.text("url"),
                               .loads = static_cast<std::size_t>(each.integer("loads")),
                               .why = each.text("why")});
  });
  if (!is_file_name(header.node)) from.wrong("node", kFileNameRule);
  if (!error.empty()) return std::unexpected(error);
  return header;
}

std::expected<ShardRecords, std::string> ShardRecords::open(std::string_view text) {
  ShardRecords records;
  records.rest_ = text;
  auto const first = records.line();
  if (!first) return std::unexpected(first.error());
  auto header = read_header(*first);
  if (!header) return std::unexpected(header.error());
  records.header_ = std::move(*header);
  return records;
}

std::expected<std::string_view, std::string> ShardRecords::line() {
  auto const end = rest_.find('\n');
  if (end == std::string_view::npos) return std::unexpected("it ends in the middle");
  auto const line = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return line;
}

std::expected<ShardRecord, std::string> ShardRecords::next() {
  auto const about = line();
  auto const loads = line();
  if (!about || !loads) return std::unexpected("it ends in the middle");
  auto object = object_in(*about);
  if (!object) return std::unexpected(object.error());
  std::string error;
  Fields from(*object, "", error);
  ShardRecord record{.page = static_cast<std::size_t>(from.integer("page")),
                     .first_run = static_cast<unsigned>(from.integer("first_run", 1)),
                     .side = from.text("side"),
                     .advice = from.into("advice").object(),
                     .result = {}};
  if (!error.empty()) return std::unexpected(error);
  auto result = read_result(*loads);
  if (!result) return std::unexpected(result.error());
  record.result = std::move(*result);
  ++read_;
  return record;
}

}  // namespace reprise
