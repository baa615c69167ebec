#include "archive/import/source/whole_gunzip.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/coding/inflation.h"

namespace reprise::importing {
namespace {

/// Deflate gains no more.
constexpr std::size_t kRatioMax = 1032;

std::optional<std::string> read_all(Input& input) {
  std::optional<Fault> fault;
  std::string bytes;
  bytes.resize_and_overwrite(input.size_bytes(), [&](char* into, std::size_t size) {
    std::size_t used = 0;
    while (used < size) {
      auto const count = input.read_at(used, std::span(into + used, size - used), fault);
      if (count == 0) break;
      used += count;
    }
    return used;
  });
  if (fault || bytes.size() != input.size_bytes()) return std::nullopt;
  return bytes;
}

/// The length that the member gives at its end (RFC 1952 section 2.3.1).
std::size_t stated_length(std::string_view coded) {
  std::size_t length = 0;
  for (std::size_t i = 1; i <= 4; ++i) {
    length = length << 8 | static_cast<unsigned char>(coded[coded.size() - i]);
  }
  return length;
}

}  // namespace

std::optional<std::string> inflated_whole(Input& input) {
  constexpr std::size_t kMemberBytesMin = 18;
  auto const size = input.size_bytes();
  if (size < kMemberBytesMin || size > kWholeCodedBytesMax) return std::nullopt;
  auto const coded = read_all(input);
  if (!coded || !coded->starts_with("\x1f\x8b")) return std::nullopt;
  auto const length = stated_length(*coded);
  if (length > kWholePlainBytesMax || length / kRatioMax > size) return std::nullopt;
  std::string plain;
  bool whole = false;
  plain.resize_and_overwrite(length, [&](char* into, std::size_t room) {
    auto const sizes = coding::WholeGunzip().decode(bytes_of(*coded),
                                                    std::as_writable_bytes(std::span(into, room)));
    whole = sizes && sizes->taken == size && sizes->given == room;
    return whole ? room : 0;
  });
  if (!whole) return std::nullopt;
  return plain;
}

}  // namespace reprise::importing
