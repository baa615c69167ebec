#include "archive/import/warc_block.h"

#include <algorithm>
#include <optional>

#include "archive/import/collect/http_text.h"

namespace reprise::importing {
namespace {

constexpr std::string_view kBlank = "\r\n\r\n";
/// The end of a block, and the start of the next record.
constexpr std::string_view kBorder = "\r\n\r\nWARC/";
/// What is read at a time to search a block.
constexpr std::size_t kWindowBytes = 64 << 10;
/// What is read of a head: most are complete in it.
constexpr std::size_t kHeadSeenBytes = 4 << 10;
/// How many borders in one block are looked at: a hostile file can consist of them.
constexpr int kBordersMax = 4;

/// Whether the block ends as its head says: at the end of the file, or before a record. Also if
/// that cannot be seen.
bool ends_as_stated(ByteReader& from, std::uint64_t size_bytes) {
  constexpr std::size_t kSeenBytes = 64;
  if (size_bytes == 0) return true;
  auto const seen = from.ahead(size_bytes - 1, kSeenBytes + 1);
  if (!seen) return true;
  if (seen->empty()) return false;
  auto const rest = seen->substr(1);
  auto const next = rest.find_first_not_of("\r\n");
  if (next == std::string_view::npos) return true;
  auto const start = rest.substr(next, kWarcStart.size());
  return equals_ignoring_case(start, kWarcStart.substr(0, start.size()));
}

/// Whether another record begins there: its version, and the fields that every record has.
bool is_record_at(ByteReader& from, std::uint64_t distance) {
  auto seen = from.ahead(distance, kHeadSeenBytes);
  if (!seen && distance < ByteReader::kBufferBytes) {
    seen = from.ahead(distance, ByteReader::kBufferBytes - distance);
  }
  if (!seen || !begins_version_line(*seen)) return false;
  auto const head = seen->substr(0, seen->find(kBlank));
  auto const fields = parse_fields(head.substr(head.find('\n') + 1));
  return find_field(fields, "WARC-Type") != nullptr &&
         find_field(fields, "Content-Length") != nullptr;
}

/// Where the HTTP head in the block ends; npos if it has none there.
std::size_t head_end(ByteReader& from, std::uint64_t size_bytes) {
  auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, size_bytes));
  auto const seen = from.ahead(0, count);
  return seen ? seen->find(kBlank) : std::string_view::npos;
}

bool begins_with_record(ByteReader& from) {
  auto const seen = from.ahead(0, kVersionLineBytesMax);
  return seen && begins_version_line(*seen);
}

/// The first border in the block after which another record begins.
std::optional<std::uint64_t> find_border(ByteReader& from, std::uint64_t size_bytes) {
  // The last border begins in the block, and can end behind it.
  auto const end = size_bytes + kBorder.size() - 1;
  std::uint64_t at = 0;
  int borders = 0;
  while (at + kBorder.size() <= end) {
    auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(kWindowBytes, end - at));
    auto const window = from.ahead(at, count);
    if (!window) return std::nullopt;
    auto const found = window->find(kBorder);
    if (found != std::string_view::npos) {
      if (is_record_at(from, at + found + kBlank.size())) return at + found;
      if (++borders == kBordersMax) return std::nullopt;
      at += found + 1;
      continue;
    }
    if (window->size() < count) return std::nullopt;
    at += count - kBorder.size() + 1;
  }
  return std::nullopt;
}

}  // namespace

bool is_known_version(std::string_view line) {
  for (std::string_view const known : {"WARC/1.1", "WARC/1.0", "WARC/0.18", "WARC/0.17"}) {
    if (equals_ignoring_case(line, known)) return true;
  }
  return false;
}

bool begins_version_line(std::string_view text) {
  auto line = text.substr(0, kVersionLineBytesMax);
  auto const end = line.find('\n');
  if (end == std::string_view::npos) return false;
  line = line.substr(0, end);
  while (line.ends_with('\r')) line.remove_suffix(1);
  return is_known_version(line);
}

std::size_t find_version_line(std::string_view text) {
  auto at = text.find(kWarcStart);
  while (at != std::string_view::npos && !begins_version_line(text.substr(at))) {
    at = text.find(kWarcStart, at + 1);
  }
  return at;
}

std::uint64_t warc_block_bytes(ByteReader& from, std::uint64_t size_bytes, bool is_http) {
  constexpr std::uint64_t kSearchedMax = std::uint64_t{1} << 62;  // no file is longer
  if (ends_as_stated(from, size_bytes) || begins_with_record(from)) return size_bytes;
  auto const searched = std::min(size_bytes, kSearchedMax);
  auto const border = find_border(from, searched);
  if (!border || (is_http && *border == head_end(from, searched))) return size_bytes;
  return *border;
}

}  // namespace reprise::importing
