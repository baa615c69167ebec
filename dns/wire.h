#pragma once

// DNS messages as bytes: RFC 1035 with its name compression, EDNS0 (RFC 6891), SVCB and HTTPS
// (RFC 9460). Pure; messages of strangers are safe to decode: every length is checked, pointers
// only ever lead backwards, and what is decoded is at most some thirty times as large.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dns/message.h"

namespace reprise::dns {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kMessageMax = 65535;

/// Reads one whole message. Errors: truncated, bad_name, bad_pointer, bad_record, bad_edns,
/// trailing_bytes.
Result<Message> decode(std::span<const std::uint8_t> bytes);

/// Writes the message, names compressed where RFC 1035 and RFC 3597 allow it, and returns its size.
/// OPT is written first of the additional records. Errors: too_large when `out` cannot hold it or a
/// count or length has no room; bad_edns for an rcode over 15 without EDNS; bad_record for data
/// that no record can hold.
Result<std::size_t> encode(const Message& message, std::span<std::uint8_t> out);

// The data of one SVCB or HTTPS record alone (RFC 9460 section 2.2). Errors: those of decode();
// those of encode().
Result<Svcb> decode_svcb(std::string_view data);
Result<std::string> encode_svcb(const Svcb& svcb);

}  // namespace reprise::dns
