#include "view/page_link.h"

#include <string_view>

namespace reprise {
namespace {

/// Unreserved characters, and the slash.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").contains(c);
}

}  // namespace

std::string link_between(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  auto const folder = from == "-" ? std::filesystem::path(".") : from.parent_path();
  auto const absolute = std::filesystem::absolute(folder.empty() ? "." : folder, error);
  auto const relative = std::filesystem::absolute(to, error).lexically_normal().lexically_relative(
      absolute.lexically_normal());
  std::string link;
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (char const c : relative.generic_string()) {
    if (is_plain(c)) {
      link += c;
    } else {
      auto const byte = static_cast<unsigned char>(c);
      link += '%';
      link += kHex[byte >> 4];
      link += kHex[byte & 15];
    }
  }
  return link;
}

}  // namespace reprise
