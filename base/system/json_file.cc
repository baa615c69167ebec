#include "base/system/json_file.h"

#include <boost/json.hpp>
#include <cstdio>
#include <map>
#include <system_error>

#include "base/system/private_file.h"
#include "base/system/text_file.h"

namespace reprise {

namespace {

bool say(const std::filesystem::path& path, const char* flag, const std::error_code& error) {
  std::fprintf(stderr, "reprise: %s %s cannot be written: %s\n", flag, path.c_str(),
               error.message().c_str());
  return false;
}

/// The absolute path of a file that a writer replaces; empty for all else.
std::filesystem::path replaced_place(const std::filesystem::path& path) {
  std::error_code error;
  if (path.empty() || path == "-") return {};
  auto const status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return {};
  auto const absolute = std::filesystem::absolute(path, error);
  return std::filesystem::weakly_canonical(absolute, error);
}

}  // namespace

boost::json::value read_json(const std::filesystem::path& path) {
  boost::json::error_code error;
  auto value = boost::json::parse(contents_of(path), error);
  return error ? boost::json::value() : value;
}

bool write_json_file(const std::filesystem::path& path, const char* flag,
                     const boost::json::object& object) {
  auto const written = write_private_file(boost::json::serialize(object) + "\n", path);
  return written || say(path, flag, written.error());
}

bool can_be_written(const std::filesystem::path& path, const char* flag) {
  if (path.empty()) return true;
  auto const checked = check_writable(path);
  return checked || say(path, flag, checked.error());
}

bool are_different_files(std::initializer_list<NamedFile> files) {
  std::map<std::filesystem::path, const char*> flags;
  for (auto const& [flag, path] : files) {
    auto const place = replaced_place(path);
    if (place.empty()) continue;
    auto const [other, is_new] = flags.emplace(place, flag);
    if (is_new) continue;
    std::fprintf(stderr, "reprise: %s and %s are the same file: %s. Give each another name\n",
                 other->second, flag, path.c_str());
    return false;
  }
  return true;
}

bool are_different_files(const char* input, const std::vector<std::filesystem::path>& inputs,
                         std::initializer_list<NamedFile> files) {
  for (auto const& path : inputs) {
    for (auto const& file : files) {
      if (!are_different_files({{input, path}, file})) return false;
    }
  }
  return are_different_files(files);
}

bool remove_stale_file(const std::filesystem::path& path, const char* flag) {
  std::error_code error;
  if (path.empty()) return true;
  auto const status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::is_regular_file(status)) return true;
  std::filesystem::remove(path, error);
  if (!error) return true;
  std::fprintf(stderr, "reprise: %s %s is in the way and cannot be removed: %s\n", flag,
               path.c_str(), error.message().c_str());
  return false;
}

}  // namespace reprise
