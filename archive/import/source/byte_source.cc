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

std::string_view ByteReader::fill(std::size_t count) {
  if (failed()) return {};
  if (end_ - begin_ >= count) return view();
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < count && !ended_) {
    auto const got = source_.read(std::span(buffer_).subspan(end_));
    end_ += got;
    ended_ = got == 0;
  }
  if (ended_ && source_.fault() && end_ == 0) fault_ = source_.fault();
  return view();
}

bool ByteReader::resume() {
  if (source_.fault() && !source_.resume()) return false;
  fault_.reset();
  begin_ = end_ = 0;
  ended_ = false;
  return true;
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
      fail("a line of more than " + std::to_string(limit) + " bytes at byte " +
           std::to_string(offset_));
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
  fault_ = ended_ && source_.fault() ? source_.fault() : Fault{.what = std::move(what)};
  begin_ = end_ = 0;
  ended_ = true;
}

}  // namespace reprise::importing
