#pragma once

// Converts between the exchange model and the payloads of structured records (archive.proto). Pure.
// Payloads to decode are hostile: counts are limited before they cost memory.

#include <cstddef>
#include <optional>
#include <string>

#include "archive/exchange.h"
#include "archive/record.h"
#include "base/result.h"

namespace reprise {

inline constexpr std::size_t kHeaderFieldsMax = 65'536;  ///< per head or trailer section
inline constexpr std::size_t kInterimMax = 1'024;
inline constexpr std::size_t kExtentsMax = 1 << 20;   ///< per body: 256 GiB in full chunks
inline constexpr std::size_t kStringsMax = 65'536;    ///< certificate names, arguments, pages
inline constexpr std::size_t kDnsRecordsMax = 1'024;  ///< per answer, of each kind

// Errors of all encoders: too_large.
Result<std::string> encode_exchange(const Exchange& exchange);
Result<std::string> encode_connection(const ConnectionFacts& facts);
Result<std::string> encode_dns_answer(const DnsAnswer& answer);
Result<std::string> encode_session_start(const SessionInfo& info);
std::string encode_session_end(std::uint32_t session);

// Return nothing if no encoder writes such a payload. Fields of later versions are ignored.
std::optional<Exchange> decode_exchange(Bytes payload);
std::optional<ConnectionFacts> decode_connection(Bytes payload);
std::optional<DnsAnswer> decode_dns_answer(Bytes payload);
std::optional<SessionInfo> decode_session_start(Bytes payload);
std::optional<std::uint32_t> decode_session_end(Bytes payload);

}  // namespace reprise
