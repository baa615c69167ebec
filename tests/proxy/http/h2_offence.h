#pragma once

// Tables of what a client must not do (RFC 9113), and how the server answers.

#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "tests/proxy/http/h2_site.h"

namespace reprise {

struct Offence {
  const char* name;
  std::uint32_t error;
  std::function<std::string(FrameClient&)> bytes;
  bool of_stream = false;  ///< only this stream may end by it
};

inline void PrintTo(const Offence& offence, std::ostream* out) {
  *out << offence.name;
}
inline std::string name_of(const testing::TestParamInfo<Offence>& info) {
  return info.param.name;
}

class H2Offence : public H2ServerTest, public testing::WithParamInterface<Offence> {};

/// The code of the first RST_STREAM or GOAWAY.
inline awaitable<std::string> verdict(FrameClient& client) {
  while (auto const found = co_await client.next()) {
    if (found->type == NGHTTP2_GOAWAY) {
      co_return "connection " + std::to_string(u32_at(found->payload, 4));
    }
    if (found->type == NGHTTP2_RST_STREAM) {
      co_return "stream " + std::to_string(u32_at(found->payload, 0));
    }
  }
  co_return "nothing";
}

inline Offence sends(const char* name, std::uint32_t error, std::string bytes) {
  return {name, error, [bytes](FrameClient&) { return bytes; }};
}
/// On stream 1, whose request is open, sends more.
inline Offence after_head(const char* name, std::uint32_t error, std::string bytes,
                          bool of_stream) {
  return {name, error,
          [bytes](FrameClient& client) {
            return client.head(1, request_fields("/wait", "POST"), 0) + bytes;
          },
          of_stream};
}
/// On stream 1, which the client has reset, sends more.
inline Offence after_reset(const char* name, std::uint32_t error, const std::string& bytes) {
  return after_head(name, error, frame(NGHTTP2_RST_STREAM, 0, 1, u32(NGHTTP2_CANCEL)) + bytes,
                    false);
}
/// On stream 1, whose request is whole, sends more.
inline Offence after_end(const char* name, std::uint32_t error, std::string bytes) {
  return {name, error,
          [bytes](FrameClient& client) { return client.head(1, request_fields("/wait")) + bytes; }};
}
/// A malformed request (section 8.1.1).
inline Offence asks(const char* name, Fields fields, std::string content = {}) {
  return {name, NGHTTP2_PROTOCOL_ERROR,
          [fields, content](FrameClient& client) {
            if (content.empty()) return client.head(1, fields);
            return client.head(1, fields, 0) + FrameClient::data(1, content, kEnd);
          },
          true};
}
/// Malformed trailers.
inline Offence trails(const char* name, Fields fields, std::uint8_t flags = kEnd) {
  return {name, NGHTTP2_PROTOCOL_ERROR,
          [fields, flags](FrameClient& client) {
            return client.head(1, request_fields("/wait", "POST"), 0) +
                   client.head(1, fields, flags);
          },
          true};
}
inline Fields with(std::string name, std::string value) {
  auto fields = request_fields("/wait");
  fields.emplace_back(std::move(name), std::move(value));
  return fields;
}
inline Fields without(const std::string& name) {
  auto fields = request_fields("/wait");
  std::erase_if(fields, [&](auto const& field) { return field.first == name; });
  return fields;
}
inline Fields changed(const std::string& name, const std::string& value) {
  auto fields = request_fields("/wait");
  for (auto& field : fields) {
    if (field.first == name) field.second = value;
  }
  return fields;
}

}  // namespace reprise
