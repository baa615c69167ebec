#pragma once

// The one reader and the one writer of results of page loads, JSON as RESULTS.md says.

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pageload/results/load_result.h"

namespace reprise {

/// A file may have this size, as many loads (and replays, and browsers), and as many requests a
/// load.
inline constexpr std::uintmax_t kResultBytesMax = std::uintmax_t{512} << 20;
inline constexpr std::size_t kResultLoadsMax = 100'000;
inline constexpr std::size_t kResultRequestsMax = 20'000;

/// Reads a result, anybody's. What is missing has its default, since older results lack what is
/// newer; fields that are not known are ignored. Errors: a sentence that says why this is no result
/// ("loads[3].url must be a text"). Pure.
std::expected<LoadResult, std::string> read_result(std::string_view text);
/// Errors: also the system's and those of size, without the path.
std::expected<LoadResult, std::string> read_result_file(const std::filesystem::path& path);

/// A load's DOM is written where it is kept; its counts and digests are those of sum_up(), or null.
/// Pure.
boost::json::object to_json(const LoadResult& result);
/// Writes the JSON to `path` in one step, mode 0600 since URLs and documents hold secrets; to
/// standard output when `path` is "-". Errors: the system error of open(2), write(2) or rename(2).
Result<void> write_result(const LoadResult& result, const std::filesystem::path& path);

/// One load, as the process that drove the browser tells it to the one that asked for it.
struct PageReport {
  LoadResult::Browser browser;  ///< without its name
  PageLoad page;
};
/// Errors: as of write_result().
Result<void> write_page_report(const PageReport& report, const std::filesystem::path& path);
/// Errors: as of read_result_file().
std::expected<PageReport, std::string> read_page_report(const std::filesystem::path& path);

}  // namespace reprise
