#pragma once

// The fields of entries of the Performance Timeline, for both ways to read them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "analysis/beacons/beacon_json.h"
#include "base/text/byte_words.h"

namespace reprise {

enum class EntryReader::Field : std::uint8_t {
  // The moments, in their order.
  kRedirectStart,
  kRedirectEnd,
  kLookupStart,
  kLookupEnd,
  kConnectStart,
  kTlsStart,
  kConnectEnd,
  kRequest,
  kResponse,
  // Other numbers.
  kFinalResponse,
  kStart,
  kDuration,
  kResponseEnd,
  kLoad,
  kTransferSize,
  kDecodedSize,
  kStatus,
  kLayoutStart,
  kNumbers,  ///< how many; not a field
  kName,
  kEntryType,
  kInitiator,
  kDelivery,
  kProtocol,
  kMime,
  kServerTiming,
  kScripts,
  kUnused,
};

struct EntryReader::NamedField {
  std::string_view name;
  Field field;
};

/// In the order of Chromium. Unused ones are here to be recognized at once.
constexpr std::array<EntryReader::NamedField, 39> EntryReader::kFields = {{
    {"name", Field::kName},
    {"entryType", Field::kEntryType},
    {"startTime", Field::kStart},
    {"duration", Field::kDuration},
    {"navigationId", Field::kUnused},
    {"initiatorType", Field::kInitiator},
    {"deliveryType", Field::kDelivery},
    {"nextHopProtocol", Field::kProtocol},
    {"renderBlockingStatus", Field::kUnused},
    {"contentType", Field::kMime},
    {"contentEncoding", Field::kUnused},
    {"workerStart", Field::kUnused},
    {"workerRouterEvaluationStart", Field::kUnused},
    {"workerCacheLookupStart", Field::kUnused},
    {"workerMatchedSourceType", Field::kUnused},
    {"workerFinalSourceType", Field::kUnused},
    {"redirectStart", Field::kRedirectStart},
    {"redirectEnd", Field::kRedirectEnd},
    {"fetchStart", Field::kUnused},
    {"domainLookupStart", Field::kLookupStart},
    {"domainLookupEnd", Field::kLookupEnd},
    {"connectStart", Field::kConnectStart},
    {"secureConnectionStart", Field::kTlsStart},
    {"connectEnd", Field::kConnectEnd},
    {"requestStart", Field::kRequest},
    {"responseStart", Field::kResponse},
    {"firstInterimResponseStart", Field::kUnused},
    {"finalResponseHeadersStart", Field::kFinalResponse},
    {"responseEnd", Field::kResponseEnd},
    {"transferSize", Field::kTransferSize},
    {"encodedBodySize", Field::kUnused},
    {"decodedBodySize", Field::kDecodedSize},
    {"responseStatus", Field::kStatus},
    {"serverTiming", Field::kServerTiming},
    {"loadEventStart", Field::kLoad},
    {"styleAndLayoutStart", Field::kLayoutStart},
    {"scripts", Field::kScripts},
    {"renderStart", Field::kUnused},
    {"blockingDuration", Field::kUnused},
}};

/// The fields of one entry, whatever its type.
struct EntryReader::Entry {
  /// Times in us, and counts.
  std::array<std::int64_t, static_cast<std::size_t>(Field::kNumbers)> numbers = {};
  std::int64_t end_us = 0;  ///< of the duration; not needed of a request with a responseEnd
  std::string_view name, type, initiator, delivery, protocol, mime;
  std::size_t works_before = 0;
  std::size_t server_times_before = 0;

  std::int64_t number(Field field) const { return numbers[static_cast<std::size_t>(field)]; }
  void set(Field field, std::int64_t number) { numbers[static_cast<std::size_t>(field)] = number; }
};

constexpr bool EntryReader::is_count(Field field) {
  return field == Field::kTransferSize || field == Field::kDecodedSize || field == Field::kStatus;
}

inline EntryReader::Field EntryReader::field_at(std::size_t place, const char* key) {
  // Reads up to a name's length beyond the key: within the padding.
  auto const is = [key](const NamedField& field) {
    auto const size = field.name.size();
    if (key[size] != '"') return false;
    if (size < kWordBytes || size > 2 * kWordBytes)
      return std::memcmp(key, field.name.data(), size) == 0;
    // Two words that overlap, without a call.
    const char* const name = field.name.data();
    return word_at(key) == word_at(name) &&
           word_at(key + size - kWordBytes) == word_at(name + size - kWordBytes);
  };
  auto& expected = order_[std::min(place, order_.size() - 1)];
  if (is(kFields[expected])) return kFields[expected].field;
  auto const found = std::ranges::find_if(kFields, is);
  if (found == kFields.end()) return Field::kUnused;
  expected = static_cast<std::uint8_t>(found - kFields.begin());
  return found->field;
}

}  // namespace reprise
