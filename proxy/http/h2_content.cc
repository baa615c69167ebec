#include "proxy/http/h2_content.h"

#include <algorithm>

#include "base/http/h1_parser.h"
#include "proxy/http/h2_session.h"

namespace reprise {
namespace {

constexpr std::size_t kFieldOverheadBytes = 32;  // RFC 9113 section 6.5.2

class H2Category final : public std::error_category {
  const char* name() const noexcept override { return "http/2"; }
  std::string message(int code) const override {
    return nghttp2_http2_strerror(static_cast<std::uint32_t>(code));
  }
};

}  // namespace

const std::error_category& h2_category() {
  static const H2Category category;
  return category;
}

void H2Head::add(std::string_view name, std::string_view value) {
  unfolded_bytes_ += name.size() + value.size() + kFieldOverheadBytes;
  too_long_ = too_long_ || text_.size() + name.size() + value.size() > kH2HeadBytesMax ||
              fields_.size() == kHeadFieldsMax;
  if (too_long_) return;
  text_.append(name).append(value);
  fields_.push_back({.name_bytes = static_cast<std::uint32_t>(name.size()),
                     .value_bytes = static_cast<std::uint32_t>(value.size())});
}

void H2Head::read_into(std::vector<HeaderView>& fields) const {
  fields.clear();
  std::string_view rest = text_;
  for (const Field& field : fields_) {
    fields.push_back({.name = rest.substr(0, field.name_bytes),
                      .value = rest.substr(field.name_bytes, field.value_bytes)});
    rest.remove_prefix(field.name_bytes + field.value_bytes);
  }
}

std::vector<HeaderView> H2Head::fields() const {
  std::vector<HeaderView> fields;
  fields.reserve(fields_.size());
  read_into(fields);
  return fields;
}

void H2Head::reserve() {
  text_.reserve(512);
  fields_.reserve(20);
}

void H2Head::clear() {
  constexpr std::size_t kKeptBytesMax = 4 << 10;
  if (text_.capacity() > kKeptBytesMax) *this = {};
  text_.clear();
  fields_.clear();
  unfolded_bytes_ = 0;
  too_long_ = false;
}

H2Content::~H2Content() {
  drop_unread();
}

void H2Content::drop_unread() {
  release(incoming_.size() + reading_.size());
  incoming_.clear();
  reading_.clear();
  trailers_ = {};
}

void H2Content::reuse(std::int32_t id) {
  drop_unread();
  id_ = id;
  ended_ = false;
  awaits_content_ = false;  // a read() that was cancelled leaves it set
  moved_bytes_ = 0;
  outgoing_ = {};
  whole_ = nullptr;
  next_whole_piece_ = 0;
  finishing_ = false;
  head_gone_ = false;
  outgoing_trailers_ = {};
  end_sent_ = false;
  hurries_ = false;
  closed_ = false;
  error_code_ = 0;
  for (Event* const event : {&readable_, &drained_, &close_}) event->forget();
}

void H2Content::release(std::size_t size_bytes) {
  if (size_bytes == 0) return;
  nghttp2_session_consume_connection(session_->raw(), size_bytes);
  session_->wake();
}

Task<Bytes> H2Content::read() {
  if (!reading_.empty()) {
    if (!closed_) nghttp2_session_consume_stream(session_->raw(), id_, reading_.size());
    release(reading_.size());
    reading_.clear();
  }
  while (incoming_.empty()) {
    if (ended_) co_return Bytes{};
    if (auto const gone = broken(); !gone) co_return fail(gone.error());
    awaits_content_ = true;
    co_await readable_.wait();
    awaits_content_ = false;
  }
  reading_.swap(incoming_);
  co_return Bytes(reading_);
}

Result<void> H2Content::broken() const {
  if (!closed_) return {};
  // A stream may be closed without error and still be unusable for a writer.
  auto const code = error_code_ == NGHTTP2_NO_ERROR ? NGHTTP2_STREAM_CLOSED : error_code_;
  return fail(std::error_code(static_cast<int>(code), h2_category()));
}

Task<void> H2Content::write(Bytes bytes) {
  if (bytes.empty()) co_return broken();
  outgoing_ = bytes;
  nghttp2_session_resume_data(session_->raw(), id_);
  session_->wake();
  while (!outgoing_.empty()) {
    if (auto const gone = broken(); !gone) co_return gone;
    co_await drained_.wait();
  }
  co_return Result<void>{};
}

Task<void> H2Content::flush_head() {
  while (!head_gone_) {
    if (auto const gone = broken(); !gone) co_return gone;
    co_await drained_.wait();
  }
  co_return broken();
}

Task<void> H2Content::finish(HeaderList trailers) {
  if (auto const gone = broken(); !gone) co_return gone;
  finishing_ = true;
  outgoing_trailers_ = trailers;
  nghttp2_session_resume_data(session_->raw(), id_);
  session_->wake();
  while (finishing_) {
    if (auto const gone = broken(); !gone) co_return gone;
    co_await drained_.wait();
  }
  co_return Result<void>{};
}

Task<void> H2Content::pause_until(std::chrono::steady_clock::time_point at) {
  while (!hurries_ && !closed_ && std::chrono::steady_clock::now() < at) {
    co_await drained_.wait_until(at);
  }
  co_return broken();
}

void H2Content::send_whole(StoredResponsePtr response) {
  whole_ = std::move(response);
  outgoing_ = whole_->parts().body.bytes;
  finishing_ = true;
  outgoing_trailers_ = whole_->parts().trailers;
}

ssize_t H2Content::next_piece(std::size_t limit_bytes, std::uint32_t& flags) {
  if (!std::exchange(head_gone_, true)) drained_.set();
  auto const* const pieces = whole_ != nullptr ? whole_->parts().pieces.get() : nullptr;
  auto const count = pieces != nullptr ? pieces->pieces() : 0;
  while (outgoing_.empty() && next_whole_piece_ < count) {
    auto const piece = pieces->piece(next_whole_piece_++);
    if (!piece) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // damaged: resets the stream
    outgoing_ = *piece;
  }
  if (outgoing_.empty() && !finishing_) return NGHTTP2_ERR_DEFERRED;
  auto const size = std::min(limit_bytes, outgoing_.size());
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (finishing_ && size == outgoing_.size() && next_whole_piece_ == count) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!outgoing_trailers_.empty()) {
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      submit_trailers();
    }
    finishing_ = false;
    if (size == 0) drained_.set();
  }
  return static_cast<ssize_t>(size);
}

