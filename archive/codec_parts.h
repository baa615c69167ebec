#pragma once

// Shared by the encoders and decoders of codec.h; only for their source files. Pure.

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <string>

#include "archive/codec.h"

namespace reprise::codec {

/// Errors: too_large.
Result<std::string> serialize(const google::protobuf::MessageLite& message);
/// False if the payload is not such a message, or has more fields than any message has.
bool parse(Bytes payload, google::protobuf::MessageLite& message);

// An unknown time is an absent field.
template <class Set>
void put_time(SessionTime time, Set set) {
  if (time != kNoTime) set(time.count());
}
inline SessionTime get_time(bool known, std::int64_t nanoseconds) {
  return known ? SessionTime(nanoseconds) : kNoTime;
}

void put_digest(const Sha256& digest, std::string& out);
bool get_digest(const std::string& bytes, Sha256& out);

/// A number of the file as an enumerator from `first` to `last`, or as a narrower integer.
template <class T>
bool get_number(std::uint32_t number, T first, T last, T& out) {
  if (number < static_cast<std::uint32_t>(first) || number > static_cast<std::uint32_t>(last)) {
    return false;
  }
  out = static_cast<T>(number);
  return true;
}
inline bool get_u16(std::uint32_t number, std::uint16_t& out) {
  return get_number<std::uint16_t>(number, 0, UINT16_MAX, out);
}

}  // namespace reprise::codec
