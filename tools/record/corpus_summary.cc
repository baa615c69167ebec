#include "tools/record/corpus_summary.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/system/json_file.h"
#include "base/text/counted.h"
#include "base/text/json_fields.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::string_view kSchema = "reprise-corpus/1";
constexpr std::uintmax_t kFileBytesMax = 256 << 20;

json::object to_json(const CorpusEntry& entry) {
  json::array problems;
  for (const PageProblem& problem : entry.problems) {
    problems.push_back({{"kind", problem.kind}, {"text", as_utf8(problem.text)}});
  }
  json::value load_event;
  if (entry.load_event_ms) load_event = *entry.load_event_ms;
  return {{"url", entry.page.url},
          {"archive", entry.recorded ? json::value(entry.page.name + ".reprise") : json::value()},
          {"name", entry.page.name},
          {"attempts", entry.attempts},
          {"failure", as_utf8(entry.failure)},
          {"status", entry.status},
          {"requests", entry.requests},
          {"bytes", entry.bytes},
          {"load_event_ms", std::move(load_event)},
          {"misses", entry.misses},
          {"problems", std::move(problems)}};
}

CorpusEntry from_json(const json::object& object) {
  CorpusEntry entry{.page = {.url = std::string(text_at(object, "url")),
                             .name = std::string(text_at(object, "name"))},
                    .recorded = !text_at(object, "archive").empty(),
                    .failure = std::string(text_at(object, "failure"))};
  auto const number = [&object](std::string_view key, auto& value, double least) {
    value = static_cast<std::remove_reference_t<decltype(value)>>(
        std::clamp(number_at(object, key, least), least, 1e15));
  };
  number("attempts", entry.attempts, 0);
  number("status", entry.status, 0);
  number("requests", entry.requests, 0);
  number("bytes", entry.bytes, 0);
  if (auto const ms = number_at(object, "load_event_ms", -1); ms >= 0) {
    entry.load_event_ms = std::min(ms, 1e15);
  }
  number("misses", entry.misses, 0);
  for (json::value const& each : array_at(object, "problems")) {
    if (!each.is_object()) continue;
    entry.problems.push_back({.kind = std::string(text_at(each.get_object(), "kind")),
                              .text = std::string(text_at(each.get_object(), "text"))});
  }
  return entry;
}

std::string row(const std::string& state, const CorpusEntry& entry) {
  char text[96];
  std::snprintf(text, sizeof text, "%-8s %6d %8llu %10.1f %6llu  ", state.c_str(), entry.status,
                static_cast<unsigned long long>(entry.requests),
                static_cast<double>(entry.bytes) / 1e3,
                static_cast<unsigned long long>(entry.misses));
  return text + entry.page.url + "\n";
}

}  // namespace

std::expected<CorpusSummary, std::string> CorpusSummary::read(const std::filesystem::path& folder) {
  auto const path = folder / kFileName;
  CorpusSummary summary;
  std::error_code error;
  auto const size = std::filesystem::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return summary;
  if (error) return std::unexpected(path.string() + ": " + error.message());
  auto const wrong = path.string() + " is not a corpus summary. Remove it, or use another folder";
  if (size > kFileBytesMax) return std::unexpected(wrong);
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  json::error_code malformed;
  auto const value = json::parse(text, malformed);
  if (malformed || !value.is_object() || text_at(value.get_object(), "schema") != kSchema) {
    return std::unexpected(wrong);
  }
  for (json::value const& each : array_at(value.get_object(), "pages")) {
    if (each.is_object()) summary.put(from_json(each.get_object()));
  }
  return summary;
}

const CorpusEntry* CorpusSummary::find(const std::string& name) const {
  auto const found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<const CorpusEntry*> CorpusSummary::entries() const {
  std::vector<const CorpusEntry*> out;
  for (auto const& [name, entry] : entries_) out.push_back(&entry);
  return out;
}

void CorpusSummary::put(CorpusEntry entry) {
  auto name = entry.page.name;
  entries_.insert_or_assign(std::move(name), std::move(entry));
}

bool CorpusSummary::write(const std::filesystem::path& folder) const {
  return write_json_file(folder / kFileName, "-o", json());
}

json::object CorpusSummary::json() const {
  json::array pages;
  for (auto const& [name, entry] : entries_) pages.push_back(to_json(entry));
  return {{"schema", kSchema}, {"reprise", REPRISE_VERSION}, {"pages", std::move(pages)}};
}

std::string CorpusSummary::table(const std::vector<CorpusPage>& pages) const {
  std::string text = "page     status requests         kB misses  URL\n";
  std::size_t recorded = 0;
  std::size_t with_warnings = 0;
  for (const CorpusPage& page : pages) {
    auto const* const entry = find(page.name);
    if (entry == nullptr) {
      text += row("open", {.page = page});
      continue;
    }
    recorded += entry->recorded ? 1 : 0;
    with_warnings += entry->recorded && !entry->problems.empty() ? 1 : 0;
    text += row(!entry->recorded          ? "failed"
                : entry->problems.empty() ? "good"
                                          : "warnings",
                *entry);
    if (!entry->recorded) text += "         " + entry->failure + "\n";
    for (const PageProblem& problem : entry->problems) {
      text += "         " + problem.kind + ": " + problem.text + "\n";
    }
  }
  return text + std::to_string(recorded) + " of " + counted(pages.size(), "page") + " recorded, " +
         std::to_string(with_warnings) + " with warnings\n";
}

}  // namespace reprise
