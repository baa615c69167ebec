#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive/import/collect/coding_check.h"
#include "archive/import/collect/http_text.h"
#include "archive/import/collect/sink.h"

namespace reprise::importing {

/// Decodes the chunked coding (RFC 9112 section 7.1) of bytes that arrive in pieces.
class ChunkParser {
 public:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailers, kDone, kBad };

  /// Appends content to `out`; stops at the end of the body or at an invalid chunk. Returns the
  /// number of bytes used.
  std::size_t append(std::string_view bytes, std::string& out);
  State state() const { return state_; }
  /// Whether the bytes so far show that they are chunks, since text can begin with a number: one
  /// was whole, or its data were, after a line that ends as it must. Of a body that `is_cut` such a
  /// line is enough.
  bool shows_chunks(bool is_cut) const {
    return state_ == State::kDone || any_whole_ ||
           (has_begun_ && (is_cut || state_ != State::kData));
  }
  /// The bytes that the first chunk lacks; 0 if it is whole, or was not begun.
  std::uint64_t left_of_first() const { return !any_whole_ && state_ == State::kData ? left_ : 0; }
  const std::string& trailer_text() const { return trailers_; }

 private:
  static constexpr std::size_t kLineBytesMax = 16 << 10;
  void end_line();

  State state_ = State::kSize;
  std::string line_;
  std::string trailers_;
  std::uint64_t left_ = 0;
  bool has_begun_ = false;  ///< a chunk, with a line that ends in CR and LF
  bool any_whole_ = false;
};

/// The properties of a body, as found.
struct FoundBody {
  StoredBody stored;
  CodingVerdict coding = CodingVerdict::kNone;
  bool kept = true;      ///< false: the recording does not have it
  bool chunked = false;  ///< valid chunks were decoded
  bool broken_chunks = false;
  Fields trailers;
};

/// Passes a body in pieces to the sink: decodes chunks if there are any (tools keep
/// `Transfer-Encoding: chunked` on decoded bodies) and checks the content coding. Holds at most
/// kSniffBytes: a first chunk that is longer is taken for one, unless expect() shows that the body
/// ends before it.
class BodyFeed {
 public:
  static constexpr std::size_t kSniffBytes = 1 << 20;

  BodyFeed(ExchangeSink& sink, bool maybe_chunked, std::string_view content_encoding);

  /// Before append(): the body, as received, has that many bytes, and was not cut.
  void expect(std::uint64_t size_bytes) { expected_bytes_ = size_bytes; }
  Result<void> append(std::string_view bytes);
  /// `is_cut`: the recording has only the beginning of the body.
  Result<FoundBody> finish(bool is_cut = false);

 private:
  enum class Mode : std::uint8_t { kSniffing, kChunked, kPlain };
  Result<void> sniff(std::string_view bytes);
  Result<void> store(std::string_view content);
  Result<void> become_plain();

  std::unique_ptr<BodySink> sink_;
  CodingCheck coding_;
  ChunkParser chunks_;
  Mode mode_;
  std::string held_;     ///< as received, while sniffing
  std::string content_;  ///< of its chunks
  bool broken_ = false;
  std::optional<std::uint64_t> expected_bytes_;
};

}  // namespace reprise::importing
