#include "base/system/text_file.h"

#include <fstream>
#include <iterator>
#include <system_error>

namespace reprise {

Result<std::string> read_text_file(const std::filesystem::path& path, std::uintmax_t bytes_max) {
  std::error_code error;
  auto const size = std::filesystem::file_size(path, error);
  if (error) return fail(error);
  if (size > bytes_max) return fail(std::make_error_code(std::errc::file_too_large));
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(std::make_error_code(std::errc::permission_denied));
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace reprise
