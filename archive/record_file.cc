#include "archive/record_file.h"

#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <vector>

#include "archive/error.h"
#include "base/http/crc32c.h"
#include "base/invariant.h"
#include "base/system/last_error.h"

namespace reprise {
namespace {

constexpr std::size_t kRecordsMax = 2;
constexpr std::array<std::byte, kRecordAlignment> kPadding{};

}  // namespace

/// The pieces of one write, without allocation.
struct RecordFile::Gathered {
  std::array<iovec, kRecordsMax * (4 + 2)> pieces{};
  std::size_t count = 0;
  std::size_t first = 0;
  std::uint64_t left_bytes = 0;

  void add(Bytes bytes) {
    if (bytes.empty()) return;
    pieces[count++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
    left_bytes += bytes.size();
  }
  void drop(std::size_t written) {
    left_bytes -= written;
    while (written > 0) {
      auto& piece = pieces[first];
      auto const taken = std::min(written, piece.iov_len);
      piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
      piece.iov_len -= taken;
      written -= taken;
      if (piece.iov_len == 0) ++first;
    }
  }
};

Result<void> RecordFile::append_file_header() {
  invariant(size_bytes_ == 0, "a file header starts the file");
  auto const header = encode_file_header();
  Gathered gathered;
  gathered.add(header);
  return write_out(gathered);
}

Result<std::uint64_t> RecordFile::append(std::span<const RecordParts> records) {
  invariant(records.size() <= kRecordsMax, "too many records for one write");
  std::array<std::array<std::byte, kRecordHeaderBytes>, kRecordsMax> headers{};
  Gathered gathered;
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto const& record = records[i];
    std::uint64_t payload_bytes = 0;
    std::uint32_t crc = 0;
    for (auto const piece : record.pieces) {
      payload_bytes += piece.size();
      crc = crc32c(piece, crc);
    }
    auto const limit = record.kind == RecordKind::kIndex
                           ? std::uint64_t{std::numeric_limits<std::uint32_t>::max()}
                           : std::uint64_t{kPayloadBytesMax};
    if (payload_bytes > limit) return fail(archive_errc::too_large);
    headers[i] = encode_record_header(record.kind, static_cast<std::uint32_t>(payload_bytes), crc);
    gathered.add(headers[i]);
    for (auto const piece : record.pieces) gathered.add(piece);
    auto const padding = record_bytes(payload_bytes) - kRecordHeaderBytes - payload_bytes;
    gathered.add(Bytes(kPadding).first(padding));
  }
  auto const offset = size_bytes_;
  if (auto written = write_out(gathered); !written) return fail(written.error());
  return offset;
}

Result<std::uint32_t> RecordFile::first_payload_crc() const {
  std::array<std::byte, kRecordHeaderBytes> header{};
  auto const got = ::pread(file_.get(), header.data(), header.size(), kFileHeaderBytes);
  if (got < 0) return fail(last_system_error());
  if (got != std::ssize(header)) return fail(archive_errc::corrupt);
  return load_u32(header.data() + 8);
}

Result<void> RecordFile::truncate(std::uint64_t size_bytes) {
  size_bytes_ = size_bytes;
  return truncate_tail();
}

Result<void> RecordFile::truncate_tail() {
  while (::ftruncate(file_.get(), static_cast<off_t>(size_bytes_)) != 0) {
    if (errno != EINTR) return fail(last_system_error());
  }
  tail_is_clean_ = true;
  return {};
}

Result<bool> RecordFile::is_removed() const {
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0) return fail(last_system_error());
  return status.st_nlink == 0;
}

Result<void> RecordFile::sync() {
  if (::fdatasync(file_.get()) != 0) return fail(last_system_error());
  return {};
}

Result<void> RecordFile::write_out(Gathered& gathered) {
  if (!tail_is_clean_) {
    if (auto cut = truncate_tail(); !cut) return cut;
  }
  auto end = size_bytes_;
  while (gathered.left_bytes > 0) {
    auto const written =
        ::pwritev(file_.get(), gathered.pieces.data() + gathered.first,
                  static_cast<int>(gathered.count - gathered.first), static_cast<off_t>(end));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      auto const error =
          written < 0 ? last_system_error() : std::make_error_code(std::errc::no_space_on_device);
      // If this fails as well, the next call tries again before it writes.
      tail_is_clean_ = false;
      static_cast<void>(truncate_tail());
      return fail(error);
    }
    gathered.drop(static_cast<std::size_t>(written));
    end += static_cast<std::uint64_t>(written);
  }
  size_bytes_ = end;
  return {};
}

}  // namespace reprise
