// How HTTP/3 begins on a connection, and what nghttp3 calls.

#include "proxy/http/h3/h3_session.h"
#include "proxy/quic/recycled_memory.h"

namespace reprise {
namespace {

/// Limit for the heads of all requests of a connection: a few bytes can decompress to many.
constexpr std::size_t kHeadsBytesMax = 4 << 20;
/// Of QPACK, in each direction (RFC 9204 section 5).
constexpr std::size_t kDynamicTableBytes = 4096;
/// Streams whose heads may wait for the table.
constexpr std::size_t kBlockedStreamsMax = 16;

std::string_view text_in(nghttp3_rcbuf* text) {
  auto const view = nghttp3_rcbuf_get_buf(text);
  return {reinterpret_cast<const char*>(view.base), view.len};
}

}  // namespace

/// Passes nghttp3's callbacks on.
struct H3Session::Callbacks {
  static H3Session& self(void* user) { return *static_cast<H3Session*>(user); }
  static H3ServerStream* stream_of(void* user) { return static_cast<H3ServerStream*>(user); }

  static int begin_head(nghttp3_conn*, std::int64_t id, void* user, void*) {
    self(user).on_begin_head(id);
    return 0;
  }
  static int field(nghttp3_conn*, std::int64_t, std::int32_t, nghttp3_rcbuf* name,
                   nghttp3_rcbuf* value, std::uint8_t, void* user, void* stream) {
    if (stream == nullptr) return 0;
    return self(user).on_field(*stream_of(stream), stream_of(stream)->head, text_in(name),
                               text_in(value));
  }
  static int end_head(nghttp3_conn*, std::int64_t id, int, void* user, void* stream) {
    if (stream == nullptr) return 0;
    stream_of(stream)->active = true;
    self(user).ready_.push_back(id);
    return 0;
  }
  static int trailer(nghttp3_conn*, std::int64_t, std::int32_t, nghttp3_rcbuf* name,
                     nghttp3_rcbuf* value, std::uint8_t, void* user, void* stream) {
    if (stream == nullptr) return 0;
    return self(user).on_field(*stream_of(stream), stream_of(stream)->trailing, text_in(name),
                               text_in(value));
  }
  static int end_trailers(nghttp3_conn*, std::int64_t, int, void*, void* stream) {
    if (stream != nullptr) stream_of(stream)->take_trailers();
    return 0;
  }
  static int data(nghttp3_conn*, std::int64_t id, const std::uint8_t* data, std::size_t size,
                  void* user, void* stream) {
    if (stream != nullptr && !stream_of(stream)->closed()) {
      stream_of(stream)->took(std::as_bytes(std::span(data, size)));
    } else {
      self(user).extend(id, true, size);  // no one will read it
    }
    return 0;
  }
  static int deferred_consume(nghttp3_conn*, std::int64_t id, std::size_t size, void* user, void*) {
    self(user).extend(id, true, size);
    return 0;
  }
  static int end_stream(nghttp3_conn*, std::int64_t, void*, void* stream) {
    if (stream != nullptr) stream_of(stream)->end_incoming();
    return 0;
  }
  static int acknowledged(nghttp3_conn*, std::int64_t, std::uint64_t size, void*, void* stream) {
    if (stream != nullptr) stream_of(stream)->acknowledged(size);
    return 0;
  }
  static int stream_close(nghttp3_conn* conn, std::int64_t id, std::uint64_t, void* user,
                          void* stream) {
    // A stream that QPACK blocked may have been scheduled since QUIC closed it, and stay so.
    (void)nghttp3_conn_shutdown_stream_write(conn, id);
    if (stream != nullptr) self(user).dropped(*stream_of(stream));
    return 0;
  }
  static int stop_sending(nghttp3_conn*, std::int64_t id, std::uint64_t code, void* user, void*) {
    self(user).quic_->stop_reading(id, code);
    return 0;
  }
  static int reset(nghttp3_conn*, std::int64_t id, std::uint64_t code, void* user, void*) {
    self(user).reset_soon(id, code);
    return 0;
  }

  static nghttp3_callbacks all() {
    nghttp3_callbacks made{};
    made.acked_stream_data = acknowledged;
    made.stream_close = stream_close;
    made.recv_data = data;
    made.deferred_consume = deferred_consume;
    made.begin_headers = begin_head;
    made.recv_header = field;
    made.end_headers = end_head;
    made.recv_trailer = trailer;
    made.end_trailers = end_trailers;
    made.stop_sending = stop_sending;
    made.end_stream = end_stream;
    made.reset_stream = reset;
    return made;
  }
};

void H3Session::begin() {
  if (http_ != nullptr) return;
  nghttp3_settings settings;
  nghttp3_settings_default(&settings);
  settings.max_field_section_size = kH2HeadBytesMax;
  settings.qpack_max_dtable_capacity = kDynamicTableBytes;
  settings.qpack_encoder_max_dtable_capacity = kDynamicTableBytes;
  settings.qpack_blocked_streams = kBlockedStreamsMax;
  auto const callbacks = Callbacks::all();
  static constexpr nghttp3_mem kMemory{nullptr, RecycledMemory::take, RecycledMemory::give,
                                       RecycledMemory::take_cleared, RecycledMemory::resize};
  nghttp3_conn* made = nullptr;
  auto const control = quic_->open_stream();
  auto const encoder = quic_->open_stream();
  auto const decoder = quic_->open_stream();
  // A client without room for these three cannot speak HTTP/3 (section 6.2).
  if (control < 0 || encoder < 0 || decoder < 0 ||
      nghttp3_conn_server_new(&made, &callbacks, &settings, &kMemory, this) != 0) {
    quic_->close(NGHTTP3_H3_GENERAL_PROTOCOL_ERROR);
    return;
  }
  http_.reset(made);
  nghttp3_conn_set_max_client_streams_bidi(made, streams_permitted_);
  if (nghttp3_conn_bind_control_stream(made, control) != 0 ||
      nghttp3_conn_bind_qpack_streams(made, encoder, decoder) != 0) {
    quic_->close(NGHTTP3_H3_INTERNAL_ERROR);
  }
}

/// `part`: the stream's head, or its trailers.
int H3Session::on_field(H3ServerStream& stream, H2Head& part, std::string_view name,
                        std::string_view value) {
  auto const before = part.size_bytes();
  part.add(name, value);
  auto const grown = part.size_bytes() - before;
  stream.head_bytes += grown;
  heads_bytes_ += grown;
  if (part.unfolded_bytes() > kH2UnfoldedBytesMax || heads_bytes_ > kHeadsBytesMax) {
    failed_ = true;
    quic_->close(NGHTTP3_H3_EXCESSIVE_LOAD);
    return NGHTTP3_ERR_CALLBACK_FAILURE;
  }
  return 0;
}

void H3Session::on_begin_head(std::int64_t id) {
  auto const [place, added] = streams_.try_emplace(id);
  if (added) {
    place->second = std::make_unique<H3ServerStream>(*this, id);
    auto& head = place->second->head;
    if (!spare_heads_.empty()) {
      head = std::move(spare_heads_.back());
      spare_heads_.pop_back();
    }
    head.reserve();
  }
  nghttp3_conn_set_stream_user_data(raw(), id, place->second.get());
  if (ending_) place->second->hurry();
}

}  // namespace reprise
