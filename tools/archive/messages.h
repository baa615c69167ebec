#pragma once

// The messages of a WebSocket, for users and as JSON.

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>

#include "archive/web_socket.h"
#include "tools/archive/open.h"

namespace reprise {

/// Counts complete text and binary messages; damaged ones are not counted.
struct MessageTally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};
MessageTally messages_of(const ArchiveReader& reader, const MessageOwner& owner);

/// One line per message, each cut to a terminal's width; of many messages only the first ones.
void print_messages(const ArchiveReader& reader, const MessageOwner& owner);
/// Each with its sender, kind, time and size, without its contents.
boost::json::array messages_json(const ArchiveReader& reader, const MessageOwner& owner);

/// `cat --messages`: one line of JSON per record of `exchange`, including payloads: `text` if they
/// are UTF-8, else `base64`.
int cat_messages(const OpenArchive& archive, const Exchange& exchange, std::size_t number);

}  // namespace reprise
