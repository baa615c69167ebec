#include "proxy/http/h3/h3_session.h"

#include "proxy/quic/quic_error.h"
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

/// Empties the list and calls `work` for what was in it, which may add to it for the next time. The
/// list keeps its memory.
template <class Each, class Work>
void take_each(std::vector<Each>& list, const Work& work) {
  auto taken = std::exchange(list, {});
  for (auto const& each : taken) work(each);
  taken.clear();
  if (list.empty()) list.swap(taken);
}

bool is_request(std::int64_t stream) {
  return (stream & 3) == 0;  // begun by the client, in both directions (RFC 9000 section 2.1)
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

H3Session::~H3Session() {
  quic_ = nullptr;  // the streams return what they hold, to nothing
  streams_.clear();
}

void H3Session::attach(QuicConnection& connection, ChainFor chain_for) {
  quic_ = &connection;
  chain_for_ = std::move(chain_for);
}

void H3Session::begin_ending() {
  if (quic_ == nullptr || std::exchange(ending_, true)) return;
  for (auto const& [id, stream] : streams_) stream->hurry();
  guard([this] {
    if (http_ != nullptr) (void)nghttp3_conn_submit_shutdown_notice(raw());
  });
  end_if_done();
  wake();
}

void H3Session::close() {
  if (quic_ != nullptr) quic_->close(NGHTTP3_H3_NO_ERROR);
}

void H3Session::sweep(std::chrono::steady_clock::time_point now) {
  if (quic_ == nullptr) return;
  guard([this, now] { sweep_streams(now); });
}

void H3Session::sweep_streams(std::chrono::steady_clock::time_point now) {
  // Requests that crossed the notice have arrived by now: the second step of an ending.
  if (ending_ && http_ != nullptr && !std::exchange(shut_down_, true)) {
    (void)nghttp3_conn_shutdown(raw());
    wake();
  }
  for (auto const& [id, stream] : streams_) {
    bool const stalls = stream->stalls_over(options_.stall_timeout, quic_->is_blocked(id), now) ||
                        stream->head_stalls_over(options_.head_timeout, now);
    if (stalls && !stream->gone) reset_soon(id, NGHTTP3_H3_REQUEST_CANCELLED);
  }
}

std::shared_ptr<const GnutlsChain> H3Session::chain_for(const std::string& server_name) {
  knows_name_ = true;
  return chain_for_(server_name);
}

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

void H3Session::on_handshake(const std::string& server_name) {
  // A resumed session shows no certificate, and the name is as new.
  if (!knows_name_ && chain_for_(server_name) == nullptr) {
    quic_->close(NGHTTP3_H3_GENERAL_PROTOCOL_ERROR);
  }
}

void H3Session::received(std::int64_t stream, Bytes bytes, bool ends) {
  if (http_ == nullptr || failed_) return;
  auto const used =
      nghttp3_conn_read_stream(raw(), stream, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                               bytes.size(), ends ? 1 : 0);
  if (used < 0) {
    break_off(static_cast<int>(used));
    return;
  }
  quic_->extend(stream, static_cast<std::uint64_t>(used));
}

void H3Session::acknowledged(std::int64_t stream, std::uint64_t size_bytes) {
  if (http_ == nullptr || failed_) return;
  int const code = nghttp3_conn_add_ack_offset(raw(), stream, size_bytes);
  if (code != 0 && code != NGHTTP3_ERR_STREAM_NOT_FOUND) break_off(code);
}

void H3Session::closed(std::int64_t id, std::uint64_t code) {
  if (id == bare_end_) bare_end_ = -1;
  if (http_ != nullptr && !failed_) {
    int const result =
        nghttp3_conn_close_stream(raw(), id, code == kNoCode ? NGHTTP3_H3_NO_ERROR : code);
    if (result != 0 && result != NGHTTP3_ERR_STREAM_NOT_FOUND) break_off(result);
  }
  if (!is_request(id)) return;
  auto const found = streams_.find(id);
  if (found == streams_.end()) {
    permit_stream();
    return;
  }
  auto& stream = *found->second;
  stream.gone = true;
  stream.close(code == kNoCode ? NGHTTP3_H3_NO_ERROR : code);
  if (!stream.running) gone_.push_back(id);
}

void H3Session::was_reset(std::int64_t id, std::uint64_t code) {
  if (http_ == nullptr || failed_) return;
  (void)nghttp3_conn_shutdown_stream_read(raw(), id);
  // Without a whole answer it is cancelled as a whole (section 4.1.1).
  auto* const stream = stream_at(id);
  if (stream != nullptr && !stream->finished() && !stream->finished_sending()) {
    stream->close(code);
    reset_soon(id, NGHTTP3_H3_REQUEST_CANCELLED);
  }
}

void H3Session::on_batch() {
  if (quic_ == nullptr) return;
  take_each(gone_, [this](std::int64_t id) { retire(id); });
  take_each(resets_, [this](const std::pair<std::int64_t, std::uint64_t>& reset) {
    auto const& [id, code] = reset;
    if (http_ != nullptr) nghttp3_conn_shutdown_stream_write(raw(), id);
    if (auto* const stream = stream_at(id)) stream->close(code);
    quic_->reset(id, code);
  });
  take_each(ready_, [this](std::int64_t id) {
    auto* const stream = stream_at(id);
    if (stream != nullptr && !stream->gone) serve(*stream);
  });
}

H3Session::Outgoing H3Session::next_to_send() {
  if (http_ == nullptr || failed_) return {};
  if (bare_end_ >= 0) return {.stream = bare_end_, .pieces = {}, .ends = true};
  std::int64_t stream = -1;
  int ends = 0;
  auto const count =
      nghttp3_conn_writev_stream(raw(), &stream, &ends, pieces_.data(), pieces_.size());
  if (count < 0) {
    break_off(static_cast<int>(count));
    return {};
  }
  if (count == 0 && ends != 0) bare_end_ = stream;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    vectors_[i] = {.base = pieces_[i].base, .len = pieces_[i].len};
  }
  return {.stream = stream,
          .pieces = std::span(vectors_).first(static_cast<std::size_t>(count)),
          .ends = ends != 0};
}
void H3Session::sent(std::int64_t stream, std::size_t size_bytes) {
  if (stream < 0) return;
  if (stream == bare_end_) bare_end_ = -1;
  if (int const code = nghttp3_conn_add_write_offset(raw(), stream, size_bytes); code != 0) {
    break_off(code);
  }
}
void H3Session::blocked(std::int64_t stream) {
  nghttp3_conn_block_stream(raw(), stream);
}
void H3Session::unblocked(std::int64_t stream) {
  if (http_ != nullptr) (void)nghttp3_conn_unblock_stream(raw(), stream);
}
void H3Session::shut(std::int64_t stream) {
  if (stream == bare_end_) bare_end_ = -1;
  nghttp3_conn_shutdown_stream_write(raw(), stream);
  if (auto* const each = stream_at(stream)) each->close(NGHTTP3_H3_REQUEST_CANCELLED);
}
void H3Session::ended(std::error_code why) {
  quic_ = nullptr;
  if (why == failed_assertion()) keep_forever(http_.release());
  for (auto const& [id, stream] : streams_) stream->close(NGHTTP3_H3_NO_ERROR);
  on_over(why);
}

