#include "proxy/http/h2_session.h"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cstring>

#include "proxy/http/h1_parser.h"

namespace reprise {
namespace {

class H2Category final : public std::error_category {
  const char* name() const noexcept override { return "http/2"; }
  std::string message(int code) const override {
    return nghttp2_http2_strerror(static_cast<std::uint32_t>(code));
  }
};

std::error_code library_error(ssize_t code) {
  if (code == NGHTTP2_ERR_NOMEM) return std::make_error_code(std::errc::not_enough_memory);
  return {NGHTTP2_PROTOCOL_ERROR, h2_category()};
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

const std::error_category& h2_category() {
  static const H2Category category;
  return category;
}

Task<Bytes> H2Content::read() {
  if (!reading_.empty()) {
    auto const done = reading_.size();
    reading_.clear();
    if (!closed_) nghttp2_session_consume_stream(session_->raw(), id_, done);
    session_->wake();
  }
  while (incoming_.empty()) {
    if (ended_) co_return Bytes{};
    if (auto const gone = broken(); !gone) co_return fail(gone.error());
    co_await readable_.wait();
  }
  reading_.swap(incoming_);
  co_return Bytes(reading_);
}

Result<void> H2Content::broken() const {
  if (!closed_) return {};
  // A stream may be closed without error and yet be of no more use to whoever writes.
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

Task<void> H2Content::finish(HeaderList trailers) {
  if (auto const gone = broken(); !gone) co_return gone;
  finishing_ = true;
  outgoing_trailers_ = trailers;
  nghttp2_session_resume_data(session_->raw(), id_);
  session_->wake();
  while (finishing_ && !closed_) co_await drained_.wait();
  co_return Result<void>{};
}

void H2Content::send_whole(const StoredResponse& response) {
  whole_ = &response;
  outgoing_ = response.parts().body;
  finishing_ = true;
  outgoing_trailers_ = response.parts().trailers;
}

ssize_t H2Content::next_piece(std::size_t limit_bytes, std::uint32_t& flags) {
  if (outgoing_.empty() && whole_ != nullptr && whole_->parts().pieces != nullptr &&
      next_whole_piece_ < whole_->parts().pieces->pieces()) {
    auto const piece = whole_->parts().pieces->piece(next_whole_piece_++);
    if (!piece) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // damaged: resets the stream
    outgoing_ = *piece;
  }
  bool const more_pieces = whole_ != nullptr && whole_->parts().pieces != nullptr &&
                           next_whole_piece_ < whole_->parts().pieces->pieces();
  if (outgoing_.empty() && !finishing_) return NGHTTP2_ERR_DEFERRED;
  auto const size = std::min(limit_bytes, outgoing_.size());
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (finishing_ && size == outgoing_.size() && !more_pieces) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!outgoing_trailers_.empty()) {
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      std::vector<nghttp2_nv> fields;
      for (const HeaderView& field : outgoing_trailers_) {
        fields.push_back({reinterpret_cast<std::uint8_t*>(const_cast<char*>(field.name.data())),
                          reinterpret_cast<std::uint8_t*>(const_cast<char*>(field.value.data())),
                          field.name.size(), field.value.size(), NGHTTP2_NV_FLAG_NONE});
      }
      nghttp2_submit_trailer(session_->raw(), id_, fields.data(), fields.size());
    }
    finishing_ = false;
    if (size == 0) drained_.set();
  }
  return static_cast<ssize_t>(size);
}

Bytes H2Content::take_piece(std::size_t size_bytes) {
  auto const taken = outgoing_.first(size_bytes);
  outgoing_ = outgoing_.subspan(size_bytes);
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

void H2Content::begin_head() {
  head_began_ = true;
  head_text_.clear();
  head_fields_.clear();
}

bool H2Content::add_field(std::string_view name, std::string_view value) {
  if (head_text_.size() + name.size() + value.size() > kH2HeadBytesMax ||
      head_fields_.size() == kHeadFieldsMax) {
    return false;
  }
  head_text_.append(name).append(value);
  head_fields_.push_back({.name_bytes = static_cast<std::uint32_t>(name.size()),
                          .value_bytes = static_cast<std::uint32_t>(value.size())});
  return true;
}

std::vector<HeaderView> H2Content::fields() const {
  std::vector<HeaderView> fields;
  fields.reserve(head_fields_.size());
  std::string_view rest = head_text_;
  for (const Field& field : head_fields_) {
    fields.push_back({.name = rest.substr(0, field.name_bytes),
                      .value = rest.substr(field.name_bytes, field.value_bytes)});
    rest.remove_prefix(field.name_bytes + field.value_bytes);
  }
  return fields;
}

/// nghttp2's callbacks, turned into calls of the session.
struct H2Session::Callbacks {
  static H2Session& self(void* user) { return *static_cast<H2Session*>(user); }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).on_begin_head(*frame);
    if (auto* const content = self(user).content_of(frame->hd.stream_id)) content->begin_head();
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    auto* const content = self(user).content_of(frame->hd.stream_id);
    if (content == nullptr) return 0;
    bool const fits = content->add_field(text_of(name, name_size), text_of(value, value_size));
    return fits ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        if (auto* const content = self(user).content_of(frame->hd.stream_id)) {
          self(user).on_head(*frame, *content);
        }
        break;
      case NGHTTP2_DATA:
        if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
          if (auto* const content = self(user).content_of(frame->hd.stream_id)) {
            content->end_incoming({});
          }
        }
        break;
      case NGHTTP2_SETTINGS:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
          self(user).on_settings({frame->settings.iv, frame->settings.niv});
        }
        break;
      case NGHTTP2_GOAWAY:
        self(user).on_goaway();
        break;
      default:
        break;
    }
    return 0;
  }

  static int data_chunk(nghttp2_session* session, std::uint8_t, std::int32_t stream_id,
                        const std::uint8_t* data, std::size_t size, void* user) {
    // The connection's window is opened again at once: the streams' own windows bound what is held.
    nghttp2_session_consume_connection(session, size);
    if (auto* const content = self(user).content_of(stream_id)) {
      content->took(std::as_bytes(std::span(data, size)));
    }
    return 0;
  }

  static int stream_closed(nghttp2_session* session, std::int32_t stream_id,
                           std::uint32_t error_code, void* user) {
    auto* const content = self(user).content_of(stream_id);
    if (content == nullptr) return 0;
    nghttp2_session_set_stream_user_data(session, stream_id, nullptr);
    content->close(error_code);
    self(user).on_closed(*content);
    return 0;
  }

  static int send_data(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head,
                       std::size_t size, nghttp2_data_source* source, void* user) {
    static_assert(NGHTTP2_DATA == 0);
    auto& out = self(user).out_;
    auto const piece = static_cast<H2Content*>(source->ptr)->take_piece(size);
    auto const frame_head = std::as_bytes(std::span(head, 9));
    out.insert(out.end(), frame_head.begin(), frame_head.end());
    if (frame->data.padlen > 0) out.push_back(std::byte(frame->data.padlen - 1));
    out.insert(out.end(), piece.begin(), piece.end());
    if (frame->data.padlen > 1) out.resize(out.size() + frame->data.padlen - 1);
    return 0;
  }
};

