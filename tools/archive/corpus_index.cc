#include "tools/archive/corpus_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <map>
#include <utility>

#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/json_fields.h"
#include "base/text/printable.h"

namespace reprise {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

constexpr std::uintmax_t kIndexBytesMax = std::uintmax_t{4} << 30;
constexpr std::size_t kColumns = 15;

SessionTime begin_time(const Timings& timings) {
  for (auto const time : {timings.queued, timings.request_sent, timings.first_byte, timings.end}) {
    if (time != kNoTime) return time;
  }
  return kNoTime;
}

json::array row_of(const ListedExchange& listed) {
  const Exchange& exchange = listed.exchange;
  auto const begin = begin_time(exchange.timings);
  return {listed.number,
          exchange.session,
          exchange.sequence,
          as_utf8(exchange.request.method),
          static_cast<int>(exchange.request.scheme),
          as_utf8(exchange.request.host),
          exchange.request.port,
          as_utf8(exchange.request.target),
          static_cast<int>(exchange.request.version),
          exchange.response.status,
          static_cast<int>(exchange.response.version),
          exchange.response.body.size_bytes,
          static_cast<int>(exchange.outcome),
          begin == kNoTime ? json::value() : json::value(begin.count()),
          listed.web_socket ? json::value(listed.messages) : json::value(as_utf8(listed.kind))};
}

/// With all of its digits; 0 if it is missing.
std::int64_t exact_integer(const json::object& object, std::string_view name) {
  auto const* const value = object.if_contains(name);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

/// The numbers of a row; text that is not a number, or is too large, makes the whole row malformed.
class RowNumbers {
 public:
  explicit RowNumbers(const json::array& row) : row_(row) {}
  template <class Number>
  void take(std::size_t at, Number& into, std::uint64_t most) {
    boost::system::error_code wrong;
    auto const number = row_[at].to_number<std::uint64_t>(wrong);
    good_ = good_ && !wrong && number <= most;
    into = static_cast<Number>(good_ ? number : 0);
  }
  bool good() const { return good_; }

 private:
  const json::array& row_;
  bool good_ = true;
};

/// False for a row that this program would not write.
bool read_row(const json::value& value, ListedExchange& listed) {
  if (!value.is_array() || value.get_array().size() != kColumns) return false;
  auto const& row = value.get_array();
  if (!row[3].is_string() || !row[5].is_string() || !row[7].is_string()) return false;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  Exchange& exchange = listed.exchange;
  RowNumbers numbers(row);
  numbers.take(0, listed.number, kMost);
  numbers.take(1, exchange.session, 0xffffffff);
  numbers.take(2, exchange.sequence, kMost);
  numbers.take(4, exchange.request.scheme, static_cast<std::uint64_t>(Scheme::kHttps));
  numbers.take(6, exchange.request.port, 0xffff);
  numbers.take(8, exchange.request.version, static_cast<std::uint64_t>(HttpVersion::kH3));
  numbers.take(9, exchange.response.status, 0xffff);
  numbers.take(10, exchange.response.version, static_cast<std::uint64_t>(HttpVersion::kH3));
  numbers.take(11, exchange.response.body.size_bytes, kMost);
  numbers.take(12, exchange.outcome, static_cast<std::uint64_t>(Outcome::kOriginFailed));
  exchange.request.method = row[3].get_string();
  exchange.request.host = row[5].get_string();
  exchange.request.target = row[7].get_string();
  if (row[13].is_int64()) exchange.timings.queued = SessionTime(row[13].get_int64());
  listed.web_socket = !row[14].is_string();
  if (listed.web_socket) {
    numbers.take(14, listed.messages, kMost);
  } else {
    listed.kind = row[14].get_string();
    exchange.response.headers = Headers{{"Content-Type", listed.kind}};
  }
  return numbers.good();
}

}  // namespace

std::vector<ArchiveFile> archives_in(const fs::path& folder, std::string& error) {
  std::vector<ArchiveFile> out;
  std::error_code failed;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    if (it->path().extension() != ".reprise") continue;
    struct stat status{};
    if (::stat(it->path().c_str(), &status) != 0) continue;  // it was removed
    out.push_back({.name = it->path().filename().string(),
                   .size_bytes = static_cast<std::uint64_t>(status.st_size),
                   .changed_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec});
  }
  if (failed) error = failed.message();
  std::ranges::sort(out);
  return out;
}

std::string index_line(const ListedArchive& archive) {
  json::array rows;
  rows.reserve(archive.exchanges.size());
  for (const ListedExchange& each : archive.exchanges) rows.push_back(row_of(each));
  json::object const out{{"name", as_utf8(archive.file.name)},
                         {"size_bytes", archive.file.size_bytes},
                         {"changed_ns", archive.file.changed_ns},
                         {"problem", as_utf8(archive.problem)},
                         {"exchanges", std::move(rows)}};
  return json::serialize(out) + "\n";
}

ListedArchive read_index_line(std::string_view line) {
  json::monotonic_resource memory;
  boost::system::error_code malformed;
  auto const value = json::parse(line, malformed, &memory);
  if (malformed || !value.is_object()) return {};
  auto const& object = value.get_object();
  ListedArchive archive{
      .file = {.name = std::string(text_at(object, "name")),
               .size_bytes = static_cast<std::uint64_t>(exact_integer(object, "size_bytes")),
               .changed_ns = exact_integer(object, "changed_ns")},
      .problem = std::string(text_at(object, "problem"))};
  for (const json::value& row : array_at(object, "exchanges")) {
    if (!read_row(row, archive.exchanges.emplace_back())) return {};
  }
  return archive;
}

std::vector<ListedArchive> CorpusIndex::update(const fs::path& folder, const Read& read,
                                               std::string& error, std::string& remark) {
  auto const files = archives_in(folder, error);
  if (!error.empty()) return {};
  auto const path = folder / kFileName;
  auto const text = read_text_file(path, kIndexBytesMax).value_or("");
  std::map<ArchiveFile, ListedArchive> known;
  for (std::string_view rest = text; !rest.empty();) {
    auto const end = std::min(rest.find('\n'), rest.size());
    auto archive = read_index_line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!archive.file.name.empty()) known.insert_or_assign(archive.file, std::move(archive));
  }
  // What is gone, or has changed, is no longer in the folder under this key.
  bool stale = std::ranges::any_of(
      known, [&](auto const& each) { return !std::ranges::binary_search(files, each.first); });
  std::vector<ListedArchive> out;
  for (const ArchiveFile& file : files) {
    if (auto found = known.find(file); found != known.end()) {
      out.push_back(std::move(found->second));
      continue;
    }
    out.push_back(read(folder / file.name));
    out.back().file = file;
    stale = stale || !out.back().unusable;
  }
  if (!stale) return out;
  std::string all;
  for (const ListedArchive& archive : out) {
    if (!archive.unusable) all += index_line(archive);
  }
  if (auto const written = write_private_file(all, path); !written) {
    remark = path.string() +
             " cannot be written, so the next listing is as slow: " + written.error().message();
  }
  return out;
}

}  // namespace reprise
