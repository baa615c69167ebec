#include "tools/archive/editor.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/system/execute.h"
#include "base/system/private_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kEditedBytesMax = 256 << 20;

std::string editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "vi";
}

}  // namespace

std::expected<std::string, std::string> read_whole_file(const fs::path& path,
                                                        std::uint64_t bytes_max) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::array<char, 64 << 10> piece;
  while (file) {
    file.read(piece.data(), piece.size());
    bytes.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > bytes_max) {
      return std::unexpected(path.string() + ": larger than " + std::to_string(bytes_max >> 20) +
                             " MiB, the limit for editing");
    }
  }
  if (file.eof()) return bytes;
  return std::unexpected(path.string() + ": cannot read: " + strerror(errno == 0 ? EIO : errno));
}

std::expected<std::string, std::string> edit_by_hand(const std::string& text,
                                                     const std::string& name) {
  auto const folder = PrivateFolder::make("reprise-edit-");
  if (!folder) return std::unexpected("cannot create a folder: " + folder.error().message());
  auto const file = folder->path() / name;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) return std::unexpected(file.string() + " cannot be written");
  auto const command = editor_command();
  // The variable may contain options, so a shell parses it.
  auto const status =
      run_in_foreground("/bin/sh", {"-c", command + " \"$1\"", "sh", file.string()});
  if (!status) return std::unexpected(status.error());
  if (*status != 0) {
    return std::unexpected("the editor (" + command + ") failed: nothing was changed");
  }
  return read_whole_file(file, kEditedBytesMax);
}

}  // namespace reprise
