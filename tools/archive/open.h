#pragma once

// Archives and filters on the command line of `reprise archive`: opened, made, and what is wrong
// with them said on stderr.

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

/// Nothing, once it was said why it does not open.
std::optional<OpenArchive> open_or_say(const std::filesystem::path& path);
/// How a file that opened was found to be, when there is something to say.
void print_remarks(const OpenArchive& archive);
/// Both, for commands that make another archive of it.
std::optional<OpenArchive> open_with_remarks(const std::filesystem::path& path);

/// Says what is wrong with the archive at `path`; returns the exit code.
int say_unusable(const std::filesystem::path& path, std::error_code error);

/// An archive that is being made, removed again unless it was finished, also where SIGINT, SIGTERM
/// or SIGHUP ends the process before. One at a time.
class NewArchive {
 public:
  /// Nothing, once it was said why it cannot be made. Never overwrites.
  static std::optional<NewArchive> make(const std::filesystem::path& path);
  ~NewArchive();
  NewArchive(NewArchive&&) noexcept;
  NewArchive& operator=(NewArchive&&) = delete;

  ArchiveWriter& writer() const { return *writer_; }
  const std::filesystem::path& path() const { return path_; }
  /// Closes it. Says what went wrong; returns the exit code.
  int finish();

 private:
  NewArchive(std::filesystem::path path, std::unique_ptr<ArchiveWriter> writer);

  std::filesystem::path path_;
  std::unique_ptr<ArchiveWriter> writer_;  ///< null once finished
};

/// What --help says of filters.
inline constexpr const char* kFilterHelp =
    "A FILTER is, for example, 'host=.example.org status=4xx or type=image !path=/keep/*'. Terms "
    "without `or`\nbetween them must all match; there are or, not and parentheses. Fields: host "
    "path query url method scheme\ntype protocol outcome header status time size session number. "
    "See FILTERS in reprise(1).";

/// Nothing, once it was said, with a caret, why it is none.
std::optional<Filter> parse_filter(const std::string& text);

/// `exit_code` unless what was printed on stdout did not arrive.
int after_output(int exit_code);

}  // namespace reprise
