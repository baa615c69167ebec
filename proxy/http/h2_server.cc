#include "proxy/http/h2_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <vector>

#include "proxy/http/h2_server_stream.h"
#include "proxy/http/h2_target.h"
#include "proxy/http/web_socket.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

/// The time for a connection to end once one direction has ended.
constexpr std::chrono::seconds kH2FarewellTimeout{5};
/// The same when the server ends, which the client has to notice.
constexpr std::chrono::seconds kEndingFarewellTimeout{1};

/// RFC 8441 section 3.
constexpr nghttp2_settings_entry kExtendedConnect{NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1};

/// Smaller heads are not counted.
constexpr std::size_t kSmallHeadBytes = 16 << 10;
/// Limit for the heads of all running requests. A few bytes can decompress to many, so the limit
/// per head is not enough with hundreds of requests.
constexpr std::size_t kHeadsBytesMax = 4 << 20;

class ServerSession final : public H2Session {
 public:
  ServerSession(ByteStream& stream, ConnectionInfo& connection, Handler& handler,
                Deadline& deadline, const H2ServerOptions& options)
      : H2Session(stream),
        connection_(connection),
        handler_(handler),
        deadline_(deadline),
        options_(options) {}

  Task<void> serve() {
    executor_ = co_await net::this_coro::executor;
    start();
    watch();
    deadline_.on_ending = [this] { begin_ending(); };
    deadline_.waiting = [this] { return content_waiting(); };
    deadline_.on_sweep = [this](Clock::time_point now) { end_what_stalls(now); };
    if (deadline_.ending) begin_ending();
    auto const result = co_await run();
    deadline_.on_ending = nullptr;
    deadline_.waiting = nullptr;
    deadline_.on_sweep = nullptr;
    connection_.offer_web_sockets = nullptr;
    for (auto const& stream : streams_) {
      if (!stream->closed()) stream->close(NGHTTP2_CANCEL);
    }
    handler_.close();
    while (serving_ > 0) co_await all_served_.wait();
    co_return result;
  }

