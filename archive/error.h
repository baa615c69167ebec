#pragma once

#include <system_error>

namespace reprise {

/// Errors of archives.
enum class archive_errc {
  not_an_archive = 1,  ///< the magic is missing: another kind of file
  newer_version,       ///< written by a later reprise: update this one
  bad_header,          ///< the header of the file is damaged: nothing can be read
  corrupt,             ///< a record or body does not match its checksum
  too_large,           ///< exceeds a limit of the format
  locked,              ///< another process reads or writes it
  already_exists,      ///< create() never overwrites
  removed,             ///< its file was removed or replaced
};

const std::error_category& archive_category();
std::error_code make_error_code(archive_errc error);

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::archive_errc> : std::true_type {};
