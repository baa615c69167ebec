#pragma once

// Builds ClientHellos byte by byte, right ones and wrong ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

using ByteString = std::vector<std::byte>;

inline ByteString byte_string_of(std::string_view text) {
  auto const* const data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline void append(ByteString& to, const ByteString& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// `value` in `width` bytes, big endian.
inline ByteString number(std::size_t value, int width) {
  ByteString bytes;
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::byte>(value >> shift & 0xff));
  }
  return bytes;
}

/// `content` behind its length in `width` bytes.
inline ByteString prefixed(int width, const ByteString& content) {
  ByteString bytes = number(content.size(), width);
  append(bytes, content);
  return bytes;
}

inline ByteString u16_list(const std::vector<std::uint16_t>& values) {
  ByteString bytes;
  for (std::uint16_t const value : values) append(bytes, number(value, 2));
  return bytes;
}

inline ByteString server_name_extension(std::string_view name) {
  ByteString entry = number(0, 1);
  append(entry, prefixed(2, byte_string_of(name)));
  return prefixed(2, entry);
}

inline ByteString alpn_extension(std::initializer_list<std::string_view> protocols) {
  ByteString list;
  for (std::string_view const protocol : protocols)
    append(list, prefixed(1, byte_string_of(protocol)));
  return prefixed(2, list);
}

struct HelloParts {
  std::uint16_t legacy_version = 0x0303;
  ByteString session_id = ByteString(32, std::byte{0x51});
  std::vector<std::uint16_t> cipher_suites = {0x1301, 0xc02b};
  ByteString compression = {std::byte{0}};
  std::vector<std::pair<std::uint16_t, ByteString>> extensions;
  bool without_extensions = false;
  ByteString trailing;
};

inline ByteString handshake_message(std::uint8_t type, const ByteString& body) {
  ByteString message = number(type, 1);
  append(message, prefixed(3, body));
  return message;
}

inline ByteString hello_message(const HelloParts& parts) {
  ByteString body = number(parts.legacy_version, 2);
  append(body, ByteString(32, std::byte{0xa5}));
  append(body, prefixed(1, parts.session_id));
  append(body, prefixed(2, u16_list(parts.cipher_suites)));
  append(body, prefixed(1, parts.compression));
  if (!parts.without_extensions) {
    ByteString extensions;
    for (const auto& [type, data] : parts.extensions) {
      append(extensions, number(type, 2));
      append(extensions, prefixed(2, data));
    }
    append(body, prefixed(2, extensions));
  }
  append(body, parts.trailing);
  return handshake_message(1, body);
}

inline ByteString record(const ByteString& payload, std::uint8_t type = 22,
                         std::uint16_t version = 0x0301) {
  ByteString bytes = number(type, 1);
  append(bytes, number(version, 2));
  append(bytes, prefixed(2, payload));
  return bytes;
}

/// `message` over records of at most `payload_bytes` each.
inline ByteString records(const ByteString& message, std::size_t payload_bytes) {
  ByteString bytes;
  for (std::size_t at = 0; at < message.size(); at += payload_bytes) {
    auto const begin = message.begin() + static_cast<std::ptrdiff_t>(at);
    auto const count = std::min(payload_bytes, message.size() - at);
    append(bytes, record({begin, begin + static_cast<std::ptrdiff_t>(count)}));
  }
  return bytes;
}

/// A small but complete offer.
inline HelloParts small_hello() {
  return {.extensions = {{0, server_name_extension("WWW.Example.com")},
                         {10, prefixed(2, u16_list({0x001d, 0x0017}))},
                         {13, prefixed(2, u16_list({0x0403, 0x0804}))},
                         {16, alpn_extension({"h2", "http/1.1"})},
                         {43, prefixed(1, u16_list({0x0304, 0x0303}))}}};
}

/// What Chromium has sent since it offers X25519MLKEM768: GREASE at every turn, an encrypted
/// ClientHello, a key share of 1,216 bytes; about 1.7 KB in all.
inline HelloParts chromium_hello() {
  ByteString key_shares;
  append(key_shares, number(0x4a4a, 2));
  append(key_shares, prefixed(2, ByteString(1)));
  append(key_shares, number(0x11ec, 2));
  append(key_shares, prefixed(2, ByteString(1216, std::byte{0x77})));
  append(key_shares, number(0x001d, 2));
  append(key_shares, prefixed(2, ByteString(32, std::byte{0x78})));
  return {.cipher_suites = {0x2a2a, 0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9,
                            0xcca8, 0xc013, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035},
          .extensions = {{0x9a9a, {}},
                         {0, server_name_extension("static.example.org")},
                         {23, {}},
                         {0xff01, prefixed(1, {})},
                         {10, prefixed(2, u16_list({0x4a4a, 0x11ec, 0x001d, 0x0017, 0x0018}))},
                         {11, prefixed(1, ByteString(1))},
                         {35, {}},
                         {16, alpn_extension({"h2", "http/1.1"})},
                         {5, {std::byte{1}, {}, {}, {}, {}}},
                         {13, prefixed(2, u16_list({0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501,
                                                    0x0806, 0x0601}))},
                         {18, {}},
                         {51, prefixed(2, key_shares)},
                         {45, prefixed(1, {std::byte{1}})},
                         {43, prefixed(1, u16_list({0xdada, 0x0304, 0x0303}))},
                         {27, prefixed(1, u16_list({0x0002}))},
                         {17613, prefixed(2, prefixed(1, byte_string_of("h2")))},
                         {0xfe0d, ByteString(218, std::byte{0xec})},
                         {0x0a0a, ByteString(1)}}};
}

}  // namespace reprise
