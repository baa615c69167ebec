#include "archive/import/source/zip.h"

#include <libdeflate.h>

#include <algorithm>

#include "archive/import/source/decompress.h"

namespace reprise::importing {
namespace {

constexpr std::string_view kEntryMagic = "PK\x01\x02";
constexpr std::string_view kLocalMagic = "PK\x03\x04";
constexpr std::string_view kEndMagic = "PK\x05\x06";
constexpr std::string_view kEnd64Magic = "PK\x06\x06";
constexpr std::string_view kLocator64Magic = "PK\x06\x07";
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCommentBytesMax = 65'535;

/// A little-endian number; `at + count` must lie in `bytes`.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Compares an entry's content with the table's data about it.
class CheckedEntry final : public ByteSource {
 public:
  CheckedEntry(std::unique_ptr<ByteSource> from, const Zip::Entry& entry)
      : from_(std::move(from)), entry_(entry) {}

  std::size_t read(std::span<char> into) override {
    auto const got = from_->read(into);
    crc_ = ::libdeflate_crc32(crc_, into.data(), got);
    size_bytes_ += got;
    if (got > 0 || fault_) return got;
    fault_ = from_->fault();
    if (!fault_ && (crc_ != entry_.crc || size_bytes_ != entry_.size_bytes)) {
      fault_ =
          Fault{.what = "its CRC-32 or its length differs from the zip's directory", .system = {}};
    }
    return 0;
  }

