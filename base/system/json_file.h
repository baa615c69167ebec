#pragma once

#include <boost/json/object.hpp>
#include <filesystem>

namespace reprise {

/// Writes an object as a line of JSON, as write_private_file() does. On failure says so on stderr,
/// naming `flag`, and returns false.
bool write_json_file(const std::filesystem::path& path, const char* flag,
                     const boost::json::object& object);

/// For a file that is written at the end: whether it could be written now. Says what is wrong, as
/// above. True when `path` is empty.
bool can_be_written(const std::filesystem::path& path, const char* flag);

/// Who waits for this run's file must not read that of an earlier one. Says what is wrong, as
/// above. True when there was none, or `path` is empty.
bool remove_stale_file(const std::filesystem::path& path, const char* flag);

}  // namespace reprise
