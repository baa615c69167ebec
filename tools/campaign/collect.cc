#include "tools/campaign/collect.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/campaign/collection.h"
#include "analysis/campaign/page_failure.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/campaign/start_url.h"
#include "tools/commands.h"
#include "tools/compare/result_set_file.h"
#include "tools/record/corpus_summary.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

class Collecting {
 public:
  Collecting(const CampaignFolder& folder, const CollectOptions& options)
      : folder_(folder),
        plan_(folder.plan()),
        options_(options),
        facts_(folder.facts()),
        progress_(progress_of(plan_, facts_)) {}

  int run() {
    if (!progress_.missing.empty() && !options_.incomplete) {
      return say_of_campaign(kExitFailed,
                             counted(progress_.missing.size(), "shard") +
                                 " missing: run `reprise campaign resume`, or add --incomplete");
    }
    std::error_code error;
    fs::create_directories(options_.output, error);
    if (error)
      return say_of_campaign(kExitFailed, options_.output.string() + ": " + error.message());
    shards_ = shards_of_pages();
    if (plan_.campaign.task == CampaignFile::Task::kRecord) {
      if (options_.merge || !options_.part.empty()) {
        return say_of_campaign(kExitUsage,
                               "archives are collected at once: drop --part and --merge");
      }
      return collect_archives();
    }
    if (options_.merge) return merge();
    for (const CampaignSide& side : plan_.campaign.sides) {
      fs::create_directories(options_.output / side.name, error);
    }
    remove_strangers();
    if (options_.part == "-") return print_parts_of_input();
    if (!options_.part.empty()) return print_part(options_.part);
    std::map<std::size_t, PageLine> lines;
    for (std::size_t page = 0; page < plan_.pages.size(); ++page) {
      auto line = collect_page(page);
      if (!line) return kExitFailed;
      lines.emplace(page, std::move(*line));
    }
    return write_set(lines);
  }

 private:
  std::vector<std::vector<std::size_t>> shards_of_pages() const {
    std::vector<std::vector<std::size_t>> out(plan_.pages.size());
    for (const ShardHeader& header : facts_.results) {
      if (std::ranges::binary_search(progress_.missing, header.shard)) continue;
      for (const ShardPart& part : plan_.shards[header.shard - 1].parts) {
        auto& shards = out[part.page];
        if (shards.empty() || shards.back() != header.shard) shards.push_back(header.shard);
      }
    }
    return out;
  }

  /// Results of pages that the plan does not have, as a set of another campaign left them, would
  /// count in a comparison of the sides.
  void remove_strangers() const {
    std::error_code unknown;
    if (!fs::exists(options_.output / "set.json", unknown)) return;  // the files are the user's
    remove_other_sides();
    std::set<std::string> names;
    for (const PlannedPage& page : plan_.pages) names.insert(page.name + ".json");
    for (const CampaignSide& side : plan_.campaign.sides) {
      std::vector<fs::path> strangers;
      std::error_code error;
      fs::directory_iterator it(options_.output / side.name, error), end;
      for (; !error && it != end; it.increment(error)) {
        auto const& path = it->path();
        if (path.extension() == ".json" && !names.contains(path.filename().string())) {
          strangers.push_back(path);
        }
      }
      for (const fs::path& path : strangers) {
        bool const gone = fs::remove(path, error);  // false, too, if another part was quicker
        if (gone || error) {
          say_of_campaign(0, path.string() + " is of no page of the plan: " +
                                 (gone ? "removed" : error.message()));
        }
      }
    }
  }

  /// Sides that only the older set has: the files of its pages, and their folders.
  void remove_other_sides() const {
    ResultSetFile older(options_.output / "set.json");
    auto sides = older.sides();
    for (const CampaignSide& side : plan_.campaign.sides) sides.erase(side.name);
    if (sides.empty()) return;
    std::map<std::string, std::size_t> removed;
    std::error_code error;
    while (auto const page = older.next_page()) {
      for (const std::string& side : sides) {
        auto const path = options_.output / side / (page->name + ".json");
        if (fs::remove(path, error)) ++removed[side];
        if (error) say_of_campaign(0, path.string() + " cannot be removed: " + error.message());
      }
    }
    for (const std::string& side : sides) {
      auto const folder = options_.output / side;
      bool const is_left = fs::is_directory(folder, error) && fs::is_empty(folder, error);
      if (is_left && !error) fs::remove(folder, error);
      if (!removed.contains(side)) continue;
      say_of_campaign(0, folder.string() + " is a side of an older set: " +
                             counted(removed.at(side), "file") + " removed");
    }
  }

