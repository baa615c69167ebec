#pragma once

// What a WebSocket carried, for people and as JSON.

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>

#include "archive/web_socket.h"
#include "tools/archive/open.h"

namespace reprise {

/// Text and binary messages, whole ones; those that are damaged are not counted.
struct MessageTally {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};
MessageTally messages_of(const ArchiveReader& reader, const MessageOwner& owner);

/// A line a message, each cut to a terminal's width; of many only the first ones.
void print_messages(const ArchiveReader& reader, const MessageOwner& owner);
/// Each with its sender, kind, time and size, without what it says.
boost::json::array messages_json(const ArchiveReader& reader, const MessageOwner& owner);

/// `cat --messages`: a line of JSON a record behind `exchange`, payloads included: `text` where
/// they are UTF-8, else `base64`.
int cat_messages(const OpenArchive& archive, const Exchange& exchange, std::size_t number);

}  // namespace reprise
