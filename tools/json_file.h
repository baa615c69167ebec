#pragma once

#include <boost/json/object.hpp>
#include <filesystem>

namespace reprise {

/// Writes an object as a line of JSON, in one step: who waits for the file never reads half of it.
/// On failure says so on stderr, naming `flag`, and returns false.
bool write_json_file(const std::filesystem::path& path, const char* flag,
                     const boost::json::object& object);

/// Who waits for this run's file must not read that of an earlier one. Says what is wrong, as
/// above. True when there was none, or `path` is empty.
bool remove_stale_file(const std::filesystem::path& path, const char* flag);

}  // namespace reprise
