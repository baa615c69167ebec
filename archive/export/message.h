#pragma once

// One side of an exchange as an HTTP/1.1 message (RFC 9112), as in WARC and Web Page Replay: h2
// messages have this form, too; their version is written beside them.

#include <cstdint>
#include <string>

#include "archive/export/job.h"

namespace reprise::exporting {

/// The text before, around and after a stored body.
struct Message {
  std::string head;  ///< with its empty line
  const StoredBody* body = nullptr;
  bool chunked = false;
  bool whole = true;  ///< false: no last chunk
  std::string trailers;
};

/// Whether the method and host are valid in a message; an archive may come from a stranger. A host
/// beyond ASCII is not: only its Punycode is sent.
bool is_writable(const Exchange& exchange);

/// `exchange` must outlive them. A Host is added where it is missing: over a protocol that has no
/// such field (h2, h3), or always.
enum class AddHost : std::uint8_t { kToMultiplexed, kAlways };
Message request_message(Job& job, const Exchange& exchange, AddHost add_host);
/// `version`: for the status line.
Message response_message(Job& job, const Exchange& exchange, std::string_view version);

/// "example.org:8443", with the port unless it is the scheme's default.
std::string authority_of(const StoredRequest& request);

/// Writes the whole message. False if it is damaged.
bool write_message(Job& job, const Message& message, Output& to);

}  // namespace reprise::exporting
