#include "proxy/http/h3/h3_server_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/text/ascii.h"
#include "proxy/http/h2_fields.h"
#include "proxy/quic/library_assertion.h"

namespace reprise {
namespace {

/// Of a handler, that the client has not acknowledged. nghttp3 sends nothing more on any stream
/// while one that it has chosen has 1024 pieces of which none is left to send; a write is two.
constexpr std::size_t kWritesMax = 256;

class H3Category final : public std::error_category {
  const char* name() const noexcept override { return "http/3"; }
  std::string message(int code) const override {
    switch (static_cast<unsigned>(code)) {
      case NGHTTP3_H3_NO_ERROR:
        return "the client has closed the stream";
      case NGHTTP3_H3_REQUEST_CANCELLED:
        return "the client has cancelled the request";
      case NGHTTP3_H3_INTERNAL_ERROR:
        return "internal error";
      case NGHTTP3_H3_EXCESSIVE_LOAD:
        return "excessive load";
      default:
        return "code " + std::to_string(code);
    }
  }
};

std::uint8_t* nghttp3_bytes(std::string_view text) {
  return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

/// Both libraries have the same layout and the same flags (RFC 9204 took them over).
nghttp3_nv field_of(const nghttp2_nv& field) {
  return {.name = field.name,
          .value = field.value,
          .namelen = field.namelen,
          .valuelen = field.valuelen,
          .flags = field.flags};
}
static_assert(sizeof(nghttp2_nv) == sizeof(nghttp3_nv) &&
              offsetof(nghttp2_nv, value) == offsetof(nghttp3_nv, value) &&
              offsetof(nghttp2_nv, namelen) == offsetof(nghttp3_nv, namelen) &&
              offsetof(nghttp2_nv, valuelen) == offsetof(nghttp3_nv, valuelen) &&
              offsetof(nghttp2_nv, flags) == offsetof(nghttp3_nv, flags));
static_assert(int{NGHTTP2_NV_FLAG_NO_COPY_NAME} == int{NGHTTP3_NV_FLAG_NO_COPY_NAME} &&
              int{NGHTTP2_NV_FLAG_NO_COPY_VALUE} == int{NGHTTP3_NV_FLAG_NO_COPY_VALUE});

nghttp3_ssize read_piece(nghttp3_conn*, std::int64_t, nghttp3_vec* pieces, std::size_t,
                         std::uint32_t* flags, void*, void* stream) {
  if (stream == nullptr) return NGHTTP3_ERR_WOULDBLOCK;
  return static_cast<H3ServerStream*>(stream)->next_piece(*pieces, *flags);
}

}  // namespace

const std::error_category& h3_category() {
  static const H3Category category;
  return category;
}

H3ServerStream::~H3ServerStream() {
  auto const unread = incoming_.size() + reading_.size();
  if (unread > 0) streams_.extend(id_, false, unread);
}

bool H3ServerStream::stalls_over(std::chrono::seconds patience, bool blocked,
                                 std::chrono::steady_clock::time_point now) {
  bool const to_take = blocked && (!outgoing_.empty() || finishing_ || flushing_ ||
                                   taken_bytes_ > acknowledged_bytes_);
  auto const moved =
      received_bytes_ + taken_bytes_ + acknowledged_bytes_ + stream_acknowledged_bytes_;
  return stand_still_.lasts_over(
      patience, awaits_content_ || to_take ? std::optional(moved) : std::nullopt, now);
}

template <class Work>
void H3ServerStream::call(const Work& work) {
  auto* const connection = streams_.raw();
  if (connection == nullptr) return;
  if (!survives_assertions([&] { work(connection); })) streams_.abandon();
}

Result<void> H3ServerStream::broken() const {
  if (!closed_) return {};
  return fail(std::error_code(static_cast<int>(code_), h3_category()));
}

Task<Bytes> H3ServerStream::read() {
  if (expects_continue_ && !head_sent_ && !ended_ && incoming_.empty()) {
    if (auto const asked = co_await send_head({.status = 100}); !asked) {
      co_return fail(asked.error());
    }
  }
  expects_continue_ = false;
  if (!reading_.empty()) {
    streams_.extend(id_, !closed_, reading_.size());
    reading_.clear();
  }
  while (incoming_.empty()) {
    if (ended_) co_return Bytes{};
    if (auto const usable = broken(); !usable) co_return fail(usable.error());
    awaits_content_ = true;
    co_await readable_.wait();
    awaits_content_ = false;
  }
  reading_.swap(incoming_);
  co_return Bytes(reading_);
}

void H3ServerStream::took(Bytes bytes) {
  incoming_.insert(incoming_.end(), bytes.begin(), bytes.end());
  received_bytes_ += bytes.size();
  readable_.set();
}

void H3ServerStream::submit_interim(const ResponseHead& interim) {
  if (interim.status == 101) return;
  if (interim.status == 100) expects_continue_ = false;
  H2Fields const made(interim);
  std::vector<nghttp3_nv> fields;
  for (const nghttp2_nv& field : made.copied()) fields.push_back(field_of(field));
  call([&](nghttp3_conn* connection) {
    (void)nghttp3_conn_submit_info(connection, id_, fields.data(), fields.size());
  });
  streams_.wake();
}

void H3ServerStream::respond(const nghttp2_nv* fields, std::size_t count) {
  static constexpr std::string_view kAltSvc = "alt-svc";
  bool const has_alt_svc =
      alt_svc_.empty() || std::any_of(fields, fields + count, [](const nghttp2_nv& field) {
        return field.namelen == kAltSvc.size() &&
               std::memcmp(field.name, kAltSvc.data(), kAltSvc.size()) == 0;
      });
  std::vector<nghttp3_nv, RecyclingAllocator<nghttp3_nv>> all(has_alt_svc ? count : count + 1);
  std::memcpy(all.data(), fields, count * sizeof *fields);
  if (!has_alt_svc) {
    all.back() = {.name = nghttp3_bytes(kAltSvc),
                  .value = nghttp3_bytes(alt_svc_),
                  .namelen = kAltSvc.size(),
                  .valuelen = alt_svc_.size(),
                  .flags = NGHTTP3_NV_FLAG_NO_COPY_NAME | NGHTTP3_NV_FLAG_NO_COPY_VALUE};
  }
  nghttp3_data_reader const content{.read_data = read_piece};
  call([&](nghttp3_conn* connection) {
    int const code = nghttp3_conn_submit_response(connection, id_, all.data(), all.size(),
                                                  has_content_ ? &content : nullptr);
    if (code != 0) streams_.reset_soon(id_, NGHTTP3_H3_INTERNAL_ERROR);
  });
  streams_.wake();
}

Task<void> H3ServerStream::send_head(const ResponseHead& response) {
  if (auto const usable = broken(); !usable) co_return usable;
  if (is_interim(response.status)) {
    submit_interim(response);
    co_return Result<void>{};
  }
  H2Fields const made(response);
  auto const fields = made.copied();
  head_sent_ = true;
  has_content_ = may_have_body(method_, response.status);
  respond(fields.data(), fields.size());
  co_return Result<void>{};
}

Task<void> H3ServerStream::write(Bytes bytes) {
  bool const flushes = bytes.empty();
  if (!head_sent_ || (!has_content_ && !flushes)) co_return Result<void>{};
  if (!flushes) {
    if (auto const usable = broken(); !usable) co_return usable;
    // The caller's bytes live until write() returns, these until the client acknowledged them.
    outgoing_ = written_.emplace_back(bytes.begin(), bytes.end());
    call([this](nghttp3_conn* connection) { (void)nghttp3_conn_resume_stream(connection, id_); });
    streams_.wake();
  }
  flushing_ = flushes;
  while (!closed_ && is_behind()) co_await drained_.wait();
  flushing_ = false;
  co_return broken();
}

/// Whether write() has to wait.
bool H3ServerStream::is_behind() const {
  if (!head_gone_ || !outgoing_.empty() || written_.size() > kWritesMax) return true;
  if (!flushing_) return false;
  // The content is not all: the head goes before it, and may be everything.
  bool const head_left = stream_sent_bytes_ > sent_before_head_ && unsent_bytes_ == 0;
  return !head_left || stream_acknowledged_bytes_ < stream_sent_bytes_ ||
         acknowledged_bytes_ < taken_bytes_;
}

Task<void> H3ServerStream::finish(HeaderList trailers) {
  finished_ = true;
  if (!has_content_) co_return Result<void>{};
  if (auto const usable = broken(); !usable) co_return usable;
  finishing_ = true;
  outgoing_trailers_ = trailers;
  call([this](nghttp3_conn* connection) { (void)nghttp3_conn_resume_stream(connection, id_); });
  streams_.wake();
  while (finishing_) {
    if (auto const usable = broken(); !usable) co_return usable;
    co_await drained_.wait();
  }
  co_return Result<void>{};
}

Task<void> H3ServerStream::send_stored(StoredResponsePtr response) {
  if (auto const usable = broken(); !usable) co_return usable;
  answer(std::move(response));
  co_return Result<void>{};
}

void H3ServerStream::answer(StoredResponsePtr stored) {
  answered_ = std::move(stored);
  const StoredResponse& response = *answered_;
  auto const& parts = response.parts();
  for (const ResponseHead& interim : parts.interim) submit_interim(interim);
  head_sent_ = true;
  finished_ = true;
  has_content_ = may_have_body(method_, parts.head.status) &&
                 (!parts.body.bytes.empty() || parts.pieces != nullptr || !parts.trailers.empty());
  if (has_content_) {
    outgoing_ = parts.body.bytes;
    finishing_ = true;
    outgoing_trailers_ = parts.trailers;
  }
  respond(response.h2_fields().data(), response.h2_fields().size());
}

/// The final head, and not only an interim one, is among what nghttp3 offers. Some of it is unsent.
void H3ServerStream::note_head() {
  if (std::exchange(head_gone_, true)) return;
  sent_before_head_ = stream_sent_bytes_;
  drained_.set();
}

/// Makes outgoing_ the next piece of a stored body. False if it is damaged.
bool H3ServerStream::load_piece() {
  auto const* const pieces = answered_ != nullptr ? answered_->parts().pieces.get() : nullptr;
  if (pieces == nullptr) return true;
  while (outgoing_.empty() && next_whole_piece_ < pieces->pieces()) {
    auto const piece = pieces->piece(next_whole_piece_++);
    if (!piece) return false;
    outgoing_ = *piece;
  }
  return true;
}

nghttp3_ssize H3ServerStream::next_piece(nghttp3_vec& piece, std::uint32_t& flags) {
  note_head();  // nghttp3 asks once the head is among what it will offer
  if (!load_piece()) {
    streams_.reset_soon(id_, NGHTTP3_H3_INTERNAL_ERROR);
    return NGHTTP3_ERR_WOULDBLOCK;
  }
  if (outgoing_.empty() && !finishing_) return NGHTTP3_ERR_WOULDBLOCK;
  auto const taken = std::exchange(outgoing_, {});
  taken_bytes_ += taken.size();
  if (!load_piece()) {
    streams_.reset_soon(id_, NGHTTP3_H3_INTERNAL_ERROR);
  } else if (finishing_ && outgoing_.empty()) {
    flags |= NGHTTP3_DATA_FLAG_EOF;
    if (!outgoing_trailers_.empty()) {
      flags |= NGHTTP3_DATA_FLAG_NO_END_STREAM;
      submit_trailers();
    }
    finishing_ = false;
  }
  drained_.set();
  if (taken.empty()) return 0;
  piece = {.base = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(taken.data())),
           .len = taken.size()};
  return 1;
}

void H3ServerStream::submit_trailers() {
  std::vector<std::string> names;
  names.reserve(outgoing_trailers_.size());
  std::vector<nghttp3_nv> fields;
  for (const HeaderView& field : outgoing_trailers_) {
    if (is_connection_field(field) || !is_h2_value(field.value)) continue;
    auto& name = names.emplace_back(field.name);
    for (char& c : name) c = to_lower(c);
    fields.push_back({.name = nghttp3_bytes(name),
                      .value = nghttp3_bytes(field.value),
                      .namelen = name.size(),
                      .valuelen = field.value.size(),
                      .flags = NGHTTP3_NV_FLAG_NONE});
  }
  (void)nghttp3_conn_submit_trailers(streams_.raw(), id_, fields.data(), fields.size());
}

void H3ServerStream::acknowledged(std::uint64_t size_bytes) {
  acknowledged_bytes_ += size_bytes;
  if (acknowledged_bytes_ >= taken_bytes_) drained_.set();
  if (written_.empty()) return;
  bool const too_many = written_.size() > kWritesMax;
  written_acknowledged_ += size_bytes;
  while (!written_.empty() && written_acknowledged_ >= written_.front().size()) {
    written_acknowledged_ -= written_.front().size();
    written_.pop_front();
  }
  if (too_many && written_.size() <= kWritesMax) drained_.set();
}

void H3ServerStream::stream_offered(std::size_t size_bytes, bool ends) {
  unsent_bytes_ = size_bytes;
  if (ends) note_head();  // without content, it is the head that ends the stream
}

void H3ServerStream::stream_sent(std::size_t size_bytes) {
  stream_sent_bytes_ += size_bytes;
  unsent_bytes_ -= std::min(size_bytes, unsent_bytes_);
}

void H3ServerStream::stream_acknowledged(std::uint64_t size_bytes) {
  stream_acknowledged_bytes_ += size_bytes;
  if (flushing_) drained_.set();
}

Task<void> H3ServerStream::pause_until(std::chrono::steady_clock::time_point at) {
  while (!hurries_ && !closed_ && std::chrono::steady_clock::now() < at) {
    co_await drained_.wait_until(at);
  }
  co_return broken();
}

awaitable<void> H3ServerStream::client_gone() {
  while (!closed_) co_await close_.wait();
}

void H3ServerStream::hurry() {
  hurries_ = true;
  drained_.set();
}

void H3ServerStream::close(std::uint64_t code) {
  if (std::exchange(closed_, true)) return;
  code_ = code;
  readable_.set();
  drained_.set();
  close_.set();
}

}  // namespace reprise
