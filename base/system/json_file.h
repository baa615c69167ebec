#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <initializer_list>
#include <vector>

namespace reprise {

/// JSON that another reprise process wrote to `path`; null if the file is missing or incomplete.
boost::json::value read_json(const std::filesystem::path& path);

/// Writes an object as one line of JSON with write_private_file(). On failure prints an error that
/// names `flag` to stderr, and returns false.
bool write_json_file(const std::filesystem::path& path, const char* flag,
                     const boost::json::object& object);

/// Checks in advance whether a file that is written at the end can be written. Prints an error as
/// above. True if `path` is empty.
bool can_be_written(const std::filesystem::path& path, const char* flag);

/// A file that the command line names.
struct NamedFile {
  const char* flag;
  std::filesystem::path path;  ///< empty: not given
};

/// Checks in advance that no file of a run replaces another one. Prints an error that names the
/// flags of two that are the same. Standard output ("-"), devices, pipes and folders can be the
/// same.
bool are_different_files(std::initializer_list<NamedFile> files);
/// The same, and that none of `files` replaces one of the `inputs`, which --help calls `input`. Two
/// inputs can be the same.
bool are_different_files(const char* input, const std::vector<std::filesystem::path>& inputs,
                         std::initializer_list<NamedFile> files);

/// Removes the file of an earlier run, so that nobody reads it while waiting for this run's. Prints
/// an error as above. True if there was none, or if `path` is empty.
bool remove_stale_file(const std::filesystem::path& path, const char* flag);

}  // namespace reprise
