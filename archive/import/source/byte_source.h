#pragma once

// The input of converters. Reading stops permanently at the first fault, which is kept: a parser
// checks once per item instead of once per byte. Not thread-safe.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "archive/import/source/fault.h"

namespace reprise::importing {

/// A recording on disk or in memory, with random access.
class Input {
 public:
  virtual ~Input() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// Reads at most `into.size()` bytes from `offset`; 0 at the end. An error is stored in `fault`.
  virtual std::size_t read_at(std::uint64_t offset, std::span<char> into,
                              std::optional<Fault>& fault) = 0;
};

/// Borrows its bytes.
class MemoryInput final : public Input {
 public:
  explicit MemoryInput(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  std::size_t read_at(std::uint64_t offset, std::span<char> into,
                      std::optional<Fault>& fault) override;

 private:
  std::string_view bytes_;
};

/// A stream of bytes.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads at most `into.size()` bytes. 0: the end, or a fault.
  virtual std::size_t read(std::span<char> into) = 0;
  const std::optional<Fault>& fault() const { return fault_; }
  /// After a fault: moves past the damage, to a place where a complete item may begin, and clears
  /// the fault. False if there is no such place.
  virtual bool resume() { return false; }
  /// Reads at most `into.size()` bytes from byte `at` of the source's output, without moving there.
  /// Nothing if this source cannot, or at a fault, which read() will have.
  virtual std::optional<std::size_t> peek(std::uint64_t /*at*/, std::span<char> /*into*/) {
    return std::nullopt;
  }
  /// Whether the bytes of the last read() begin a part: a gzip member. A read has bytes of one part
  /// only.
  bool begins_part() const { return begins_part_; }
  /// A remark for users about data that was read without a fault; usually empty.
  const std::string& remark() const { return remark_; }

 protected:
  std::optional<Fault> fault_;
  std::string remark_;
  bool begins_part_ = false;
};

/// A range of an Input, which must outlive it.
class InputSource final : public ByteSource {
 public:
  using Progress = std::function<void(std::uint64_t bytes)>;
  /// `progress` is called at each read; can be empty.
  InputSource(Input& input, std::uint64_t offset, std::uint64_t size_bytes, Progress progress)
      : input_(input),
        begin_(offset),
        at_(offset),
        end_(offset + size_bytes),
        progress_(std::move(progress)) {}
  std::size_t read(std::span<char> into) override;
  std::optional<std::size_t> peek(std::uint64_t at, std::span<char> into) override;

 private:
  Input& input_;
  std::uint64_t begin_;
  std::uint64_t at_;
  std::uint64_t end_;
  Progress progress_;
};

/// A buffer for a source, which must outlive it. After a fault it is empty.
class ByteReader {
 public:
  static constexpr std::size_t kBufferBytes = 256 << 10;

  explicit ByteReader(ByteSource& source) : source_(source), buffer_(kBufferBytes, '\0') {}

  /// The bytes in the buffer: at least one unless the source ended, or after a fault.
  std::string_view some() { return begin_ < end_ && !failed() ? view() : fill(1); }
  /// The bytes in the buffer: at least `count` (up to kBufferBytes) unless the source ends before.
  std::string_view fill(std::size_t count);
  /// Does nothing after a fault: the caller's bytes are no longer those of the buffer.
  void consume(std::size_t count) {
    if (failed()) return;
    begin_ += count;
    offset_ += count;
  }
  /// Also after a fault.
  bool at_end() { return some().empty(); }
  /// At most `count` (up to kBufferBytes) bytes from `distance` bytes behind this one on, without
  /// moving there; fewer if the source ends, or fails, before. Nothing if they do not fit into the
  /// buffer and the source cannot peek(). Valid until the next call.
  std::optional<std::string_view> ahead(std::uint64_t distance, std::size_t count);
  /// The offset of the next byte in the source's output.
  std::uint64_t offset() const { return offset_; }

  /// Appends the next line without its end (LF after any number of CR) to `line`. False at the end;
  /// also if the line is longer than `limit` bytes, which is a fault.
  bool line(std::string& line, std::size_t limit);

  /// Keeps the first fault.
  void fail(std::string what);
  bool failed() const { return fault_.has_value(); }
  /// Whether the source failed, not the reader of its bytes.
  bool source_failed() const { return failed() && is_of_source_; }
  const std::optional<Fault>& fault() const { return fault_; }
  /// After a fault of the source: continues after the damage; false if it cannot. After one of the
  /// reader of its bytes: continues at this byte, with the same buffer.
  bool resume();
  /// Moves to the first part of the source (ByteSource::begins_part()) that begins after byte
  /// `start` and not before this byte; clears a fault of the reader of its bytes. False if none
  /// follows, or the source failed.
  bool seek_part(std::uint64_t start);
  /// The offset of the first part that begins in the buffer, at this byte or later.
  std::optional<std::uint64_t> next_part() const;

 private:
  std::string_view view() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void note_part();

  ByteSource& source_;
  std::string buffer_;
  std::string peeked_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;
  bool ended_ = false;
  std::deque<std::uint64_t> parts_;  ///< offsets of those that begin in the buffer
  std::optional<Fault> fault_;
  bool is_of_source_ = false;  ///< the fault
};

}  // namespace reprise::importing
