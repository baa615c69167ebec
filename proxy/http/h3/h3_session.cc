#include "proxy/http/h3/h3_session.h"

#include <algorithm>

#include "proxy/quic/quic_error.h"

namespace reprise {
namespace {

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

void H3Session::acknowledged(std::int64_t id, std::uint64_t size_bytes) {
  if (http_ == nullptr || failed_) return;
  int const code = nghttp3_conn_add_ack_offset(raw(), id, size_bytes);
  if (code != 0 && code != NGHTTP3_ERR_STREAM_NOT_FOUND) break_off(code);
  if (auto* const stream = stream_at(id)) stream->stream_acknowledged(size_bytes);
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
    quic_->allow_stream();
    return;
  }
  auto& stream = *found->second;
  stream.gone = true;
  stream.close(code == kNoCode ? NGHTTP3_H3_NO_ERROR : code);
  retire_if_done(stream);
}

/// nghttp3 calls back for a stream that QUIC has closed, and may even schedule it, for as long as
/// QPACK blocks its head or trailers.
void H3Session::dropped(H3ServerStream& stream) {
  stream.in_http = false;
  retire_if_done(stream);
}

void H3Session::permitted(std::uint64_t streams) {
  if (streams <= streams_permitted_) return;
  streams_permitted_ = streams;
  if (http_ == nullptr || failed_) return;
  nghttp3_conn_set_max_client_streams_bidi(raw(), streams);
}

void H3Session::was_reset(std::int64_t id, std::uint64_t code) {
  if (http_ == nullptr || failed_) return;
  (void)nghttp3_conn_shutdown_stream_read(raw(), id);
  // Without a whole answer it is cancelled as a whole (section 4.1.1).
  auto* const stream = stream_at(id);
  if (stream == nullptr && is_request(id)) {
    // No head of it began, and QUIC says nothing more of a stream that it learns of by its reset. A
    // PRIORITY_UPDATE, before or after, must not make nghttp3 keep it: it was there, and is closed.
    (void)nghttp3_conn_read_stream(raw(), id, nullptr, 0, 0);
    (void)nghttp3_conn_close_stream(raw(), id, code);
    reset_soon(id, NGHTTP3_H3_REQUEST_CANCELLED);
  } else if (stream != nullptr && !stream->finished() && !stream->finished_sending()) {
    stream->close(code);
    reset_soon(id, NGHTTP3_H3_REQUEST_CANCELLED);
  }
}

void H3Session::on_batch() {
  if (quic_ == nullptr) return;
  take_each(gone_, [this](std::int64_t id) { retire(id); });
  end_if_done();
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
  std::size_t size_bytes = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    vectors_[i] = {.base = pieces_[i].base, .len = pieces_[i].len};
    size_bytes += pieces_[i].len;
  }
  if (auto* const each = stream_at(stream)) each->stream_offered(size_bytes, ends != 0);
  return {.stream = stream,
          .pieces = std::span(vectors_).first(static_cast<std::size_t>(count)),
          .ends = ends != 0};
}
void H3Session::sent(std::int64_t id, std::size_t size_bytes) {
  if (id < 0) return;
  if (id == bare_end_) bare_end_ = -1;
  if (int const code = nghttp3_conn_add_write_offset(raw(), id, size_bytes); code != 0) {
    break_off(code);
  }
  if (auto* const stream = stream_at(id)) stream->stream_sent(size_bytes);
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

void H3Session::retire_if_done(H3ServerStream& stream) {
  if (!stream.gone || stream.running) return;
  if (!stream.in_http) gone_.push_back(stream.id());
  wake();
}

void H3Session::retire(std::int64_t id) {
  auto const found = streams_.find(id);
  if (found == streams_.end()) return;
  heads_bytes_ -= found->second->head_bytes;
  streams_.erase(found);
  // Only now: so that handlers, too, are bounded by the number of streams.
  if (quic_ != nullptr) quic_->allow_stream();
}

void H3Session::end_if_done() {
  if (!ending_ || quic_ == nullptr) return;
  // Not for those that QPACK blocks: what they wait for may never come.
  bool const is_done = std::ranges::all_of(
      streams_, [](auto const& each) { return each.second->gone && !each.second->running; });
  if (is_done) quic_->close(NGHTTP3_H3_NO_ERROR);
}

void H3Session::release(H3ServerStream& stream) {
  stream.running = false;
  if (stream.gone) {
    retire_if_done(stream);
  } else if (quic_ != nullptr && !stream.finished()) {
    // The answer is complete: further content of the client is useless (section 4.1).
    guard([&] {
      quic_->stop_reading(stream.id(), NGHTTP3_H3_NO_ERROR);
      (void)nghttp3_conn_shutdown_stream_read(raw(), stream.id());
    });
  }
}

}  // namespace reprise