NgHttp2CallbacksPtr H2Session::make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  nghttp2_session_callbacks_new(&made);
  nghttp2_session_callbacks_set_on_begin_headers_callback(made, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::frame_received);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::data_chunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::stream_closed);
  nghttp2_session_callbacks_set_send_data_callback(made, Callbacks::send_data);
  return NgHttp2CallbacksPtr(made);
}

H2Session::~H2Session() = default;

H2Content* H2Session::content_of(std::int32_t stream_id) const {
  return static_cast<H2Content*>(nghttp2_session_get_stream_user_data(session_.get(), stream_id));
}

Result<bool> H2Session::gather() {
  out_.clear();
  while (out_.size() < kGatherBytes) {
    const std::uint8_t* data = nullptr;
    auto const size = nghttp2_session_mem_send(session_.get(), &data);
    if (size < 0) return fail(library_error(size));
    if (size == 0) break;
    auto const frame = std::as_bytes(std::span(data, static_cast<std::size_t>(size)));
    out_.insert(out_.end(), frame.begin(), frame.end());
  }
  return !out_.empty();
}

void H2Session::wake() {
  if (in_callbacks_ || writer_busy_) return;
  writer_busy_ = true;
  writable_.set();
}

Task<void> H2Session::write_loop() {
  while (true) {
    auto const more = gather();
    if (!more) co_return fail(more.error());
    if (*more) {
      writer_busy_ = true;
      auto const sent = co_await stream_.write(Bytes(out_));
      if (!sent) co_return fail(sent.error());
      continue;
    }
    writer_busy_ = false;
    bool const done =
        !nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get());
    if (done || ended_) break;
    co_await writable_.wait();
  }
  co_await stream_.shutdown();
  co_return Result<void>{};
}

Task<void> H2Session::read_loop() {
  std::vector<std::byte> buffer(kReadBytes);
  while (true) {
    auto const count = co_await stream_.read_some(buffer);
    if (!count) co_return fail(count.error());
    if (*count == 0) break;
    in_callbacks_ = true;
    auto const used = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(buffer.data()), *count);
    in_callbacks_ = false;
    if (used < 0) co_return fail(library_error(used));
    on_batch();
    wake();
    if (!nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get())) {
      break;
    }
  }
  co_return Result<void>{};
}

Task<void> H2Session::run() {
  using net::experimental::awaitable_operators::operator&&;
  auto const reading = [this]() -> Task<void> {
    auto result = co_await read_loop();
    ended_ = true;
    writable_.set();
    co_return result;
  };
  auto const writing = [this]() -> Task<void> {
    auto result = co_await write_loop();
    // What could not be sent ends the other direction, too.
    if (!result) stream_.close();
    co_return result;
  };
  auto [read, written] = co_await (reading() && writing());
  if (!written) co_return written;
  co_return read;
}

}  // namespace reprise
