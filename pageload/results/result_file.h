#pragma once

// The one reader and the one writer of results of page loads. Format: JSON, see RESULTS.md.

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

/// Limits: the size of a file, its loads (also replays and browsers), and the requests per load.
inline constexpr std::uintmax_t kResultBytesMax = std::uintmax_t{512} << 20;
inline constexpr std::size_t kResultLoadsMax = 100'000;
inline constexpr std::size_t kResultRequestsMax = 20'000;

/// Reads an untrusted result. Missing fields have their defaults, since older results have fewer
/// fields; unknown fields are ignored. Errors: a sentence with the reason ("loads[3].url must be a
/// text"). Pure.
std::expected<LoadResult, std::string> read_result(std::string_view text);
/// Errors: also those of the system and of size, without the path.
std::expected<LoadResult, std::string> read_result_file(const std::filesystem::path& path);

/// Includes a load's DOM if it is kept; counts and digests are those of sum_up(), or null. Pure.
boost::json::object to_json(const LoadResult& result);
/// As a result has it, for all reports.
boost::json::object to_json(const LoadConfiguration& configuration);
/// Writes the JSON to `path` atomically, mode 0600 since URLs and documents can contain secrets; to
/// standard output if `path` is "-". Errors: the system error of open(2), write(2) or rename(2).
Result<void> write_result(const LoadResult& result, const std::filesystem::path& path);

/// One load, as the process that drove the browser reports it to the process that requested it.
struct PageReport {
  LoadResult::Browser browser;  ///< without its name
  PageLoad page;
};
/// Errors: those of write_result().
Result<void> write_page_report(const PageReport& report, const std::filesystem::path& path);
/// Errors: those of read_result_file().
std::expected<PageReport, std::string> read_page_report(const std::filesystem::path& path);

}  // namespace reprise
