#include "tools/json_file.h"

#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

namespace reprise {

bool write_json_file(const std::filesystem::path& path, const char* flag,
                     const boost::json::object& object) {
  // A pipe or a terminal is written as it is: nothing may take its place.
  bool const in_place = std::filesystem::exists(path) && !std::filesystem::is_regular_file(path);
  auto const half_written = in_place ? path.string() : path.string() + ".part";
  std::error_code error;
  {
    errno = 0;
    std::ofstream file(half_written, std::ios::trunc);
    file << boost::json::serialize(object) << "\n";
    if (!file.flush()) error = {errno == 0 ? EIO : errno, std::system_category()};
  }
  if (in_place && !error) return true;
  if (!error) std::filesystem::rename(half_written, path, error);
  if (!error) return true;
  std::fprintf(stderr, "reprise: %s %s cannot be written: %s\n", flag, path.c_str(),
               error.message().c_str());
  std::error_code ignored;
  if (!in_place) std::filesystem::remove(half_written, ignored);
  return false;
}

bool remove_stale_file(const std::filesystem::path& path, const char* flag) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return true;
  std::filesystem::remove(path, error);
  if (!error) return true;
  std::fprintf(stderr, "reprise: %s %s is in the way and cannot be removed: %s\n", flag,
               path.c_str(), error.message().c_str());
  return false;
}

}  // namespace reprise
