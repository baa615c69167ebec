#pragma once

// DNS messages as bytes: RFC 1035 with its name compression, EDNS0 (RFC 6891), SVCB and HTTPS (RFC
// 9460). Pure. Decoding is safe for hostile messages: every length is checked, pointers lead only
// backwards, a name follows at most 128 of them, and the result is at most about thirty times as
// large as the message.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dns/message.h"

namespace reprise::dns {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kMessageMax = 65535;

/// Decodes one whole message. Errors: truncated, bad_name, bad_pointer, bad_record, bad_edns,
/// trailing_bytes.
Result<Message> decode(std::span<const std::uint8_t> bytes);

/// Encodes the message, with names compressed where RFC 1035 and RFC 3597 permit it, and returns
/// its size. OPT is the first of the additional records. Errors: too_large if `out` is too small or
/// a count or length overflows; bad_edns for an rcode over 15 without EDNS; bad_record for data
/// that no record can hold.
Result<std::size_t> encode(const Message& message, std::span<std::uint8_t> out);

// The data of one SVCB or HTTPS record alone (RFC 9460 section 2.2). Errors: as of decode() and
// encode().
Result<Svcb> decode_svcb(std::string_view data);
Result<std::string> encode_svcb(const Svcb& svcb);

}  // namespace reprise::dns
