#pragma once

// Archives and filters on the command line of `reprise archive`: opens and creates them, and prints
// errors on stderr.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "archive/edit/filter.h"
#include "archive/reader.h"
#include "archive/writer.h"

namespace reprise {

/// An archive on the command line.
struct OpenArchive {
  std::filesystem::path path;
  std::unique_ptr<ArchiveReader> reader;
};

/// Returns nothing if it cannot be opened; the error has been printed.
std::optional<OpenArchive> open_or_say(const std::filesystem::path& path);
/// Prints remarks about an archive's state, if there are any.
void print_remarks(const OpenArchive& archive);
/// Opens an archive and prints its remarks, for commands that make another archive from it.
std::optional<OpenArchive> open_with_remarks(const std::filesystem::path& path);

/// Whether opening it found damaged records, so that only a repair may replace it, which keeps a
/// copy, or more facts than fit into memory, so that nothing may; prints that. For commands that
/// replace an archive: before the user's work. A damaged exchange of a closed archive is found only
/// when it is copied.
bool refuses_as_damaged(const OpenArchive& archive);

/// Prints an error about the archive at `path`; returns the exit code.
int say_unusable(const std::filesystem::path& path, std::error_code error);

/// An archive under construction. It is removed unless it was finished, even if SIGINT, SIGTERM or
/// SIGHUP ends the process. One at a time.
class NewArchive {
 public:
  /// Returns nothing if it cannot be created; the error has been printed. Never overwrites.
  static std::optional<NewArchive> make(const std::filesystem::path& path);
  ~NewArchive();
  NewArchive(NewArchive&&) noexcept;
  NewArchive& operator=(NewArchive&&) = delete;

  ArchiveWriter& writer() const { return *writer_; }
  const std::filesystem::path& path() const { return path_; }
  /// Closes the archive. Prints an error, if any; returns the exit code.
  int finish();

 private:
  NewArchive(std::filesystem::path path, std::unique_ptr<ArchiveWriter> writer);

  std::filesystem::path path_;
  std::unique_ptr<ArchiveWriter> writer_;  ///< null once finished
};

/// The text about filters in --help.
inline constexpr const char* kFilterHelp =
    "A FILTER is, for example, 'host=.example.org status=4xx or type=image !path=/keep/*'. Terms "
    "without `or`\nbetween them must all match; there are or, not and parentheses. Fields: host "
    "path query url method scheme\ntype protocol outcome header status time size session number. "
    "See FILTERS in reprise(1).";

/// Returns nothing if the text is invalid; the error has been printed, with a caret.
std::optional<Filter> parse_filter(const std::string& text);

}  // namespace reprise