  std::optional<PageLine> collect_page(std::size_t page) {
    PageCollection collection(plan_, page);
    for (auto const shard : shards_[page]) {
      if (auto const fault = add_shard(shard, page, collection)) {
        say_of_campaign(0, folder_.result_path(shard).string() + ": " + *fault);
        return std::nullopt;
      }
    }
    if (auto failure = why_missing(page)) collection.add_failure(std::move(*failure));
    bool const advises = plan_.campaign.task == CampaignFile::Task::kAdvise;
    if (advises && collection.results().front().loads.empty()) {
      collection.add_start_url(start_url_of(plan_, page));
    }
    for (std::size_t side = 0; side < collection.results().size(); ++side) {
      const LoadResult& result = collection.results()[side];
      auto const path =
          options_.output / plan_.campaign.sides[side].name / (plan_.pages[page].name + ".json");
      if (result.loads.empty()) {
        std::error_code error;
        fs::remove(path, error);  // of an earlier set
        if (!error) continue;
        say_of_campaign(0, path.string() + " cannot be removed: " + error.message());
        return std::nullopt;
      }
      if (!keep(path, json::serialize(to_json(result)) + "\n")) return std::nullopt;
    }
    return page_line(page, collection.summary(), collection.cells());
  }

  /// Why no shard of a page has a result; nothing if one has, or if none was tried.
  std::optional<PageFailure> why_missing(std::size_t page) const {
    if (!shards_[page].empty()) return std::nullopt;
    for (const ShardFailure& each : facts_.failures) {
      if (!std::ranges::binary_search(progress_.missing, each.shard)) continue;
      auto const& parts = plan_.shards[each.shard - 1].parts;
      if (std::ranges::find(parts, page, &ShardPart::page) == parts.end()) continue;
      return PageFailure{
          .page = page,
          .name = plan_.pages[page].name,
          .why = "shard " + std::to_string(each.shard) + " has no result: " + each.text()};
    }
    return std::nullopt;
  }

  std::optional<std::string> add_shard(std::size_t shard, std::size_t page,
                                       PageCollection& collection) {
    if (shard != held_shard_) {  // several small pages are in one shard
      auto text = read_text_file(folder_.result_path(shard), kResultBytesMax * 4);
      if (!text) return text.error().message();
      held_text_ = std::move(*text);
      held_shard_ = shard;
    }
    auto records = ShardRecords::open(held_text_);
    if (!records) return records.error();
    for (const PageFailure& each : records->header().failures) {
      if (each.page == page && each.is_of_all()) collection.add_failure(each);
    }
    while (records->more()) {
      auto record = records->next();
      if (!record) return record.error();
      if (record->page != page) continue;
      if (auto fault = collection.add(records->header(), std::move(*record))) return fault;
    }
    return std::nullopt;
  }

  bool keep(const fs::path& path, std::string_view text) const {
    auto const written = write_private_file(text, path);
    if (!written) {
      say_of_campaign(0, path.string() + " cannot be written: " + written.error().message());
    }
    return written.has_value();
  }

  int print_part(std::string_view text) {
    auto const part = CollectPart::parse(text);
    if (!part) {
      return say_of_campaign(kExitUsage, "--part must be K/N with K from 1 to N, such as 2/3");
    }
    for (auto page = part->number - 1; page < plan_.pages.size(); page += part->of) {
      auto const line = collect_page(page);
      if (!line) return kExitFailed;
      std::fputs(page_line_text(*line).c_str(), stdout);
    }
    return kExitDone;
  }

  /// What an engine gives is read to its end, whatever happens, so that the engine does not fail.
  int print_parts_of_input() {
    int exit_code = kExitDone;
    for (std::string text; std::getline(std::cin, text);) {
      if (exit_code == kExitDone && !text.empty()) exit_code = print_part(text);
    }
    return exit_code;
  }

  int merge() const {
    std::map<std::size_t, PageLine> lines;
    bool good = true;
    for (std::string text; std::getline(std::cin, text);) {
      auto line = read_page_line(text);
      good = good && line && line->page < plan_.pages.size();
      if (good) lines[line->page] = std::move(*line);
    }
    if (!good) {
      return say_of_campaign(kExitFailed,
                             "standard input has a line that is not of `collect --part`");
    }
    if (lines.size() == plan_.pages.size()) return write_set(lines);
    return say_of_campaign(
        kExitFailed, "standard input has lines of " + counted(lines.size(), "page") + ", not of " +
                         std::to_string(plan_.pages.size()) + ": give those of all parts");
  }