 private:
  std::unique_ptr<ByteSource> from_;
  Zip::Entry entry_;
  std::uint32_t crc_ = 0;
  std::uint64_t size_bytes_ = 0;
};

/// Replaces fields with all bits set by those of the ZIP64 extra field, in its order.
void take_extra64(std::string_view extra, std::uint64_t& size, std::uint64_t& compressed,
                  std::uint64_t& offset) {
  while (extra.size() >= 4) {
    auto const id = number(extra, 0, 2);
    auto const length = number(extra, 2, 2);
    if (4 + length > extra.size()) return;
    auto field = extra.substr(4, length);
    extra.remove_prefix(4 + length);
    if (id != 1) continue;
    for (auto* const value : {&size, &compressed, &offset}) {
      if (*value != 0xffffffff || field.size() < 8) continue;
      *value = number(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

}  // namespace

std::size_t PartInput::read_at(std::uint64_t offset, std::span<char> into,
                               std::optional<Fault>& fault) {
  if (offset >= size_bytes_) return 0;
  auto const wanted = std::min<std::uint64_t>(into.size(), size_bytes_ - offset);
  return whole_.read_at(offset_ + offset, into.first(wanted), fault);
}

bool Zip::read(std::uint64_t offset, std::span<char> into, std::optional<Fault>& fault) const {
  while (!into.empty()) {
    auto const got = input_.read_at(offset, into, fault);
    if (got == 0) {
      if (!fault) fault = Fault{.what = "the zip ends before byte " + std::to_string(offset)};
      return false;
    }
    offset += got;
    into = into.subspan(got);
  }
  return true;
}

Zip::Zip(Input& input, std::optional<Fault>& fault) : input_(input) {
  auto const size = input.size_bytes();
  std::string tail(std::min<std::uint64_t>(size, kEndBytes + kCommentBytesMax), '\0');
  auto const tail_offset = size - tail.size();
  if (!read(tail_offset, tail, fault)) return;
  auto const at = tail.rfind(kEndMagic);
  if (at == std::string::npos || at + kEndBytes > tail.size()) {
    fault = Fault{.what = "the zip has no directory: the file is truncated"};
    return;
  }
  Directory directory{.offset = number(tail, at + 16, 4),
                      .size_bytes = number(tail, at + 12, 4),
                      .entries = number(tail, at + 10, 2)};
  if (at >= kLocator64Bytes &&
      std::string_view(tail).substr(at - kLocator64Bytes).starts_with(kLocator64Magic)) {
    std::string end64(kEnd64Bytes, '\0');
    auto const end64_offset = number(tail, at - kLocator64Bytes + 8, 8);
    if (end64_offset > size || !read(end64_offset, end64, fault)) {
      if (!fault) fault = Fault{.what = "the zip's directory lies outside the file"};
      return;
    }
    if (end64.starts_with(kEnd64Magic)) {
      directory = {.offset = number(end64, 48, 8),
                   .size_bytes = number(end64, 40, 8),
                   .entries = number(end64, 32, 8)};
    }
  }
  read_directory(directory, fault);
}

/// An entry's name and kind are in a zip twice.
bool Zip::fits_its_header(const Entry& entry, std::uint64_t method,
                          std::optional<Fault>& fault) const {
  std::string header(kLocalBytes + entry.name.size(), '\0');
  if (entry.header_offset > input_.size_bytes() || !read(entry.header_offset, header, fault)) {
    return false;
  }
  return header.starts_with(kLocalMagic) && number(header, 8, 2) == method &&
         number(header, 26, 2) == entry.name.size() && header.ends_with(entry.name);
}

void Zip::read_directory(const Directory& directory, std::optional<Fault>& fault) {
  auto const [offset, size_bytes, entries] = directory;
  if (size_bytes > kDirectoryBytesMax || offset > input_.size_bytes() ||
      size_bytes > input_.size_bytes() - offset) {
    fault = Fault{.what = "the zip's directory does not lie in the file, or is too large"};
    return;
  }
  std::string bytes(size_bytes, '\0');
  if (!read(offset, bytes, fault)) return;
  std::string_view rest = bytes;
  std::uint64_t content_bytes = 0;
  while (rest.size() >= kEntryBytes && rest.starts_with(kEntryMagic)) {
    auto const flags = number(rest, 8, 2);
    auto const method = number(rest, 10, 2);
    auto compressed = number(rest, 20, 4);
    auto size = number(rest, 24, 4);
    auto const name_bytes = number(rest, 28, 2);
    auto const extra_bytes = number(rest, 30, 2);
    auto const comment_bytes = number(rest, 32, 2);
    auto header = number(rest, 42, 4);
    auto const all = kEntryBytes + name_bytes + extra_bytes + comment_bytes;
    if (all > rest.size()) break;
    take_extra64(rest.substr(kEntryBytes + name_bytes, extra_bytes), size, compressed, header);
    entries_.push_back({.name = std::string(rest.substr(kEntryBytes, name_bytes)),
                        .compressed_bytes = compressed,
                        .size_bytes = size,
                        .crc = static_cast<std::uint32_t>(number(rest, 16, 4)),
                        .header_offset = header,
                        .is_deflated = method == 8,
                        .is_readable = (method == 0 || method == 8) && (flags & 1) == 0});
    places_.try_emplace(entries_.back().name, entries_.size() - 1);
    rest.remove_prefix(all);
    // Otherwise a small file could be read a million times.
    content_bytes += std::min(compressed, input_.size_bytes());
    if (content_bytes > input_.size_bytes()) {
      fault = Fault{.what = "the zip's entries overlap or lie outside the zip: " +
                            entries_.back().name};
      return;
    }
    if (!fits_its_header(entries_.back(), method, fault) && !fault) {
      fault = Fault{.what = "the zip's directory and the header of an entry differ: " +
                            entries_.back().name};
    }
  }
  if (fault) return;
  // More than 65,535 do not fit into the field.
  if (!rest.empty() || (entries_.size() & 0xffff) != (entries & 0xffff)) {
    fault = Fault{.what = "the zip's directory is broken at byte " +
                          std::to_string(offset + bytes.size() - rest.size())};
  }
}

const Zip::Entry* Zip::find(std::string_view name) const {
  auto const found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

std::optional<Zip::Place> Zip::place_of(const Entry& entry, std::optional<Fault>& fault) const {
  std::string local(kLocalBytes, '\0');
  auto const size = input_.size_bytes();
  if (entry.is_readable && entry.header_offset < size && read(entry.header_offset, local, fault) &&
      local.starts_with(kLocalMagic)) {
    auto const offset =
        entry.header_offset + kLocalBytes + number(local, 26, 2) + number(local, 28, 2);
    if (offset <= size && entry.compressed_bytes <= size - offset) {
      return Place{.offset = offset, .size_bytes = entry.compressed_bytes};
    }
  }
  if (!fault) {
    fault = Fault{.what = entry.is_readable
                              ? "an entry lies outside the zip: " + entry.name
                              : "an entry is encrypted or uses an unsupported compression: " +
                                    entry.name};
  }
  return std::nullopt;
}

std::unique_ptr<ByteSource> Zip::open(const Entry& entry, InputSource::Progress progress,
                                      std::optional<Fault>& fault) const {
  auto const place = place_of(entry, fault);
  if (!place) return nullptr;
  std::unique_ptr<ByteSource> source =
      std::make_unique<InputSource>(input_, place->offset, place->size_bytes, std::move(progress));
  if (entry.is_deflated) source = make_inflate(std::move(source));
  return std::make_unique<CheckedEntry>(std::move(source), entry);
}

}  // namespace reprise::importing
