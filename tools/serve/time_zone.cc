#include "tools/serve/time_zone.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/system/text_file.h"
#include "base/text/printable.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr const char* kDatabase = "/usr/share/zoneinfo";

/// The database also has these: copies of all zones in two folders, and defaults of the system.
bool is_for_the_system(std::string_view name) {
  return name.starts_with("posix/") || name.starts_with("right/") || name == "localtime" ||
         name == "posixrules" || name == "Factory";
}

/// RFC 8536: a file of a zone begins with "TZif".
bool is_zone_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, 4> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "TZif";
}

std::string without_folder(std::string_view name) {
  for (std::string_view const folder : {"posix/", "right/"}) {
    if (name.starts_with(folder)) name.remove_prefix(folder.size());
  }
  return std::string(name);
}

/// The zone of a file in a database, or of a link to it; empty for other files.
std::string zone_of_file(std::filesystem::path path) {
  constexpr std::string_view kFolder = "/zoneinfo/";
  constexpr int kLinksMax = 8;
  for (int links = 0; links <= kLinksMax; ++links) {
    std::string const text = path.lexically_normal();
    if (auto const at = text.find(kFolder); at != std::string::npos) {
      return without_folder(std::string_view(text).substr(at + kFolder.size()));
    }
    std::error_code error;
    auto const target = std::filesystem::read_symlink(path, error);
    if (error) return {};
    path = path.parent_path() / target;
  }
  return {};
}

/// A name that has not been checked, from TZ (null: it is not set) or the files in `etc`.
std::string stated_zone(const char* tz, const std::filesystem::path& etc) {
  constexpr std::uintmax_t kNameBytesMax = 4096;
  auto const local = etc / "localtime";
  auto file = local;
  if (tz != nullptr) {
    // tzset(3): a colon can come first, and an empty value stands for UTC.
    std::string_view name(tz);
    if (name.starts_with(':')) name.remove_prefix(1);
    if (name.empty()) return "UTC";
    if (!name.starts_with('/')) return without_folder(name);
    file = name;
  }
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, error))) return "UTC";
  auto zone = zone_of_file(file);
  if (!zone.empty() || file != local) return zone;
  return std::string(trim(read_text_file(etc / "timezone", kNameBytesMax).value_or("")));
}

}  // namespace

std::string time_zone_problem(const std::string& name) {
  std::error_code error;
  if (!std::filesystem::is_directory(kDatabase, error)) return {};
  std::filesystem::path const path(name);
  bool const inside =
      path.is_relative() && !name.starts_with("..") && path.lexically_normal().native() == name;
  if (inside && !is_for_the_system(name) && is_zone_file(kDatabase / path)) return {};
  return "'" + name + "' is not a time zone of this system; use a name such as Europe/Berlin";
}

std::string local_time_zone(const std::filesystem::path& etc) {
  const char* const tz = std::getenv("TZ");
  auto zone = stated_zone(tz, etc);
  if (!zone.empty() && time_zone_problem(zone).empty()) return zone;
  auto const source = tz != nullptr ? "TZ '" + printable(tz) + "'" : (etc / "localtime").string();
  std::fprintf(stderr,
               "reprise: %s does not name a time zone, so none is recorded, and pages use the "
               "browser's; name one with --timezone\n",
               source.c_str());
  return {};
}

}  // namespace reprise
