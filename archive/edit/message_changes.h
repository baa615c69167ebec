#pragma once

// Compares the messages of two WebSockets. Pure.

#include <cstdint>
#include <optional>

#include "archive/reader.h"
#include "archive/web_socket.h"
#include "base/result.h"

namespace reprise {

/// What differs. Messages are counted with pings, pongs, closes and ends of the connection; one
/// that is stored in pieces counts once, where its last piece is.
struct MessageChanges {
  std::uint64_t a_count = 0;
  std::uint64_t b_count = 0;
  /// The first message, from 1, of which sender, kind or payload differ, or that one archive lacks.
  std::optional<std::uint64_t> first_changed;
  bool other_times = false;  ///< of messages that are the same

  bool any(bool with_times) const {
    return first_changed.has_value() || (with_times && other_times);
  }
};

/// Compares in recorded order, in bounded memory. Errors: corrupt if a message is damaged.
Result<MessageChanges> compare_messages(const ArchiveReader& a, const MessageOwner& of_a,
                                        const ArchiveReader& b, const MessageOwner& of_b);

}  // namespace reprise
