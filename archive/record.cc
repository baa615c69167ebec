#include "archive/record.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "archive/error.h"
#include "base/http/crc32c.h"

namespace reprise {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the index is used straight from the map: this port needs work");

constexpr std::array<char, 8> kMagic = {'R', 'E', 'P', 'R', 'I', 'S', 'E', '\0'};
constexpr std::size_t kCheckedHeaderBytes = 12;

bool all_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

std::uint32_t load_u32(const std::byte* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t load_u64(const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store_u32(std::byte* to, std::uint32_t value) {
  std::memcpy(to, &value, sizeof value);
}
void store_u64(std::byte* to, std::uint64_t value) {
  std::memcpy(to, &value, sizeof value);
}

std::array<std::byte, kFileHeaderBytes> encode_file_header() {
  std::array<std::byte, kFileHeaderBytes> header{};
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  store_u32(header.data() + 8, kFormatVersion);
  store_u32(header.data() + 12, crc32c(Bytes(header).first(kCheckedHeaderBytes)));
  return header;
}

Result<void> check_file_header(Bytes file) {
  if (file.size() < kMagic.size() || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    return fail(archive_errc::not_an_archive);
  }
  if (file.size() < kFileHeaderBytes) return fail(archive_errc::bad_header);
  if (load_u32(file.data() + 12) != crc32c(file.first(kCheckedHeaderBytes))) {
    return fail(archive_errc::bad_header);
  }
  auto const version = load_u32(file.data() + 8);
  if (version > kFormatVersion) return fail(archive_errc::newer_version);
  if (version != kFormatVersion) return fail(archive_errc::bad_header);
  return {};
}

std::array<std::byte, kRecordHeaderBytes> encode_record_header(RecordKind kind,
                                                               std::uint32_t payload_bytes,
                                                               std::uint32_t payload_crc) {
  std::array<std::byte, kRecordHeaderBytes> header{};
  store_u32(header.data(), payload_bytes);
  store_u32(header.data() + 4, static_cast<std::uint16_t>(kind));
  store_u32(header.data() + 8, payload_crc);
  store_u32(header.data() + 12, crc32c(Bytes(header).first(kCheckedHeaderBytes)));
  return header;
}

std::expected<Record, RecordFault> read_record(Bytes file, std::uint64_t offset) {
  if (offset < kFileHeaderBytes || offset % kRecordAlignment != 0) {
    return std::unexpected(RecordFault::kDamaged);
  }
  if (offset > file.size() || file.size() - offset < kRecordHeaderBytes) {
    return std::unexpected(RecordFault::kTorn);
  }
  auto const rest = file.subspan(offset);
  auto const header = rest.first<kRecordHeaderBytes>();
  auto const payload_bytes = load_u32(header.data());
  auto const kind_and_reserved = load_u32(header.data() + 4);
  auto const header_crc = load_u32(header.data() + 12);
  if (header_crc != crc32c(header.first(kCheckedHeaderBytes))) {
    auto const torn = all_zero(header) && all_zero(rest);
    return std::unexpected(torn ? RecordFault::kTorn : RecordFault::kDamaged);
  }
  auto const kind = static_cast<RecordKind>(kind_and_reserved & 0xffff);
  if (kind_and_reserved > 0xffff ||
      (kind != RecordKind::kIndex && payload_bytes > kPayloadBytesMax)) {
    return std::unexpected(RecordFault::kDamaged);
  }
  if (record_bytes(payload_bytes) > rest.size()) return std::unexpected(RecordFault::kTorn);
  return Record{.kind = kind,
                .offset = offset,
                .end = offset + record_bytes(payload_bytes),
                .payload_crc = load_u32(header.data() + 8),
                .payload = rest.subspan(kRecordHeaderBytes, payload_bytes)};
}

bool payload_is_whole(const Record& record) {
  return crc32c(record.payload) == record.payload_crc;
}

bool padding_is_zero(Bytes file, const Record& record) {
  auto const payload_end = record.offset + kRecordHeaderBytes + record.payload.size();
  return all_zero(file.subspan(payload_end, record.end - payload_end));
}

Walk walk_records(Bytes file, const std::function<void(const Record&)>& visit) {
  std::uint64_t offset = kFileHeaderBytes;
  while (offset < file.size()) {
    auto const record = read_record(file, offset);
    if (!record) return {.end = offset, .fault = record.error()};
    visit(*record);
    offset = record->end;
  }
  return {.end = offset, .fault = std::nullopt};
}

}  // namespace reprise
