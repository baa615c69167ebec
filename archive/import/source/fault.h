#pragma once

#include <string>
#include <system_error>

namespace reprise::importing {

/// Why a recording cannot be read any further, as a clause for users that names the record or the
/// byte: "record 12 at byte 4711: its Content-Length is missing".
struct Fault {
  std::string what;
  /// Set if the system failed (a full disk, a read error), not the recording.
  std::error_code system;
  /// The recording is damaged, and there may be more to read after the damage.
  bool is_damage = false;
  /// The archive could not be written (`system` says why): no reading goes on after that.
  bool is_output = false;
};

}  // namespace reprise::importing
