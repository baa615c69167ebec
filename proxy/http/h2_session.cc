#include "proxy/http/h2_session.h"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <cstring>

#include "base/http/h1_parser.h"

namespace reprise {
namespace {

std::error_code library_error(ssize_t code) {
  if (code == NGHTTP2_ERR_NOMEM) return std::make_error_code(std::errc::not_enough_memory);
  return {NGHTTP2_PROTOCOL_ERROR, h2_category()};
}

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

/// Passes nghttp2's callbacks to the session.
struct H2Session::Callbacks {
  static H2Session& self(void* user) { return *static_cast<H2Session*>(user); }

  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    self(user).on_begin_frame(*head);
    return 0;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    self(user).arriving_.clear();
    self(user).on_begin_head(*frame);
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    return self(user).take_field(text_of(name, name_size), text_of(value, value_size));
  }

  static int frame_received(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    switch (frame->hd.type) {
      case NGHTTP2_HEADERS:
        if (auto* const content = self(user).content_of(frame->hd.stream_id)) {
          self(user).on_head(*frame, *content, self(user).arriving_);
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
      case NGHTTP2_PING:
        if ((frame->hd.flags & NGHTTP2_FLAG_ACK) != 0) self(user).on_ping_answered();
        break;
      case NGHTTP2_GOAWAY:
        self(user).on_goaway();
        break;
      case NGHTTP2_PRIORITY_UPDATE: {
        auto const* const update = static_cast<nghttp2_ext_priority_update*>(frame->ext.payload);
        // RFC 9218 section 7.1; nghttp2 accepts it.
        if (update->stream_id == 0) {
          nghttp2_session_terminate_session(session, NGHTTP2_PROTOCOL_ERROR);
        }
        break;
      }
      default:
        break;
    }
    return 0;
  }

  static int data_chunk(nghttp2_session* session, std::uint8_t, std::int32_t stream_id,
                        const std::uint8_t* data, std::size_t size, void* user) {
    if (auto* const content = self(user).content_of(stream_id)) {
      content->took(std::as_bytes(std::span(data, size)));
    } else {
      nghttp2_session_consume_connection(session,
                                         size);  // the stream is closed: no one will read it
    }
    return 0;
  }

  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) self(user).on_goaway_sent();
    bool const may_end = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (auto* const content = self(user).content_of(frame->hd.stream_id)) {
      content->end_sent_ = true;
      self(user).on_end_sent(*content);
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
    auto& content = *static_cast<H2Content*>(source->ptr);
    auto const piece = content.take_piece(size);
    self(user).content_sent_bytes_ += size;
    auto const before = out.size();
    auto const frame_head = std::as_bytes(std::span(head, kFrameHeadBytes));
    out.insert(out.end(), frame_head.begin(), frame_head.end());
    if (frame->data.padlen > 0) out.push_back(std::byte(frame->data.padlen - 1));
    if (content.whole_ != nullptr && size >= kBorrowedBytesMin) {
      self(user).borrow(piece, content.whole_);
    } else {
      out.insert(out.end(), piece.begin(), piece.end());
    }
    if (frame->data.padlen > 1) out.resize(out.size() + frame->data.padlen - 1);
    self(user).gathered_bytes_ += out.size() - before;
    // Without the pause everything that the peer's windows permit would be taken at once: with
    // unlimited memory, and ahead of more urgent data.
    return self(user).gathered_bytes_ < kGatherBytes ? 0 : NGHTTP2_ERR_PAUSE;
  }

  static ssize_t data_length(nghttp2_session*, std::uint8_t, std::int32_t, std::int32_t,
                             std::int32_t, std::uint32_t frame_bytes_max, void*) {
    return std::min<ssize_t>(frame_bytes_max, kDataBytesMax);
  }
};

NgHttp2CallbacksPtr H2Session::make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  nghttp2_session_callbacks_new(&made);
  nghttp2_session_callbacks_set_on_begin_frame_callback(made, Callbacks::begin_frame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(made, Callbacks::begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::frame_received);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::data_chunk);
  nghttp2_session_callbacks_set_on_frame_send_callback(made, Callbacks::frame_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::stream_closed);
  nghttp2_session_callbacks_set_send_data_callback(made, Callbacks::send_data);
  nghttp2_session_callbacks_set_data_source_read_length_callback(made, Callbacks::data_length);
  return NgHttp2CallbacksPtr(made);
}

NgHttp2OptionPtr H2Session::make_options() {
  // Heads from HTTP/1 are sent complete, with any length; nghttp2's own limit is 64 KiB, beyond
  // which it would drop them silently.
  constexpr std::size_t kSentHeadBytesMax = 2 * kHeadBytesMax;
  constexpr std::size_t kFrameBytes = 16 << 10;
  nghttp2_option* made = nullptr;
  nghttp2_option_new(&made);
  nghttp2_option_set_no_auto_window_update(made, 1);
  nghttp2_option_set_max_send_header_block_length(made, kSentHeadBytesMax);
  nghttp2_option_set_max_continuations(made, kH2HeadBytesMax / kFrameBytes);
  return NgHttp2OptionPtr(made);
}

H2Session::~H2Session() = default;

H2Content* H2Session::content_of(std::int32_t stream_id) const {
  return static_cast<H2Content*>(nghttp2_session_get_stream_user_data(session_.get(), stream_id));
}

void H2Session::borrow(Bytes content, const StoredResponsePtr& owner) {
  borrowed_.push_back({.after_bytes = out_.size(), .content = content});
  if (lenders_.empty() || lenders_.back() != owner) lenders_.push_back(owner);
  gathered_bytes_ += content.size();
}

