#pragma once

// The changes of one stored response, apart from those in documents. Pure, except that an image is
// encoded by another program.

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "archive/exchange.h"
#include "base/coding/coding.h"

namespace reprise::whatif {

/// A stored response with its body in memory, coded as its fields say.
struct Reply {
  StoredReply& stored;
  coding::Buffer body;
};

/// What a change came to: true if it changed anything; the error says why it cannot be made.
using Change = std::expected<bool, std::string>;

/// The fields without those called `name`, and with one at the end if there is a value.
Headers with_field(HeaderList fields, std::string_view name, std::optional<std::string_view> value);

/// Its fields once the body is another one: Content-Length, if it was stated, and digests fit.
Headers fields_for(HeaderList fields, const coding::Buffer& body);

/// An empty response with this status that may not be stored; what permits another origin to read
/// it stays.
Change set_status(Reply& reply, std::uint16_t code);

/// Another body, without a content coding.
Change set_plain_body(Reply& reply, std::string_view bytes);

/// The decoded body. Errors: it is damaged, larger than DecodeLimits, or in an unknown coding.
std::expected<coding::Buffer, std::string> plain_body(const Reply& reply);

/// Puts `plain` in place of what plain_body() gave, in the same codings, by about the same effort.
Change replace_plain(Reply& reply, const coding::Buffer& plain);

/// Decodes the body and encodes it with this coding, or none. False: it is coded so.
Change compress(Reply& reply, std::optional<coding::Coding> coding);

/// Whether a browser can take the response to such a request from its cache.
bool may_be_cached(std::string_view method);

/// `Cache-Control: public, max-age=..., immutable`, or no-store for zero, in place of what else
/// says how long it may be kept.
Change cache_for(Reply& reply, std::chrono::seconds age);

}  // namespace reprise::whatif
