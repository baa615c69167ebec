#pragma once

#include <string>
#include <system_error>

namespace reprise::importing {

/// Why a recording cannot be read on, as one clause for people that names the record or the byte:
/// "record 12 at byte 4711: its Content-Length is missing".
struct Fault {
  std::string what;
  /// Set when the system failed (a full disk, a read error) and the recording is not to blame.
  std::error_code system;
  /// The recording is damaged, and there may be more to read behind it.
  bool is_damage = false;
};

}  // namespace reprise::importing
