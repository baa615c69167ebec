#pragma once

// Changes to one response, and its head as people edit it. Pure but for the copy.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "archive/copy.h"
#include "archive/exchange.h"

namespace reprise {

/// What of a response's head can be edited.
struct ReplyHead {
  std::uint16_t status = 0;
  std::string reason;
  Headers headers;
};

/// "200 OK", then a line "Name: value" a field. Nothing for a head that no such text can carry: a
/// line break or a colon in a name, a line break in a value, white space around one.
std::optional<std::string> head_text(const StoredReply& reply);

struct HeadFault {
  std::size_t line = 0;  ///< from 1
  std::string what;
};
/// The reverse. Lines end in LF or CRLF, empty lines at the end are left out.
std::expected<ReplyHead, HeadFault> parse_head_text(std::string_view text);

/// Sets every Content-Length among `headers` to `size_bytes`; all else stays as it is.
Headers with_content_length(const Headers& headers, std::uint64_t size_bytes);

/// Puts a body of another size in the place of one: Content-Length and the ends of the chunks,
/// which keep their times, follow.
void set_body(StoredReply& reply, StoredBody body);

/// Whether a response to `method` of this status has a body (RFC 9110 section 6.4.1).
bool may_have_body(std::string_view method, std::uint16_t status);

/// Copies an archive with one response changed: head and body are the ones given, Content-Length
/// follows the body, and all else (times, protocol, trailers, connection) stays.
class EditedCopy final : public ArchiveCopy {
 public:
  /// `body`, coded as `head` says, is borrowed; nothing: it stays as it is.
  EditedCopy(const ArchiveReader& from, ArchiveWriter& to, std::uint32_t ordinal, ReplyHead head,
             std::optional<std::span<const std::byte>> body)
      : ArchiveCopy(from, to), ordinal_(ordinal), head_(std::move(head)), body_(body) {}

 protected:
  Result<void> carry(std::uint32_t ordinal, Exchange& exchange) override;

 private:
  std::uint32_t ordinal_;
  ReplyHead head_;
  std::optional<std::span<const std::byte>> body_;
};

/// Stores bytes that are in memory.
Result<StoredBody> store_body(ArchiveWriter& to, std::span<const std::byte> bytes);

}  // namespace reprise
