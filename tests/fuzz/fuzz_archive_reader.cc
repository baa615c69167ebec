// Bytes as an archive: open it, read all of it, match in it, verify it. The first byte says whether
// the checksums are set right first, since random bytes would never get past them.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "archive/record.h"
#include "base/http/crc32c.h"

namespace reprise {
namespace {

/// Makes every header and payload agree with its checksum, going by the lengths in the headers.
void mend(std::span<std::byte> file) {
  if (file.size() < kFileHeaderBytes) return;
  auto const header = encode_file_header();
  std::memcpy(file.data(), header.data(), header.size());
  std::uint32_t first_crc = 0;
  for (std::uint64_t at = kFileHeaderBytes; file.size() - at >= kRecordHeaderBytes;) {
    auto* const record = file.data() + at;
    auto const room = file.size() - at - kRecordHeaderBytes;
    auto const size = std::min<std::uint64_t>(load_u32(record), room);
    store_u32(record, static_cast<std::uint32_t>(size));
    auto const kind = load_u32(record + 4) & 0xffff;
    // A trailer repeats the checksum of the first record.
    if (kind == static_cast<std::uint32_t>(RecordKind::kTrailer) && size >= 16) {
      store_u64(record + kRecordHeaderBytes + 8, first_crc);
    }
    auto const crc = crc32c(Bytes(record + kRecordHeaderBytes, size));
    if (at == kFileHeaderBytes) first_crc = crc;
    auto const mended =
        encode_record_header(static_cast<RecordKind>(kind), static_cast<std::uint32_t>(size), crc);
    std::memcpy(record, mended.data(), mended.size());
    at += record_bytes(size);
    if (at > file.size()) return;
  }
}

/// A file in memory, created once and rewritten in each run.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    path_ = "/proc/self/fd/" + std::to_string(fd_);
  }
  const std::string& write(Bytes bytes) {
    if (fd_ < 0 || ::ftruncate(fd_, 0) != 0 ||
        ::pwrite(fd_, bytes.data(), bytes.size(), 0) != std::ssize(bytes)) {
      std::abort();
    }
    return path_;
  }

 private:
  int fd_;
  std::string path_;
};

void use(const ArchiveReader& reader, const StoredBody& body) {
  constexpr std::uint64_t kLimit = 4 << 20;
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = reader.extent(body, i);
    if (piece && piece->size() != body.extents[i].size_bytes) std::abort();
  }
  auto const whole = reader.read_body(body, kLimit);
  if (whole && whole->size() != body.size_bytes) std::abort();
  // The two ways to read a body agree.
  if (body.size_bytes <= kLimit && whole.has_value() != reader.check_body(body).has_value()) {
    std::abort();
  }
}

void use(const ArchiveReader& reader) {
  Matcher const matcher(reader, 0);
  SequenceCursors cursors(reader.entries().size());
  for (auto const ordinal : reader.ordinals_in_order()) {
    auto const exchange = reader.exchange(ordinal);
    if (!exchange) continue;
    auto const site = reader.site(ordinal);
    if (site && site->host != exchange->request.host) std::abort();
    use(reader, exchange->request.body);
    use(reader, exchange->response.body);
    auto const key = key_of(exchange->request);
    static_cast<void>(
        matcher.match(key, {}, cursors, [&](std::uint32_t found) { return found == ordinal; }));
    auto asked = asked_as(exchange->request, {});
    asked.key.method = "OTHER";
    static_cast<void>(matcher.nearest(asked));
    asked.key = key;
    auto const target = exchange->request.target + "&x=1";
    asked.key.target = target;
    StoredRequest decoded;
    static_cast<void>(matcher.decide(asked, cursors, [&](std::uint32_t found) {
      auto const other = reader.exchange(found);
      if (other) decoded = other->request;
      return other ? &decoded : nullptr;
    }));
  }
  for (auto const& place : reader.messages()) {
    auto const message = reader.message(place);
    if (message && message->payload.size() > kMessageBytesMax) std::abort();
    if (reader.messages(place.owner).empty()) std::abort();
  }
  auto const count = reader.verify([](const std::string&) {}, [](std::uint64_t, std::uint64_t) {});
  if (reader.report().damaged_records > 0 && count == 0) std::abort();
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  if (size < 1) return 0;
  static MemoryFile file;
  auto const input = std::as_bytes(std::span(data, size)).subspan(1);
  std::vector<std::byte> bytes(input.begin(), input.end());
  if (data[0] & 1) mend(bytes);
  auto const reader = ArchiveReader::open(file.write(bytes), {.lock = false, .populate = false});
  if (reader) use(**reader);
  return 0;
}
