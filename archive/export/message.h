#pragma once

// One side of an exchange as an HTTP/1.1 message (RFC 9112), as WARC and Web Page Replay keep them:
// h2 messages are written so too, and what says that they were stands beside them.

#include <cstdint>
#include <string>

#include "archive/export/job.h"

namespace reprise::exporting {

/// What stands before, around and behind a stored body.
struct Message {
  std::string head;  ///< with its empty line
  const StoredBody* body = nullptr;
  bool chunked = false;
  bool whole = true;  ///< false: no last chunk
  std::string trailers;
};

/// Whether a method and host are ones that a message can hold; an archive may come from a stranger.
bool is_writable(const Exchange& exchange);

/// `exchange` must outlive them. A Host is added where it is missing: over a protocol that has no
/// such field (h2, h3), or always.
enum class AddHost : std::uint8_t { kToMultiplexed, kAlways };
Message request_message(Job& job, const Exchange& exchange, AddHost add_host);
/// `version` stands in the status line.
Message response_message(Job& job, const Exchange& exchange, std::string_view version);

/// "example.org:8443", the port only if it is not the scheme's.
std::string authority_of(const StoredRequest& request);

/// All of it. False at damage.
bool write_message(Job& job, const Message& message, Output& to);

}  // namespace reprise::exporting
