#pragma once

// What archives contain, as sums by group and name: of one archive, or of any number, which add up
// in any order (analysis/partials/PARTIALS.md).

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "analysis/partials/partial_table.h"
#include "archive/reader.h"

namespace reprise {

class ContentSums {
 public:
  struct Tally {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
  };
  /// The group of amounts that are not by name.
  static constexpr const char* kTotals = "totals";

  /// What one archive contains. `of_exchange` is called for each that is not damaged.
  void add_archive(
      const ArchiveReader& reader,
      const std::function<void(const Exchange&)>& of_exchange = [](const Exchange&) {});
  void add(std::string_view group, std::string_view name, Tally more);

  /// "GROUP|NAME TAB count TAB bytes" in the order of the keys, each once.
  void write_lines(const PartialSink& sink) const;
  /// Returns false if the line is of something else, or if its sums are too large.
  bool add_line(const PartialLine& line);
  /// Whether a key is one of these lines'.
  static bool is_key(std::string_view key);

  Tally total(std::string_view name) const;
  /// Of more than one archive also their number.
  void print_totals(bool of_many) const;
  /// By host, type, ..., the largest first; connections and DNS answers by kind.
  void print_groups() const;
  /// The totals and groups as members.
  boost::json::object totals_json(bool of_many) const;
  void add_groups_json(boost::json::object& to) const;

 private:
  using Tallies = std::map<std::string, Tally, std::less<>>;
  using Bodies = std::set<std::uint64_t>;  ///< those of one archive that were seen

  void add_facts(const ArchiveReader& reader);
  void add_exchange(const ArchiveReader& reader, const Exchange& exchange, Bodies& bodies);
  void add_body(const StoredBody& body, Bodies& bodies);
  const Tallies& tallies_of(std::string_view group) const;
  std::int64_t count_of(std::string_view group) const;

  std::map<std::string, Tallies, std::less<>> groups_;
};

}  // namespace reprise