 private:
  void start() {
    auto const options = make_options();
    nghttp2_option_set_builtin_recv_extension_type(options.get(), NGHTTP2_PRIORITY_UPDATE);
    nghttp2_option_set_no_closed_streams(options.get(), 1);
    auto const callbacks = make_callbacks();
    nghttp2_session* made = nullptr;
    nghttp2_session_server_new2(&made, callbacks.get(), static_cast<H2Session*>(this),
                                options.get());
    session_.reset(made);
    std::array<nghttp2_settings_entry, 5> const settings{{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.concurrent_streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kH2HeadBytesMax},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        kExtendedConnect,
    }};
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(),
                            settings.size() - (connection_.takes_web_sockets ? 0 : 1));
    connection_.offer_web_sockets = [this] { offer_web_sockets(); };
    nghttp2_session_set_local_window_size(
        made, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(options_.connection_window_bytes));
  }

  void offer_web_sockets() {
    if (std::exchange(connection_.takes_web_sockets, true)) return;
    nghttp2_submit_settings(raw(), NGHTTP2_FLAG_NONE, &kExtendedConnect, 1);
    wake();
  }

  std::optional<H2FrameCheck::Refusal> refusal_in(Bytes bytes) override {
    return frame_check_.next(bytes);
  }

  void on_begin_frame(const nghttp2_frame_hd& head) override {
    if (head.type == NGHTTP2_SETTINGS) look_at_windows();
  }

  void on_begin_head(const nghttp2_frame& frame) override {
    if (frame.headers.cat != NGHTTP2_HCAT_REQUEST) return;
    auto const id = frame.hd.stream_id;
    if (idle_.empty()) {
      idle_.push_back(streams_.emplace_back(std::make_unique<H2ServerStream>(*this, id)).get());
    }
    H2ServerStream& stream = *idle_.back();
    idle_.pop_back();
    stream.begin(id);
    nghttp2_session_set_stream_user_data(raw(), id, static_cast<H2Content*>(&stream));
  }

  void on_head(const nghttp2_frame& frame, H2Content& content, H2Head& arrived) override {
    auto& stream = static_cast<H2ServerStream&>(content);
    bool const ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    stream.head_bytes += arrived.size_bytes();
    if (heads_take_too_much(stream)) {
      reset(stream, NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
      stream.keep_head(arrived);
      if (ends) content.end_incoming({});
      ready_.push_back(&stream);
      stream.active = true;
      if (deadline_.ending) stream.hurry();
      ++active_;
      watch();
      return;
    }
    if (arrived.too_long()) {
      reset(stream, NGHTTP2_ENHANCE_YOUR_CALM);
    } else if (ends) {
      content.end_incoming(Headers(arrived.fields()));
    }
  }

  void on_closed(H2Content& content) override {
    auto& stream = static_cast<H2ServerStream&>(content);
    if (std::exchange(stream.active, false)) --active_;
    watch();
    if (stream.running) return;  // the end of its handler releases it
    std::erase(ready_, &stream);
    retire(stream);
  }

  void on_end_sent(H2Content& content) override {
    auto& stream = static_cast<H2ServerStream&>(content);
    if (!stream.running) stop_request(stream);
  }

  void on_half_over() override {
    half_over_ = true;
    auto const patience = deadline_.ending ? kEndingFarewellTimeout : kH2FarewellTimeout;
    deadline_.at = std::min(deadline_.at, Clock::now() + patience);
    if (closes_at_once_) stream_.close();
  }

  /// A stream whose own window is closed does not count, as the client may take everything else:
  /// end_what_stalls() ends that stream alone.
  std::optional<std::uint64_t> content_waiting() const {
    auto const waits = [](auto const& stream) {
      return !stream->closed() && stream->content_waits() && !stream->window_is_closed();
    };
    if (std::ranges::none_of(streams_, waits)) return std::nullopt;
    return content_sent_bytes();
  }

  void end_what_stalls(Clock::time_point now) {
    for (auto const& stream : streams_) {
      if (stream->active && stream->stalls_over(options_.stall_timeout, now)) {
        reset(*stream, NGHTTP2_CANCEL);
      }
    }
    if (head_under_way_.lasts_over(options_.head_timeout, frame_check_.head_under_way(), now)) {
      nghttp2_session_terminate_session(raw(), NGHTTP2_ENHANCE_YOUR_CALM);
      wake();
    }
  }

  /// A shutdown in two steps (section 6.8): requests that crossed the notice are still served,
  /// those after the client's answer to our PING are not. If nothing runs, the second step is
  /// enough, as everything that crosses it is known to be unserved.
  void begin_ending() {
    if (half_over_) return;
    if (active_ == 0) {
      closes_at_once_ = true;
      nghttp2_session_terminate_session(raw(), NGHTTP2_NO_ERROR);
    } else {
      last_call_ = true;
      for (auto const& stream : streams_) stream->hurry();
      nghttp2_submit_shutdown_notice(raw());
    }
    watch();
    wake();
  }

  /// A PING overtakes a GOAWAY in nghttp2's queue: it is sent once that has gone.
  void on_goaway_sent() override {
    if (last_call_) nghttp2_submit_ping(raw(), NGHTTP2_FLAG_NONE, nullptr);
  }

  void on_ping_answered() override {
    if (!std::exchange(last_call_, false)) return;
    nghttp2_submit_goaway(raw(), NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(raw()),
                          NGHTTP2_NO_ERROR, nullptr, 0);
  }

  void on_settings(std::span<const nghttp2_settings_entry> entries) override {
    connection_.h2_settings.clear();
    for (const auto& entry : entries) {
      connection_.h2_settings.emplace_back(entry.settings_id, entry.value);
      if (entry.settings_id == NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE) check_windows(entry.value);
    }
  }

  // A change of the initial window that makes a stream's window overflow is an error of the
  // connection (section 6.9.2); nghttp2 would end only that stream.
  void look_at_windows() {
    initial_window_bytes_ =
        nghttp2_session_get_remote_settings(raw(), NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE);
    widest_window_bytes_ = 0;
    for (auto const& stream : streams_) {
      if (stream->closed()) continue;
      auto const window = nghttp2_session_get_stream_remote_window_size(raw(), stream->id());
      widest_window_bytes_ = std::max<std::int64_t>(widest_window_bytes_, window);
    }
  }
  void check_windows(std::int64_t initial_window_bytes) {
    auto const grows_by = initial_window_bytes - initial_window_bytes_;
    if (widest_window_bytes_ + grows_by <= NGHTTP2_MAX_WINDOW_SIZE) return;
    nghttp2_session_terminate_session(raw(), NGHTTP2_FLOW_CONTROL_ERROR);
  }

  void on_batch() override {
    // A handler may finish at once and change the list.
    batch_.swap(ready_);
    // nghttp2 does not count streams that were reset, but their handlers may need time to end.
    if (serving_ + batch_.size() > 2 * std::size_t{options_.concurrent_streams_max}) {
      nghttp2_session_terminate_session(raw(), NGHTTP2_ENHANCE_YOUR_CALM);
      batch_.clear();
      return;
    }
    auto const arrived = Clock::now();
    for (H2ServerStream* const stream : batch_) {
      if (!answer_at_once(*stream, arrived)) spawn(*stream);
    }
    batch_.clear();
  }

  /// The common case without any wait: no coroutine, no allocation of ours.
  bool answer_at_once(H2ServerStream& stream, Clock::time_point arrived) {
    if (!stream.finished() || stream.head().too_long()) return false;
    stream.head().read_into(fields_);
    auto const target = read_h2_target(fields_, headers_);
    if (!target || !target->protocol.empty()) return false;
    stream.set_request(target->method, false);
    if (connection_.h2_pseudo_order.empty()) connection_.h2_pseudo_order = pseudo_order_of(fields_);
    auto response = handler_.stored(context_of(stream, arrived), head_of(*target, headers_));
    if (response == nullptr) return false;
    stream.answer(std::move(response));
    return true;
  }

  bool heads_take_too_much(const H2ServerStream& latest) const {
    if (latest.head_bytes < kSmallHeadBytes) return false;
    std::size_t bytes = 0;
    for (auto const& stream : streams_) bytes += stream->head_bytes;
    return bytes > kHeadsBytesMax;
  }

  /// It is closed and unused.
  void retire(H2ServerStream& stream) {
    stream.drop_unread();
    stream.drop_head();
    stream.let_go();
    stream.head_bytes = 0;
    idle_.push_back(&stream);
  }

  void spawn(H2ServerStream& stream) {
    stream.running = true;
    ++serving_;
    net::co_spawn(executor_, serve_one(stream), [this, &stream](std::exception_ptr broken) {
      stream.running = false;
      if (stream.closed()) {
        retire(stream);
      } else if (stream.end_sent()) {
        stop_request(stream);
      }
      if (--serving_ == 0) all_served_.set();
      if (broken) std::rethrow_exception(broken);
    });
  }

  /// An idle connection, or one with only unfinished heads, may not stay forever.
  void watch() {
    if (half_over_) return;
    auto const patience = deadline_.ending ? kEndingFarewellTimeout : options_.idle_timeout;
    if (active_ > 0) {
      deadline_.set(Clock::time_point::max());
    } else {
      deadline_.set_idle(Clock::now(), patience);
    }
  }

  /// The answer is complete: further content of the client is useless (section 8.1).
  void stop_request(H2ServerStream& stream) {
    if (!stream.ended()) reset(stream, NGHTTP2_NO_ERROR);
  }

  static RequestHead head_of(const H2Target& target, HeaderList headers) {
    return {.method = target.method,
            .scheme = target.scheme,
            .host = target.authority.host,
            .port = target.authority.port,
            .target = target.path,
            .version = HttpVersion::kH2,
            .headers = headers,
            .protocol = target.protocol};
  }
  ExchangeContext context_of(const H2ServerStream& stream, Clock::time_point arrived) const {
    return {.connection = connection_,
            .stream_id = static_cast<std::uint64_t>(stream.id()),
            .arrived = arrived};
  }

  awaitable<void> serve_one(H2ServerStream& stream) {
    auto const arrived = stream.take_head();
    if (arrived.too_long()) {
      if (!co_await send_text(stream, 431, "reprise: the request's head is too long\n")) {
        reset(stream, NGHTTP2_ENHANCE_YOUR_CALM);
      }
      co_return;
    }
    auto const fields = arrived.fields();
    std::vector<HeaderView> headers;
    headers.reserve(fields.size());
    auto target = read_h2_target(fields, headers);
    if (!target) {
      reset(stream, NGHTTP2_PROTOCOL_ERROR);
      co_return;
    }
    stream.set_request(target->method, header_has_token(headers, "expect", "100-continue"));
    if (connection_.h2_pseudo_order.empty()) connection_.h2_pseudo_order = pseudo_order_of(fields);
    auto const head = head_of(*target, headers);
    stream.set_protocol(head.protocol);
    if (!head.protocol.empty() && head.protocol != kWebSocketProtocol) {
      (void)co_await send_text(stream, 501, "reprise: this protocol is not supported\n");
      co_return;
    }
    auto const context = context_of(stream, Clock::now());
    auto const served = co_await handler_.serve(context, head, stream, stream);
    if (!served || !stream.finished_sending()) {
      reset(stream, NGHTTP2_INTERNAL_ERROR);
    }
  }

  void reset(H2ServerStream& stream, std::uint32_t code) {
    if (stream.closed()) return;
    nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, stream.id(), code);
    wake();
  }

  ConnectionInfo& connection_;
  Handler& handler_;
  Deadline& deadline_;
  const H2ServerOptions& options_;
  net::any_io_executor executor_;
  H2FrameCheck frame_check_;
  StandStill head_under_way_;
  std::vector<std::unique_ptr<H2ServerStream>> streams_;  // all that were ever needed at a time
  std::vector<H2ServerStream*> idle_;                     // the free ones
  std::vector<H2ServerStream*> ready_;                    // their heads are complete
  std::vector<H2ServerStream*> batch_;                    // those being handled by on_batch()
  std::vector<HeaderView> fields_;                        // of answer_at_once()
  std::vector<HeaderView> headers_;                       // of answer_at_once()
  std::int64_t initial_window_bytes_ = 0;                 // the client's, before its new settings
  std::int64_t widest_window_bytes_ = 0;                  // of a stream, at the same time
  std::size_t serving_ = 0;                               // handlers that have not returned
  std::size_t active_ = 0;  // streams with a complete head that are not closed
  bool half_over_ = false;
  bool closes_at_once_ = false;  // nothing ran when the server ended
  bool last_call_ = false;       // the client was notified of the end, and has not answered yet
  Event all_served_;
};

}  // namespace

Task<void> serve_h2(ByteStream& stream, ConnectionInfo& connection, Handler& handler,
                    Deadline& deadline, const H2ServerOptions& options) {
  ServerSession session(stream, connection, handler, deadline, options);
  co_return co_await session.serve();
}

}  // namespace reprise
