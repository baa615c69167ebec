#include "pageload/results/trace_path.h"

#include <system_error>

namespace reprise {

std::filesystem::path trace_path(const PageLoad& page, const std::filesystem::path& result) {
  if (page.trace.empty()) return {};
  std::filesystem::path const given = page.trace;
  auto const folder = result.parent_path();
  std::error_code error;
  // Before the working folder, in which another result can have traces of the same names.
  if (auto beside = folder / given; std::filesystem::exists(beside, error)) return beside;
  if (std::filesystem::exists(given, error)) return given;
  return folder / given.filename();
}

}  // namespace reprise
