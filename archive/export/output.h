#pragma once

// The output of an export. It keeps its first error and drops later data: a writer of a format
// checks once per exchange instead of once per byte.

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/http/digest.h"
#include "base/system/descriptor.h"

namespace reprise::exporting {

class Output {
 public:
  virtual ~Output() = default;
  virtual void write(std::string_view bytes) = 0;
  /// Passes on the held bytes; a compressing output ends a member.
  virtual void flush() {}
  std::error_code error() const { return error_; }

 protected:
  void fail(std::error_code error) {
    if (!error_) error_ = error;
  }

 private:
  std::error_code error_;
};

/// Writes to a file, through a buffer. Errors: write(2)'s.
class FileOutput final : public Output {
 public:
  static constexpr std::size_t kBufferBytes = 256 << 10;

  explicit FileOutput(Descriptor file) : file_(std::move(file)) { held_.reserve(kBufferBytes); }
  void write(std::string_view bytes) override;
  void flush() override;

 private:
  void write_all(std::string_view bytes);

  Descriptor file_;
  std::string held_;
};

/// How much time compression takes, for a gain in size.
enum class Effort : std::uint8_t {
  kUsual,    ///< about 25 MB a second
  kHuffman,  ///< about 85; base64 of compressed bodies gains as much as with kUsual
  kNone,     ///< about 500; the bytes as they are, in gzip's framing
};

/// Compresses for `to`, which must outlive it: each flush() ends a gzip member (RFC 1952) without
/// name or time, so that equal input gives equal output.
class GzipOutput final : public Output {
 public:
  explicit GzipOutput(Output& to, Effort effort = Effort::kUsual);
  ~GzipOutput() override;
  GzipOutput(const GzipOutput&) = delete;
  GzipOutput& operator=(const GzipOutput&) = delete;
  void write(std::string_view bytes) override;
  void flush() override;

 private:
  void deflate(std::string_view bytes, int mode);

  Output& to_;
  z_stream stream_{};
  bool any_ = false;
};

/// Computes length and digest, and keeps nothing.
class Measure final : public Output {
 public:
  void write(std::string_view bytes) override {
    digester_.update(std::as_bytes(std::span(bytes)));
    size_bytes_ += bytes.size();
  }
  std::uint64_t size_bytes() const { return size_bytes_; }
  /// Of all bytes written; ends this.
  Sha256 digest() { return digester_.finish(); }

 private:
  Digester digester_;
  std::uint64_t size_bytes_ = 0;
};

/// Base64 (RFC 4648 section 4, with padding) of bytes in pieces. flush() ends it.
class Base64Output final : public Output {
 public:
  explicit Base64Output(Output& to) : to_(to) {}
  void write(std::string_view bytes) override;
  void flush() override;

 private:
  void encode(std::string_view bytes);

  Output& to_;
  std::string held_;  ///< fewer than three bytes
  std::string text_;
};

}  // namespace reprise::exporting
