#include "tools/campaign/collect.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "analysis/campaign/collection.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/json_fields.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/record/corpus_summary.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// One page's lines of set.json and cells.tsv.
struct PageLine {
  json::object summary;
  std::string cells;
};

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
    if (plan_.campaign.task == CampaignFile::Task::kRecord) return collect_archives();
    std::map<std::size_t, PageLine> lines;
    if (options_.merge) {
      if (!read_lines(lines)) return kExitFailed;
    } else {
      for (const CampaignSide& side : plan_.campaign.sides) {
        fs::create_directories(options_.output / side.name, error);
      }
      auto const shards = shards_of_pages();
      for (std::size_t page = options_.part - 1; page < plan_.pages.size();
           page += options_.parts) {
        auto line = collect_page(page, shards[page]);
        if (!line) return kExitFailed;
        if (options_.partial) {
          print(page, *line);
        } else {
          lines.emplace(page, std::move(*line));
        }
      }
    }
    if (options_.partial) return after_output(kExitDone);
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

  std::optional<PageLine> collect_page(std::size_t page, const std::vector<std::size_t>& shards) {
    PageCollection collection(plan_, page);
    for (auto const shard : shards) {
      if (auto const fault = add_shard(shard, page, collection)) {
        say_of_campaign(0, folder_.result_path(shard).string() + ": " + *fault);
        return std::nullopt;
      }
    }
    for (std::size_t side = 0; side < collection.results().size(); ++side) {
      const LoadResult& result = collection.results()[side];
      if (result.loads.empty()) continue;
      auto const path =
          options_.output / plan_.campaign.sides[side].name / (plan_.pages[page].name + ".json");
      if (!keep(path, json::serialize(to_json(result)) + "\n")) return std::nullopt;
    }
    return PageLine{.summary = collection.summary(), .cells = collection.cells()};
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

  /// "PAGE TAB JSON", as engines sort and merge lines.
  static void print(std::size_t page, const PageLine& line) {
    json::object const out{{"summary", line.summary}, {"cells", as_utf8(line.cells)}};
    std::printf("%08zu\t%s\n", page, json::serialize(out).c_str());
  }

  bool read_lines(std::map<std::size_t, PageLine>& lines) const {
    for (std::string text; std::getline(std::cin, text);) {
      auto const tab = text.find('\t');
      boost::system::error_code malformed;
      auto const value = json::parse(
          tab == text.npos ? std::string_view() : std::string_view(text).substr(tab + 1),
          malformed);
      auto const page = std::strtoull(text.c_str(), nullptr, 10);
      if (malformed || !value.is_object() || page >= plan_.pages.size()) {
        say_of_campaign(0, "standard input has a line that is not of `collect --part`");
        return false;
      }
      auto const& object = value.get_object();
      lines[page] = {.summary = object_at(object, "summary"),
                     .cells = std::string(text_at(object, "cells"))};
    }
    if (lines.size() == plan_.pages.size()) return true;
    say_of_campaign(0, "standard input has lines of " + counted(lines.size(), "page") +
                           ", not of " + std::to_string(plan_.pages.size()) +
                           ": give those of all parts");
    return false;
  }

  int write_set(const std::map<std::size_t, PageLine>& lines) const {
    json::array sides, refused, missing;
    for (const CampaignSide& side : plan_.campaign.sides) sides.emplace_back(side.name);
    for (const RefusedNode& node : progress_.refused) {
      refused.push_back({{"node", as_utf8(node.node)}, {"why", as_utf8(node.why)}});
    }
    for (auto const shard : progress_.missing) missing.push_back(shard);
    json::object const head{{"schema", "reprise-set/1"},
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
    for (auto const& [page, line] : lines) {
      text += (first ? "\n" : ",\n") + json::serialize(line.summary);
      cells += line.cells;
      first = false;
    }
    text += "\n]}\n";
    bool const kept =
        keep(options_.output / "cells.tsv", cells) && keep(options_.output / "set.json", text);
    if (kept) {
      std::fprintf(stderr, "wrote %s: %s of %s\n", options_.output.c_str(),
                   counted(progress_.loads, "load").c_str(), counted(lines.size(), "page").c_str());
    }
    return kept ? kExitDone : kExitFailed;
  }

  /// All archives in one folder, linked where the file system can, with one corpus.json.
  int collect_archives() const {
    CorpusSummary all;
    for (const ShardHeader& header : facts_.results) {
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
    return all.write(options_.output) ? kExitDone : kExitFailed;
  }

  bool link_archive(const fs::path& from, const std::string& name) const {
    std::error_code error;
    auto const to = options_.output / name;
    if (fs::exists(to, error)) return true;
    fs::create_hard_link(from / name, to, error);
    if (error) fs::copy_file(from / name, to, error);
    if (error) say_of_campaign(0, to.string() + ": " + error.message());
    return !error;
  }

  const CampaignFolder& folder_;
  const Plan& plan_;
  const CollectOptions& options_;
  CampaignFacts facts_;
  CampaignProgress progress_;
  std::size_t held_shard_ = 0;
  std::string held_text_;
};

}  // namespace

int collect_campaign(const CampaignFolder& folder, const CollectOptions& options) {
  return Collecting(folder, options).run();
}

}  // namespace reprise