  int write_set(const std::map<std::size_t, PageLine>& lines) const {
    json::array sides, refused, missing;
    for (const CampaignSide& side : plan_.campaign.sides) sides.emplace_back(side.name);
    for (const RefusedNode& node : progress_.refused) {
      refused.push_back({{"node", as_utf8(node.node)}, {"why", as_utf8(node.why)}});
    }
    for (auto const shard : progress_.missing) missing.push_back(shard);
    json::object const head{{"schema", kSetSchema},
                            {"name", plan_.campaign.name},
                            {"task", to_string(plan_.campaign.task)},
                            {"plan", folder_.digest()},
                            {"sides", std::move(sides)},
                            {"refused_nodes", std::move(refused)},
                            {"missing_shards", std::move(missing)}};
    auto text = json::serialize(head);
    text.pop_back();
    text += ",\"pages\":[";
    std::string cells =
        "page\tside\turl\tbrowser\tprotocol\tlink\tcache\tloads\trequests\trequests_sha256\n";
    bool first = true;
    std::size_t urls = 0;
    std::vector<std::string> failures;
    for (auto const& [page, line] : lines) {
      urls += line.urls;
      failures.insert(failures.end(), line.failures.begin(), line.failures.end());
      text += (first ? "\n" : ",\n") + line.summary;
      cells += line.cells;
      first = false;
    }
    text += "\n]}\n";
    bool const kept =
        keep(options_.output / "cells.tsv", cells) && keep(options_.output / "set.json", text);
    if (!kept) return kExitFailed;
    std::fprintf(stderr, "wrote %s: %s of %s in %s\n", options_.output.c_str(),
                 plan_.campaign.task == CampaignFile::Task::kLoad
                     ? counted(progress_.loads, "load").c_str()
                     : "advice",
                 counted(urls, "page").c_str(), counted(lines.size(), "archive").c_str());
    return code_after(failures);
  }

  /// Prints the pages that failed. The set is complete without them, and its user must know.
  static int code_after(const std::vector<std::string>& failures) {
    std::fputs(failures_text(failures).c_str(), stderr);
    return failures.empty() ? kExitDone : kExitFailed;
  }

  /// All archives in one folder, linked where the file system can, with one corpus.json.
  int collect_archives() const {
    CorpusSummary all;
    for (const ShardHeader& header : facts_.results) {
      if (std::ranges::binary_search(progress_.missing, header.shard)) continue;
      auto const from = folder_.result_path(header.shard).parent_path();
      auto const part = CorpusSummary::read(from);
      if (!part) return say_of_campaign(kExitFailed, part.error());
      for (const CorpusEntry* entry : part->entries()) {
        all.put(*entry);
        if (entry->recorded && !link_archive(from, entry->page.name + ".reprise")) {
          return kExitFailed;
        }
      }
    }
    for (std::size_t page = 0; page < plan_.pages.size(); ++page) {
      auto const missing = why_missing(page);
      if (!missing) continue;
      all.put({.page = {.url = plan_.pages[page].source, .name = missing->name},
               .failure = missing->why});
    }
    if (!all.write(options_.output)) return kExitFailed;
    std::vector<std::string> failures;
    for (const CorpusEntry* entry : all.entries()) {
      if (entry->recorded) continue;
      failures.push_back(failure_text({.page = 0,
                                       .name = entry->page.name,
                                       .side = {},
                                       .url = entry->page.url,
                                       .loads = 1,
                                       .why = entry->failure}));
    }
    return code_after(failures);
  }

  /// An older or torn one of an earlier run is replaced.
  bool link_archive(const fs::path& folder, const std::string& name) const {
    std::error_code error;
    auto const from = folder / name;
    auto const to = options_.output / name;
    if (fs::equivalent(from, to, error)) return true;
    auto const part = fs::path(to).concat(".part");
    fs::remove(part, error);
    fs::create_hard_link(from, part, error);
    if (error) fs::copy_file(from, part, error);
    if (!error) fs::rename(part, to, error);
    if (!error) return true;
    say_of_campaign(0, to.string() + ": " + error.message());
    fs::remove(part, error);
    return false;
  }

  const CampaignFolder& folder_;
  const Plan& plan_;
  const CollectOptions& options_;
  CampaignFacts facts_;
  CampaignProgress progress_;
  std::vector<std::vector<std::size_t>> shards_;  ///< by page
  std::size_t held_shard_ = 0;
  std::string held_text_;
};

}  // namespace

std::optional<CollectPart> CollectPart::parse(std::string_view text) {
  CollectPart part;
  auto const* const end = text.data() + text.size();
  auto const first = std::from_chars(text.data(), end, part.number);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return std::nullopt;
  auto const second = std::from_chars(first.ptr + 1, end, part.of);
  bool const good =
      second.ec == std::errc() && second.ptr == end && part.number > 0 && part.number <= part.of;
  return good ? std::optional(part) : std::nullopt;
}

int collect_campaign(const CampaignFolder& folder, const CollectOptions& options) {
  return Collecting(folder, options).run();
}

}  // namespace reprise
