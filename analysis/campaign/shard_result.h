#pragma once

// What a shard leaves: a file of lines, which appears by rename and is complete or absent
// (docs/campaigns.md). Its first line is enough for progress; a page is read line by line, so that
// a campaign never has to fit into memory. Pure; the lines are untrusted.

#include <boost/json/object.hpp>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/campaign/page_failure.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// The first line.
struct ShardHeader {
  std::string plan;       ///< its digest
  std::size_t shard = 0;  ///< from 1
  std::string node;
  double seconds = 0;           ///< it took, by a clock that nobody sets
  std::size_t records = 0;      ///< that follow
  std::size_t loads = 0;        ///< that count; pages of the tasks record and advise
  std::size_t failed = 0;       ///< that did not load, or were not recorded
  double finished_unix_ms = 0;  ///< by the node's clock; nothing depends on it
  std::string reprise;          ///< version
  /// A page of a part of the shard, of which every load failed in that part; the first ones.
  std::vector<PageFailure> failures = {};

  static constexpr std::size_t kFailuresMax = 300;
};

/// What was measured of one page on one side: two lines.
struct ShardRecord {
  std::size_t page = 0;  ///< index into Plan::pages
  unsigned first_run = 1;
  std::string side;
  boost::json::object advice;  ///< `reprise-advice/1` of the task advise; otherwise empty
  LoadResult result;
};

/// With a newline.
std::string header_line(const ShardHeader& header);
std::string record_lines(const ShardRecord& record);

/// Errors: a sentence.
std::expected<ShardHeader, std::string> read_header(std::string_view line);
/// The text that follows the header. Errors: a sentence; also if records are missing.
class ShardRecords {
 public:
  /// `text` is the whole file; borrowed.
  static std::expected<ShardRecords, std::string> open(std::string_view text);
  const ShardHeader& header() const { return header_; }
  /// Whether there is another record.
  bool more() const { return read_ < header_.records; }
  std::expected<ShardRecord, std::string> next();

 private:
  std::expected<std::string_view, std::string> line();
  ShardHeader header_;
  std::string_view rest_;
  std::size_t read_ = 0;
};

}  // namespace reprise
