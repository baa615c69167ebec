#include "archive/import/source/byte_source.h"

#include <algorithm>
#include <cstring>

namespace reprise::importing {

std::size_t MemoryInput::read_at(std::uint64_t offset, std::span<char> into,
                                 std::optional<Fault>&) {
  if (offset >= bytes_.size()) return 0;
  return bytes_.copy(into.data(), into.size(), offset);
}

std::size_t InputSource::read(std::span<char> into) {
  auto const wanted = std::min<std::uint64_t>(into.size(), end_ - at_);
  if (wanted == 0 || fault_) return 0;
  auto const got = input_.read_at(at_, into.first(wanted), fault_);
  at_ += got;
  if (progress_ && got > 0) progress_(got);
  return got;
}

std::optional<std::size_t> InputSource::peek(std::uint64_t at, std::span<char> into) {
  auto const size = end_ - begin_;
  if (at >= size) return 0;
  std::optional<Fault> fault;
  auto const wanted = std::min<std::uint64_t>(into.size(), size - at);
  auto const got = input_.read_at(begin_ + at, into.first(wanted), fault);
  if (fault) return std::nullopt;
  return got;
}

std::string_view ByteReader::fill(std::size_t count) {
  if (failed()) return {};
  if (end_ - begin_ >= count) return view();
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < count && !ended_) {
    auto const got = source_.read(std::span(buffer_).subspan(end_));
    if (got > 0 && source_.begins_part()) note_part();
    end_ += got;
    ended_ = got == 0;
  }
  if (ended_ && source_.fault() && end_ == 0) {
    fault_ = source_.fault();
    is_of_source_ = true;
  }
  return view();
}

std::optional<std::string_view> ByteReader::ahead(std::uint64_t distance, std::size_t count) {
  if (failed()) return std::nullopt;
  if (distance <= kBufferBytes - count) {
    auto const bytes = fill(distance + count);
    return bytes.substr(std::min<std::size_t>(distance, bytes.size()), count);
  }
  std::uint64_t at = 0;
  if (__builtin_add_overflow(offset_, distance, &at)) return std::string_view();
  peeked_.resize(count);
  auto const got = source_.peek(at, peeked_);
  if (!got) return std::nullopt;
  return std::string_view(peeked_).substr(0, *got);
}

/// A part begins after the bytes in the buffer.
void ByteReader::note_part() {
  while (!parts_.empty() && parts_.front() < offset_) parts_.pop_front();
  parts_.push_back(offset_ + (end_ - begin_));
}

bool ByteReader::resume() {
  if (source_failed()) {
    if (!source_.resume()) return false;
    begin_ = end_ = 0;
    parts_.clear();
    ended_ = false;
  }
  fault_.reset();
  return true;
}

bool ByteReader::seek_part(std::uint64_t start) {
  if (source_failed()) return false;
  fault_.reset();
  while (!some().empty()) {
    while (!parts_.empty() && (parts_.front() <= start || parts_.front() < offset_)) {
      parts_.pop_front();
    }
    if (!parts_.empty()) {
      consume(parts_.front() - offset_);
      return true;
    }
    consume(view().size());
  }
  return false;
}

std::optional<std::uint64_t> ByteReader::next_part() const {
  auto const part = std::ranges::lower_bound(parts_, offset_);
  if (part == parts_.end()) return std::nullopt;
  return *part;
}

bool ByteReader::line(std::string& line, std::size_t limit) {
  auto const start = line.size();
  bool any = false;
  while (true) {
    auto const text = some();
    if (text.empty()) return any && !failed();
    any = true;
    auto const end = text.find('\n');
    auto const taken = text.substr(0, end);
    if (line.size() - start + taken.size() > limit) {
      // Never the source's fault, which may follow after many lines of the buffer.
      fault_ = Fault{.what = "a line of more than " + std::to_string(limit) + " bytes at byte " +
                             std::to_string(offset_)};
      is_of_source_ = false;
      return false;
    }
    line += taken;
    consume(taken.size());
    if (end == std::string_view::npos) continue;
    consume(1);
    // A file that went through a text mode has several.
    while (line.size() > start && line.back() == '\r') line.pop_back();
    return true;
  }
}

void ByteReader::fail(std::string what) {
  if (failed()) return;
  // The source's own fault is the cause.
  is_of_source_ = ended_ && source_.fault().has_value();
  fault_ = is_of_source_ ? source_.fault() : Fault{.what = std::move(what)};
}

}  // namespace reprise::importing
