#pragma once

// Changes one response; its head as an editable text. Pure except for the copy.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "archive/copy.h"
#include "archive/exchange.h"

namespace reprise {

/// The editable parts of a response's head.
struct ReplyHead {
  std::uint16_t status = 0;
  std::string reason;
  Headers headers;
};

/// "200 OK", then one line "Name: value" per field. Returns nothing if the text cannot express the
/// head: a line break or a colon in a name, a line break in a value, white space around one.
std::optional<std::string> head_text(const StoredReply& reply);

struct HeadFault {
  std::size_t line = 0;  ///< from 1
  std::string what;
};
/// Parses that text. Lines end in LF or CRLF; empty lines at the end are ignored.
std::expected<ReplyHead, HeadFault> parse_head_text(std::string_view text);

/// Sets every Content-Length among `headers` to `size_bytes`; all other fields stay.
Headers with_content_length(const Headers& headers, std::uint64_t size_bytes);

/// Replaces the body; no field changes. The times of the chunks stay those of the recorded
/// body, whose size is kept (timed_bytes); an empty body has none.
void replace_body(StoredReply& reply, StoredBody body);
/// The same, and adjusts Content-Length.
void set_body(StoredReply& reply, StoredBody body);

/// Copies an archive and replaces head and body of one response. Content-Length is adjusted; times,
/// protocol, trailers and connection stay.
class EditedCopy final : public ArchiveCopy {
 public:
  /// `body` is encoded as `head` says, and borrowed; nothing: keep the present body.
  /// `completes`: the body is a whole one, so that a cut response becomes complete.
  EditedCopy(const ArchiveReader& from, ArchiveWriter& to, std::uint32_t ordinal, ReplyHead head,
             std::optional<std::span<const std::byte>> body, bool completes = false)
      : ArchiveCopy(from, to),
        ordinal_(ordinal),
        head_(std::move(head)),
        body_(body),
        completes_(completes) {}

 protected:
  Result<void> carry(std::uint32_t ordinal, Exchange& exchange) override;

 private:
  std::uint32_t ordinal_;
  ReplyHead head_;
  std::optional<std::span<const std::byte>> body_;
  bool completes_;
};

/// Stores bytes that are in memory.
Result<StoredBody> store_body(ArchiveWriter& to, std::span<const std::byte> bytes);

}  // namespace reprise
