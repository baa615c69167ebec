#include "archive/export/output.h"

#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/system/last_error.h"
#include "base/text/base64.h"

namespace reprise::exporting {

void FileOutput::write(std::string_view bytes) {
  if (error()) return;
  if (held_.size() + bytes.size() <= kBufferBytes) {
    held_ += bytes;
    return;
  }
  flush();
  if (bytes.size() < kBufferBytes) {
    held_ += bytes;
  } else {
    write_all(bytes);
  }
}

void FileOutput::flush() {
  write_all(held_);
  held_.clear();
}

void FileOutput::write_all(std::string_view bytes) {
  while (!bytes.empty() && !error()) {
    auto const written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(last_system_error());
    }
  }
}

GzipOutput::GzipOutput(Output& to, Effort effort) : to_(to) {
  int const level = effort == Effort::kNone ? Z_NO_COMPRESSION : Z_DEFAULT_COMPRESSION;
  int const strategy = effort == Effort::kHuffman ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
  ::deflateInit2(&stream_, level, Z_DEFLATED, 15 + 16, 8, strategy);
}

GzipOutput::~GzipOutput() {
  ::deflateEnd(&stream_);
}

void GzipOutput::write(std::string_view bytes) {
  if (bytes.empty()) return;
  any_ = true;
  constexpr std::size_t kPieceBytes = 1 << 30;  // zlib counts in 32 bits
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    deflate(bytes.substr(at, kPieceBytes), Z_NO_FLUSH);
  }
}

void GzipOutput::flush() {
  if (!any_) return;
  deflate({}, Z_FINISH);
  ::deflateReset(&stream_);
  any_ = false;
}

void GzipOutput::deflate(std::string_view bytes, int mode) {
  std::array<char, 64 << 10> out;
  stream_.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data()));
  stream_.avail_in = static_cast<unsigned>(bytes.size());
  do {
    stream_.next_out = reinterpret_cast<unsigned char*>(out.data());
    stream_.avail_out = static_cast<unsigned>(out.size());
    ::deflate(&stream_, mode);
    to_.write({out.data(), out.size() - stream_.avail_out});
  } while (stream_.avail_out == 0);
  if (to_.error()) fail(to_.error());
}

void Base64Output::write(std::string_view bytes) {
  if (!held_.empty()) {
    auto const missing = std::min(3 - held_.size(), bytes.size());
    held_ += bytes.substr(0, missing);
    bytes.remove_prefix(missing);
    if (held_.size() < 3) return;
    encode(held_);
    held_.clear();
  }
  constexpr std::size_t kPieceBytes = 48 << 10;
  while (bytes.size() >= 3) {
    auto const piece = bytes.substr(0, std::min(kPieceBytes, bytes.size() / 3 * 3));
    encode(piece);
    bytes.remove_prefix(piece.size());
  }
  held_ = bytes;
}

void Base64Output::flush() {
  if (!held_.empty()) encode(held_);
  held_.clear();
}

void Base64Output::encode(std::string_view bytes) {
  to_.write(base64(std::as_bytes(std::span(bytes))));
  if (to_.error()) fail(to_.error());
}

}  // namespace reprise::exporting
