#pragma once

// A trace as JSON (analysis/trench/TRENCH.md), and what that needs to be in header fields.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emitters/cpp/trench.h"

namespace trench {

/// The length of the UTF-8 character that `text` begins with; 0 if that is not valid.
inline std::size_t utf8_length(std::string_view text) {
  auto const byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  auto const first = byte(0);
  if (first < 0x80) return 1;
  std::size_t const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  bool const is_too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  bool const is_surrogate = first == 0xed && byte(1) >= 0xa0;
  bool const is_too_large = first == 0xf4 && byte(1) >= 0x90;
  return is_too_long || is_surrogate || is_too_large ? 0 : length;
}

/// In quotes. Bytes that are not UTF-8 become question marks.
inline std::string json_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    auto const length = utf8_length(text);
    auto const first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += '?';
    } else if (first < 0x20) {
      out += "\\u00";
      out += kHex[first >> 4];
      out += kHex[first & 15];
    } else {
      if (first == '"' || first == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

/// Milliseconds with at most three decimals.
inline std::string ms_text(std::int64_t ns) {
  auto const us = (ns + 500) / 1000;
  auto text = std::to_string(us / 1000);
  if (us % 1000 == 0) return text;
  auto decimals = std::to_string(1000 + us % 1000);
  decimals[0] = '.';
  return text + decimals.substr(0, decimals.find_last_not_of('0') + 1);
}

/// Its rows are those that the server calls, each followed by what it calls.
inline std::string json_of(const Trace::Content& content) {
  // The place of each node in the JSON.
  std::vector<std::uint32_t> order, places(content.nodes.size()), waiting;
  for (auto node = content.nodes.size(); node-- > 0;) {
    if (content.nodes[node].caller == Trace::kNone) {
      waiting.push_back(static_cast<std::uint32_t>(node));
    }
  }
  while (!waiting.empty()) {
    auto const node = waiting.back();
    waiting.pop_back();
    places[node] = static_cast<std::uint32_t>(order.size());
    order.push_back(node);
    auto const& called = content.nodes[node].called;
    waiting.insert(waiting.end(), called.rbegin(), called.rend());
  }

  std::string out = R"({"version":1,"stackColumns":["point","hits","ms","children"],"stack":[)";
  auto const separate = [&out] {
    if (out.back() != '[') out += ',';
  };
  for (auto const place : order) {
    auto const& node = content.nodes[place];
    separate();
    out += "[" + std::to_string(node.point) + "," + std::to_string(node.hits) + "," +
           ms_text(node.ns) + ",[";
    for (auto const called : node.called) {
      separate();
      out += std::to_string(places[called]);
    }
    out += "]]";
  }
  out += R"(],"classesColumns":["name"],"classes":[)";
  std::map<std::string_view, std::size_t> classes;
  for (auto const& point : content.points) {
    if (!classes.emplace(point.class_name, classes.size()).second) continue;
    separate();
    out += "[" + json_text(point.class_name) + "]";
  }
  out += R"(],"pointsColumns":["class","method","line"],"points":[)";
  for (auto const& point : content.points) {
    separate();
    out += "[" + std::to_string(classes.at(point.class_name)) + "," + json_text(point.method) +
           "," + std::to_string(point.line) + "]";
  }
  return out + "]}";
}

/// RFC 4648 section 4, padded.
inline std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    auto const byte = [&](std::size_t at) -> std::uint32_t {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
    };
    auto const bits = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[bits >> 18];
    out += kDigits[bits >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[bits >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[bits & 63] : '=';
  }
  return out;
}

/// As of zlib and PNG.
inline std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (char const byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

}  // namespace trench