void H2Content::submit_trailers() {
  std::vector<nghttp2_nv> fields;  // nghttp2 copies them, names in lower case
  for (const HeaderView& field : outgoing_trailers_) {
    if (is_connection_field(field) || !is_h2_value(field.value)) continue;
    fields.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(field.name.data())),
                      reinterpret_cast<std::uint8_t*>(const_cast<char*>(field.value.data())),
                      field.name.size(), field.value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_submit_trailer(session_->raw(), id_, fields.data(), fields.size());
}

Bytes H2Content::take_piece(std::size_t size_bytes) {
  auto const taken = outgoing_.first(size_bytes);
  outgoing_ = outgoing_.subspan(size_bytes);
  moved_bytes_ += size_bytes;
  if (outgoing_.empty()) drained_.set();
  return taken;
}

nghttp2_data_provider H2Content::provider() {
  return {.source = {.ptr = this},
          .read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t limit,
                              std::uint32_t* flags, nghttp2_data_source* source, void*) {
            return static_cast<H2Content*>(source->ptr)->next_piece(limit, *flags);
          }};
}

void H2Content::took(Bytes bytes) {
  incoming_.insert(incoming_.end(), bytes.begin(), bytes.end());
  moved_bytes_ += bytes.size();
  readable_.set();
}

void H2Content::end_incoming(Headers trailers) {
  ended_ = true;
  trailers_ = std::move(trailers);
  readable_.set();
}

void H2Content::close(std::uint32_t error_code) {
  closed_ = true;
  error_code_ = error_code;
  readable_.set();
  drained_.set();
  close_.set();
}

}  // namespace reprise