void H3Session::extend(std::int64_t stream, bool open, std::uint64_t size_bytes) {
  if (quic_ == nullptr) return;
  guard([&] {
    if (open) {
      quic_->extend(stream, size_bytes);
    } else {
      quic_->extend_connection(size_bytes);
    }
  });
}
void H3Session::reset_soon(std::int64_t stream, std::uint64_t code) {
  resets_.emplace_back(stream, code);
  wake();
}

H3ServerStream* H3Session::stream_at(std::int64_t id) const {
  auto const found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

/// After nghttp3 refused the client's bytes: says so, and calls it no more.
void H3Session::break_off(int library_code) {
  failed_ = true;
  quic_->close(nghttp3_err_infer_quic_app_error_code(library_code));
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

void H3Session::retire(std::int64_t id) {
  auto const found = streams_.find(id);
  if (found == streams_.end()) return;
  // A stream that is closed while QPACK blocks it is still called back for.
  if (http_ != nullptr) (void)nghttp3_conn_set_stream_user_data(raw(), id, nullptr);
  heads_bytes_ -= found->second->head_bytes;
  streams_.erase(found);
  // Only now: so that handlers, too, are bounded by the number of streams.
  if (quic_ != nullptr) permit_stream();
  end_if_done();
}

void H3Session::permit_stream() {
  quic_->allow_stream();
  ++streams_permitted_;
  if (http_ == nullptr || failed_) return;
  // It takes the total since the start of the connection.
  nghttp3_conn_set_max_client_streams_bidi(raw(), streams_permitted_);
}

void H3Session::end_if_done() {
  if (ending_ && streams_.empty() && quic_ != nullptr) quic_->close(NGHTTP3_H3_NO_ERROR);
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

void H3Session::release(H3ServerStream& stream) {
  stream.running = false;
  if (stream.gone || quic_ == nullptr) {
    gone_.push_back(stream.id());
    wake();
  } else if (!stream.finished()) {
    // The answer is complete: further content of the client is useless (section 4.1).
    guard([&] {
      quic_->stop_reading(stream.id(), NGHTTP3_H3_NO_ERROR);
      (void)nghttp3_conn_shutdown_stream_read(raw(), stream.id());
    });
  }
}

}  // namespace reprise
