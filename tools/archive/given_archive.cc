#include "tools/archive/given_archive.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "archive/import/import.h"
#include "archive/import/source/decompress.h"
#include "tools/archive/import.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace reprise {

namespace fs = std::filesystem;

fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

/// Compressed recordings are recognised only when they are read.
bool GivenArchive::is_imported(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return importing::is_mahimahi_folder(path);
  if (!fs::is_regular_file(path, error)) return false;
  std::array<char, 4096> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  std::string_view const text(start.data(), static_cast<std::size_t>(file.gcount()));
  return importing::compression_of(text) != importing::Compression::kNone ||
         importing::recognise(text) != importing::RecordingKind::kUnknown;
}

std::expected<GivenArchive, int> GivenArchive::place_for(const fs::path& path) {
  auto folder = PrivateFolder::make("reprise-import-");
  if (!folder) {
    std::fprintf(stderr, "reprise: cannot create a folder to import %s: %s\n", path.c_str(),
                 folder.error().message().c_str());
    return std::unexpected(kExitFailed);
  }
  GivenArchive given(folder->path() / without_slash(path).filename().concat(".reprise"));
  given.folder_ = std::move(*folder);
  return given;
}

std::expected<GivenArchive, int> GivenArchive::amended(const GivenArchive& given,
                                                       const Amend& amend) {
  auto copy = place_for(given.path());
  if (!copy) return copy;
  if (int const code = amend(given.path(), copy->path()); code != kExitDone) {
    return std::unexpected(code);
  }
  return copy;
}

std::expected<GivenArchive, int> GivenArchive::take(const fs::path& path) {
  if (!is_imported(path)) return GivenArchive(path);
  auto given = place_for(path);
  if (!given) return given;
  std::fprintf(stderr,
               "reprise: importing %s, a recording of another tool, for this run only. Run "
               "`reprise archive import` to keep the archive\n",
               path.c_str());
  if (int const code = import_recording(path, given->path_); code != kExitDone) {
    return std::unexpected(code);
  }
  // A signal that came at the end of the import has been taken from the event loop's signals.
  if (Interruption::was_asked()) return std::unexpected(Interruption::exit_code());
  return given;
}

}  // namespace reprise
