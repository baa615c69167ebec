// `archive stats`: of one archive; of a corpus, from archives or from partial results; and partial
// results for engines.

#include <boost/json.hpp>
#include <cstdio>
#include <map>

#include "base/text/counted.h"
#include "base/text/printable.h"
#include "base/text/times.h"
#include "tools/archive/content_sums.h"
#include "tools/archive/corpus_index.h"
#include "tools/archive/errors.h"
#include "tools/archive/views.h"
#include "tools/commands.h"
#include "tools/partials/engine_lines.h"
#include "tools/partials/line_input.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr const char* kCommand = "archive stats";

/// One archive with its sessions.
class Statistics {
 public:
  explicit Statistics(const ArchiveReader& reader);
  void print() const;
  void print_json() const;

 private:
  struct Session {
    SessionInfo info;  ///< without number and times if the session's start is lost
    std::uint64_t exchanges = 0;
    std::uint64_t connections = 0;
    std::uint64_t answers = 0;
  };

  void print_sessions() const;
  json::array sessions_json() const;

  ContentSums sums_;
  std::map<std::uint32_t, Session> sessions_;
};

Statistics::Statistics(const ArchiveReader& reader) {
  for (const SessionInfo& info : reader.sessions()) sessions_[info.number].info = info;
  for (auto const number : reader.ended_without_start()) sessions_[number].info.complete = true;
  for (const IndexEntry& entry : reader.entries()) sessions_[entry.session];
  for (const ConnectionFacts& facts : reader.connections()) ++sessions_[facts.session].connections;
  for (const DnsAnswer& answer : reader.answers()) ++sessions_[answer.session].answers;
  sums_.add_archive(reader, [this](const Exchange& each) { ++sessions_[each.session].exchanges; });
}

void Statistics::print_sessions() const {
  for (auto const& [number, session] : sessions_) {
    auto const& info = session.info;
    bool const has_start = info.number == number;
    std::printf("\nsession %u, %s%s\n", number,
                has_start ? utc_time(info.started).c_str() : "its start is lost",
                has_start && !info.complete ? ", incomplete" : "");
    if (!info.tool_version.empty()) {
      std::printf("  version         %s\n", printable(info.tool_version).c_str());
    }
    for (auto const& page : info.pages)
      std::printf("  page            %s\n", printable(page).c_str());
    std::printf("  exchanges       %llu\n  connections     %llu\n  DNS answers     %llu\n",
                static_cast<unsigned long long>(session.exchanges),
                static_cast<unsigned long long>(session.connections),
                static_cast<unsigned long long>(session.answers));
  }
}

void Statistics::print() const {
  sums_.print_totals(false);
  print_sessions();
  sums_.print_groups();
}

json::array Statistics::sessions_json() const {
  json::array list;
  for (auto const& [number, session] : sessions_) {
    auto const& info = session.info;
    json::array pages;
    for (auto const& page : info.pages) pages.emplace_back(as_utf8(page));
    bool const has_start = info.number == number;
    list.push_back(
        json::object{{"number", number},
                     {"started", has_start ? json::value(utc_time(info.started)) : json::value()},
                     {"complete", info.complete},
                     {"tool_version", as_utf8(info.tool_version)},
                     {"pages", std::move(pages)},
                     {"exchanges", session.exchanges},
                     {"connections", session.connections},
                     {"dns_answers", session.answers}});
  }
  return list;
}

void Statistics::print_json() const {
  auto out = sums_.totals_json(false);
  out["session_list"] = sessions_json();
  sums_.add_groups_json(out);
  std::printf("%s\n", json::serialize(out).c_str());
}

/// Adds archives, folders of archives, and partial results up.
class Summing {
 public:
  /// Prints errors. A folder without archives adds nothing.
  void add(const fs::path& input) {
    std::error_code error;
    if (fs::is_directory(input, error)) return add_folder(input);
    if (ContentSums::is_key(first_key_of(input))) return add_lines(input);
    add_archive(input);
  }
  /// Not one that the machine cannot read now, which sets try_again().
  void add_archive(const fs::path& path) {
    ++given_;
    auto const reader = ArchiveReader::open(path, {.lock = false});
    if (reader) return sums_.add_archive(**reader);
    say_of(kCommand, printable(archive_error_text(path, reader.error())));
    if (reader.error().category() == std::system_category() ||
        reader.error().category() == std::generic_category()) {
      try_again_ = true;
    } else {
      ++unusable_;
      sums_.add(ContentSums::kTotals, "unusable_archives", {.count = 1});
    }
  }

  const ContentSums& sums() const { return sums_; }
  bool try_again() const { return try_again_; }
  bool bad_lines() const { return bad_lines_; }
  std::uint64_t given() const { return given_; }
  std::uint64_t unusable() const { return unusable_; }

 private:
  void add_folder(const fs::path& folder) {
    std::string error;
    for (const ArchiveFile& file : archives_in(folder, error)) add_archive(folder / file.name);
    if (error.empty()) return;
    say_of(kCommand, folder.string() + " cannot be read: " + error);
    try_again_ = true;
  }

  void add_lines(const fs::path& input) {
    PartialLine partial;
    std::uint64_t lines = 0;
    auto const read = read_lines(kCommand, {input}, [&](std::string_view line) {
      ++lines;
      if (read_partial_line(line, partial) && sums_.add_line(partial)) return;
      say_of(kCommand, input.string() + ": line " + std::to_string(lines) +
                           " is not a partial result of archives, or its sums are too large");
      bad_lines_ = true;
    });
    if (!read) try_again_ = true;
  }

  ContentSums sums_;
  std::uint64_t given_ = 0;  ///< archives
  std::uint64_t unusable_ = 0;
  bool try_again_ = false;
  bool bad_lines_ = false;
};

}  // namespace

int print_statistics(const OpenArchive& archive, bool as_json) {
  Statistics const statistics(*archive.reader);
  if (as_json) {
    statistics.print_json();
  } else {
    statistics.print();
  }
  return kExitDone;
}

int print_sums(const std::vector<fs::path>& inputs, bool as_json) {
  Summing summing;
  for (const fs::path& input : inputs) summing.add(input);
  if (as_json) {
    auto out = summing.sums().totals_json(true);
    summing.sums().add_groups_json(out);
    std::printf("%s\n", json::serialize(out).c_str());
  } else {
    summing.sums().print_totals(true);
    summing.sums().print_groups();
  }
  bool const good = !summing.try_again() && !summing.bad_lines() && summing.unusable() == 0;
  return good ? kExitDone : kExitArchive;
}

int write_partial_statistics(const std::vector<fs::path>& inputs) {
  Summing summing;
  for (const fs::path& input : inputs) summing.add(input);
  bool read = true;
  if (inputs.empty()) {  // engines give the names as lines
    read = read_lines(kCommand, {}, [&](std::string_view line) {
      if (!line.empty()) summing.add(fs::path(line));
    });
  }
  count_for_engine("archives", summing.given());
  count_for_engine("unusable_archives", summing.unusable());
  if (!read || summing.try_again()) return kExitTryAgain;
  if (summing.bad_lines()) return kExitHopelessData;
  LineOutput output;
  summing.sums().write_lines(output.sink());
  if (!output.finish(kCommand)) return kExitTryAgain;
  return summing.given() > 0 && summing.unusable() == summing.given() ? kExitHopelessData
                                                                      : kExitDone;
}

}  // namespace reprise