void H2Session::forget_gathered() {
  pending_.reset();
  out_.clear();
  borrowed_.clear();
  lenders_.clear();
  gathered_bytes_ = 0;
}

Result<bool> H2Session::gather() {
  forget_gathered();
  while (gathered_bytes_ < kGatherBytes) {
    const std::uint8_t* data = nullptr;
    auto const size = nghttp2_session_mem_send(session_.get(), &data);
    if (size < 0) return fail(library_error(size));
    if (size == 0) break;
    auto const frame = std::as_bytes(std::span(data, static_cast<std::size_t>(size)));
    out_.insert(out_.end(), frame.begin(), frame.end());
    gathered_bytes_ += frame.size();
  }
  pieces_.clear();
  std::size_t from = 0;
  for (const Borrowed& each : borrowed_) {
    pieces_.emplace_back(Bytes(out_).subspan(from, each.after_bytes - from));
    pieces_.emplace_back(each.content);
    from = each.after_bytes;
  }
  if (from < out_.size()) pieces_.emplace_back(Bytes(out_).subspan(from));
  return !pieces_.empty();
}

void H2Session::wake() {
  if (flush_follows_ || writer_busy_) return;
  writer_busy_ = true;
  writable_.set();
}

Result<bool> H2Session::send_now() {
  while (true) {
    if (!pending_) {
      auto const more = gather();
      gathered_.set();
      if (!more) return fail(more.error());
      if (!*more) return true;
      pending_.emplace(pieces_);
    }
    auto const done = stream_.write_now(*pending_);
    if (!done || !*done) return done;
    forget_gathered();
  }
}

bool H2Session::is_over() const {
  return ended_ || (nghttp2_session_want_read(session_.get()) == 0 &&
                    nghttp2_session_want_write(session_.get()) == 0);
}

void H2Session::flush() {
  if (writer_busy_) return;
  auto const all_sent = send_now();
  if (!all_sent || !*all_sent || is_over()) wake();
}

Task<void> H2Session::write_loop() {
  while (true) {
    auto const all_sent = send_now();
    if (!all_sent) co_return fail(all_sent.error());
    if (!*all_sent) {
      writer_busy_ = true;
      auto const sent = co_await stream_.write(*pending_);
      if (!sent) co_return fail(sent.error());
      forget_gathered();
      continue;
    }
    writer_busy_ = false;
    if (is_over()) break;
    co_await writable_.wait();
  }
  co_await stream_.shutdown();
  co_return Result<void>{};
}

void H2Session::say_goodbye(int library_code) {
  switch (library_code) {
    case NGHTTP2_ERR_FLOODED:
    case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS:
      nghttp2_session_terminate_session(session_.get(), NGHTTP2_ENHANCE_YOUR_CALM);
      break;
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC:
      nghttp2_session_terminate_session(session_.get(), NGHTTP2_PROTOCOL_ERROR);
      break;
    default:
      nghttp2_session_terminate_session(session_.get(), NGHTTP2_INTERNAL_ERROR);
  }
}

int H2Session::take_field(std::string_view name, std::string_view value) {
  auto const before = arriving_.unfolded_bytes();
  arriving_.add(name, value);
  auto const unfolded = arriving_.unfolded_bytes();
  if (unfolded > kH2UnfoldedBytesMax) {
    nghttp2_session_terminate_session(session_.get(), NGHTTP2_ENHANCE_YOUR_CALM);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // the rest of the head is ignored
  }
  stream_.count_work(unfolded - before);
  paused_ = stream_.turn_is_over();
  return paused_ ? NGHTTP2_ERR_PAUSE : 0;
}

Task<void> H2Session::work_in(Bytes bytes) {
  auto const refusal = refusal_in(bytes);
  if (refusal) bytes = bytes.first(refusal->before_bytes);
  do {
    if (std::exchange(paused_, false)) co_await stream_.yield_turn();
    auto const used = nghttp2_session_mem_recv(
        session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    if (used < 0) {
      say_goodbye(static_cast<int>(used));
      co_return fail(library_error(used));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(used));
  } while (paused_);
  if (refusal) nghttp2_session_terminate_session(session_.get(), refusal->error);
  co_return Result<void>{};
}

Task<void> H2Session::read_loop() {
  std::vector<std::byte> buffer(kReadBytes);
  Result<void> broken;
  while (true) {
    auto const count = co_await stream_.read_some(buffer);
    if (!count) co_return fail(count.error());
    if (*count == 0) break;
    // After an error all bytes are read and ignored: closing with unread bytes would cut off the
    // GOAWAY.
    if (!broken) continue;
    flush_follows_ = true;
    broken = co_await work_in(Bytes(buffer).first(*count));
    if (broken) {
      on_batch();
    } else {
      on_half_over();
    }
    flush_follows_ = false;
    flush();
    while (!sending_over_ &&
           nghttp2_session_get_outbound_queue_size(session_.get()) > kFramesWaitingMax) {
      co_await gathered_.wait();
    }
  }
  co_return broken;
}

Task<void> H2Session::run() {
  using net::experimental::awaitable_operators::operator&&;
  auto const reading = [this]() -> Task<void> {
    auto result = co_await read_loop();
    ended_ = true;
    on_half_over();
    writable_.set();
    co_return result;
  };
  auto const writing = [this]() -> Task<void> {
    auto result = co_await write_loop();
    sending_over_ = true;
    gathered_.set();
    on_half_over();
    // A failure to send ends the other direction, too.
    if (!result) stream_.close();
    co_return result;
  };
  auto [read, written] = co_await (reading() && writing());
  if (!written) co_return written;
  co_return read;
}

}  // namespace reprise
