#include "archive/import/collect/body_feed.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace reprise::importing {
namespace {

/// "1a", "1A ; extension". Nothing if it is not a size.
std::optional<std::uint64_t> parse_size(std::string_view line) {
  std::uint64_t size = 0;
  auto const read = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  if (read.ec != std::errc()) return std::nullopt;
  auto const rest = std::string_view(read.ptr, line.data() + line.size());
  auto const next = rest.find_first_not_of(" \t\r");
  if (next != std::string_view::npos && rest[next] != ';') return std::nullopt;
  return size;
}

/// After the last chunk only an empty line, sometimes malformed, belongs to it.
bool is_more_than_an_end(std::string_view rest) {
  return rest.find_first_not_of("\r\n") != std::string_view::npos;
}

}  // namespace

std::size_t ChunkParser::append(std::string_view bytes, std::string& out) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone && state_ != State::kBad) {
    if (state_ == State::kData) {
      auto const piece = bytes.substr(at, left_);
      out += piece;
      at += piece.size();
      left_ -= piece.size();
      if (left_ == 0) state_ = State::kDataEnd;
      continue;
    }
    auto const end = bytes.find('\n', at);
    auto const piece = bytes.substr(at, end == std::string_view::npos ? end : end - at);
    if (line_.size() + piece.size() + trailers_.size() > kLineBytesMax) {
      state_ = State::kBad;
      break;
    }
    line_ += piece;
    at += piece.size();
    if (end == std::string_view::npos) break;
    ++at;
    end_line();
  }
  return at;
}

void ChunkParser::end_line() {
  auto line = std::exchange(line_, {});
  bool const has_return = line.ends_with('\r');
  if (has_return) line.pop_back();
  if (state_ == State::kSize) {
    auto const size = parse_size(line);
    left_ = size.value_or(0);
    if (!size) {
      state_ = State::kBad;
    } else {
      state_ = left_ == 0 ? State::kTrailers : State::kData;
      has_begun_ = has_begun_ || (left_ > 0 && has_return);
    }
  } else if (state_ == State::kDataEnd) {
    state_ = line.empty() ? State::kSize : State::kBad;
    any_whole_ = any_whole_ || line.empty();
  } else if (line.empty()) {
    state_ = State::kDone;
  } else {
    trailers_ += line + "\n";
  }
}

BodyFeed::BodyFeed(ExchangeSink& sink, bool maybe_chunked, std::string_view content_encoding)
    : sink_(sink.open_body()),
      coding_(content_encoding),
      mode_(maybe_chunked ? Mode::kSniffing : Mode::kPlain) {}

Result<void> BodyFeed::store(std::string_view content) {
  coding_.append(content);
  return sink_->append(std::as_bytes(std::span(content)));
}

Result<void> BodyFeed::become_plain() {
  mode_ = Mode::kPlain;
  content_.clear();
  return store(std::exchange(held_, {}));
}

Result<void> BodyFeed::append(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (mode_ == Mode::kPlain) return store(bytes);
  if (mode_ == Mode::kSniffing) return sniff(bytes);
  content_.clear();
  auto const taken = chunks_.append(bytes, content_);
  broken_ = broken_ || is_more_than_an_end(bytes.substr(taken));
  return store(content_);
}

Result<void> BodyFeed::sniff(std::string_view bytes) {
  held_ += bytes;
  auto const taken = chunks_.append(bytes, content_);
  bool const ends_oddly = is_more_than_an_end(bytes.substr(taken));
  if (chunks_.state() == ChunkParser::State::kBad || ends_oddly) return become_plain();
  if (held_.size() < kSniffBytes) return {};
  // Text that begins with a number: the body ends before such a chunk.
  auto const expected = expected_bytes_.value_or(std::numeric_limits<std::uint64_t>::max());
  auto const to_come = expected - std::min<std::uint64_t>(held_.size(), expected);
  if (chunks_.left_of_first() > to_come) return become_plain();
  mode_ = Mode::kChunked;
  held_ = {};
  return store(std::exchange(content_, {}));
}

Result<FoundBody> BodyFeed::finish(bool is_cut) {
  auto const done = chunks_.state() == ChunkParser::State::kDone;
  if (mode_ == Mode::kSniffing) {
    if (chunks_.shows_chunks(is_cut)) {
      mode_ = Mode::kChunked;
      if (auto stored = store(content_); !stored) return fail(stored.error());
    } else if (auto plain = become_plain(); !plain) {
      return fail(plain.error());
    }
  }
  FoundBody found{.coding = coding_.finish(), .chunked = mode_ == Mode::kChunked};
  if (found.chunked) {
    found.broken_chunks = broken_ || !done;
    found.trailers = parse_fields(chunks_.trailer_text());
  }
  auto stored = sink_->finish();
  if (!stored) return fail(stored.error());
  found.stored = std::move(*stored);
  return found;
}

}  // namespace reprise::importing
