#include "proxy/http/h2_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <unordered_map>
#include <unordered_set>

#include "proxy/http/h2_session.h"
#include "proxy/http/h2_stream_numbers.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

/// How long a connection may take to end once one direction has ended.
constexpr std::chrono::seconds kFarewellTimeout{5};
/// The same when the server ends, and how long the client may take to hear of it.
constexpr std::chrono::seconds kEndingFarewellTimeout{1};

/// The authority and the rest of a request's pseudo fields.
struct Target {
  std::string_view method;
  Scheme scheme = Scheme::kHttps;
  Authority authority;
  std::string_view path;
  std::vector<std::string> pseudo_order;
};

Result<Target> read_target(HeaderList fields, std::vector<HeaderView>& headers) {
  Target target;
  std::string_view authority;
  for (const HeaderView& field : fields) {
    if (!field.name.starts_with(':')) {
      headers.push_back(field);
      if (field.name == "host" && authority.empty()) authority = field.value;
      continue;
    }
    target.pseudo_order.emplace_back(field.name);
    if (field.name == ":method") target.method = field.value;
    if (field.name == ":path") target.path = field.value;
    if (field.name == ":authority") authority = field.value;
    if (field.name == ":scheme") {
      target.scheme = field.value == "http" ? Scheme::kHttp : Scheme::kHttps;
    }
  }
  // CONNECT has no path, and is not offered here.
  if (target.path.empty() || target.method.empty()) return fail(h1_errc::not_http);
  auto parsed = parse_authority(authority, default_port(target.scheme));
  if (!parsed) return fail(parsed.error());
  target.authority = std::move(*parsed);
  return target;
}

/// One exchange with the client.
class ServerStream final : public H2Content, public ResponseWriter {
 public:
  ServerStream(H2Session& session, std::int32_t id) : H2Content(session, id), session_(session) {}

  Task<void> send_head(const ResponseHead& head) override {
    if (closed()) co_return gone();
    H2Fields const made(head);
    auto const fields = made.copied();
    if (is_interim(head.status)) {
      if (head.status != 101) {
        nghttp2_submit_headers(session_.raw(), NGHTTP2_FLAG_NONE, id(), nullptr, fields.data(),
                               fields.size(), nullptr);
        session_.wake();
      }
      if (head.status == 100) expects_continue_ = false;
      co_return Result<void>{};
    }
    head_sent_ = true;
    has_content_ = may_have_body(method_, head.status);
    respond(fields.data(), fields.size());
    co_return Result<void>{};
  }

  /// A client that waits to be asked for its content is asked by whoever wants to read it.
  Task<Bytes> read() override {
    if (expects_continue_ && !head_sent_ && !anything_arrived()) {
      if (auto const asked = co_await send_head({.status = 100}); !asked) {
        co_return fail(asked.error());
      }
    }
    expects_continue_ = false;
    co_return co_await H2Content::read();
  }

  Task<void> write(Bytes bytes) override {
    if (!has_content_) co_return Result<void>{};
    co_return co_await H2Content::write(bytes);
  }
  Task<void> finish(HeaderList trailers) override {
    finished_ = true;
    if (!has_content_) co_return Result<void>{};
    co_return co_await H2Content::finish(trailers);
  }

  Task<void> send_stored(const StoredResponse& response) override {
    if (closed()) co_return gone();
    auto const& parts = response.parts();
    for (const ResponseHead& interim : parts.interim) {
      if (auto const sent = co_await send_head(interim); !sent) co_return sent;
    }
    head_sent_ = true;
    finished_ = true;
    has_content_ = may_have_body(method_, parts.head.status) &&
                   (!parts.body.empty() || parts.pieces != nullptr || !parts.trailers.empty());
    if (has_content_) send_whole(response);
    respond(response.h2_fields().data(), response.h2_fields().size());
    co_return Result<void>{};
  }

  bool head_sent() const override { return head_sent_; }
  awaitable<void> client_gone() override { return await_close(); }
  bool finished_sending() const { return finished_; }
  void set_request(std::string_view method, bool expects_continue) {
    method_ = method;
    expects_continue_ = expects_continue;
  }
  /// Its head is whole, and it is not closed: it counts as something that goes on.
  bool active = false;

 private:
  std::unexpected<std::error_code> gone() const {
    return fail(std::error_code(NGHTTP2_STREAM_CLOSED, h2_category()));
  }
  void respond(const nghttp2_nv* fields, std::size_t count) {
    auto const content = provider();
    nghttp2_submit_response(session_.raw(), id(), fields, count, has_content_ ? &content : nullptr);
    session_.wake();
  }

  H2Session& session_;
  std::string method_;
  bool head_sent_ = false;
  bool has_content_ = false;
  bool finished_ = false;
  bool expects_continue_ = false;
};

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
    if (deadline_.ending) begin_ending();
    auto const result = co_await run();
    deadline_.on_ending = nullptr;
    deadline_.waiting = nullptr;
    for (auto& [id, stream] : streams_) stream->close(NGHTTP2_CANCEL);
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
    std::array<nghttp2_settings_entry, 4> const settings{{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.concurrent_streams_max},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.stream_window_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kH2HeadBytesMax},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    }};
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    nghttp2_session_set_local_window_size(
        made, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(options_.connection_window_bytes));
  }

  void on_begin_frame(const nghttp2_frame_hd& head) override {
    if (head.type != NGHTTP2_HEADERS || numbers_.accept(head.stream_id)) return;
    nghttp2_session_terminate_session(raw(), NGHTTP2_PROTOCOL_ERROR);
  }

  void on_begin_head(const nghttp2_frame& frame) override {
    if (frame.headers.cat != NGHTTP2_HCAT_REQUEST) return;
    auto const id = frame.hd.stream_id;
    auto const [place, fresh] = streams_.try_emplace(id, std::make_unique<ServerStream>(*this, id));
    nghttp2_session_set_stream_user_data(raw(), id, static_cast<H2Content*>(place->second.get()));
  }

  void on_head(const nghttp2_frame& frame, H2Content& content) override {
    auto& stream = static_cast<ServerStream&>(content);
    bool const ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
      if (ends) content.end_incoming({});
      ready_.push_back(&stream);
      stream.active = true;
      ++active_;
      watch();
      return;
    }
    auto const trailers = content.take_head();
    if (trailers.too_long()) {
      reset(stream, NGHTTP2_ENHANCE_YOUR_CALM);
    } else if (ends) {
      content.end_incoming(Headers(trailers.fields()));
    }
  }

  void on_closed(H2Content& content) override {
    auto& stream = static_cast<ServerStream&>(content);
    if (std::exchange(stream.active, false)) --active_;
    watch();
    if (running_.contains(&stream)) return;  // its handler's end lets it go
    std::erase(ready_, &stream);
    streams_.erase(stream.id());
  }

  void on_end_sent(H2Content& content) override {
    auto& stream = static_cast<ServerStream&>(content);
    if (!running_.contains(&stream)) stop_request(stream);
  }

  void on_half_over() override {
    half_over_ = true;
    auto const patience = deadline_.ending ? kEndingFarewellTimeout : kFarewellTimeout;
    deadline_.at = std::min(deadline_.at, Clock::now() + patience);
    if (closes_at_once_) stream_.close();
  }

  std::optional<std::uint64_t> content_waiting() const {
    auto const waits = [](auto const& stream) { return stream.second->content_waits(); };
    if (std::ranges::none_of(streams_, waits)) return std::nullopt;
    return content_sent_bytes();
  }

  /// A shutdown in two steps (section 6.8): requests that crossed the notice are served yet, those
  /// behind the client's answer to our PING are not. With nothing running the second step is
  /// enough, as whatever it crosses is known to be unserved.
  void begin_ending() {
    if (half_over_) return;
    if (active_ == 0) {
      closes_at_once_ = true;
      nghttp2_session_terminate_session(raw(), NGHTTP2_NO_ERROR);
    } else {
      last_call_ = true;
      nghttp2_submit_shutdown_notice(raw());
    }
    watch();
    wake();
  }

  /// A PING overtakes a GOAWAY in nghttp2's queue: it follows once that has gone.
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
    }
  }

  void on_batch() override {
    // A handler may finish at once and so change the list.
    auto const ready = std::exchange(ready_, {});
    // Streams that were reset do not count for nghttp2, yet their handlers may take time to end.
    if (serving_ + ready.size() > 2 * std::size_t{options_.concurrent_streams_max}) {
      nghttp2_session_terminate_session(raw(), NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    for (ServerStream* const stream : ready) {
      running_.insert(stream);
      ++serving_;
      net::co_spawn(executor_, serve_one(*stream), [this, stream](std::exception_ptr broken) {
        running_.erase(stream);
        if (stream->closed()) {
          streams_.erase(stream->id());
        } else if (stream->end_sent()) {
          stop_request(*stream);
        }
        if (--serving_ == 0) all_served_.set();
        if (broken) std::rethrow_exception(broken);
      });
    }
  }

  /// An idle connection, or one with nothing but unfinished heads, may not stay for ever.
  void watch() {
    if (half_over_) return;
    auto const patience = deadline_.ending ? kEndingFarewellTimeout : options_.idle_timeout;
    deadline_.set(active_ > 0 ? Clock::time_point::max() : Clock::now() + patience, active_ == 0);
  }

  /// The whole answer is given: what the client still sends is of no use (section 8.1).
  void stop_request(ServerStream& stream) {
    if (!stream.ended()) reset(stream, NGHTTP2_NO_ERROR);
  }

  awaitable<void> serve_one(ServerStream& stream) {
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
    auto target = read_target(fields, headers);
    if (!target) {
      reset(stream, NGHTTP2_PROTOCOL_ERROR);
      co_return;
    }
    stream.set_request(target->method, header_has_token(headers, "expect", "100-continue"));
    if (connection_.h2_pseudo_order.empty()) {
      connection_.h2_pseudo_order = std::move(target->pseudo_order);
    }
    RequestHead const head{.method = target->method,
                           .scheme = target->scheme,
                           .host = target->authority.host,
                           .port = target->authority.port,
                           .target = target->path,
                           .version = HttpVersion::kH2,
                           .headers = headers};
    ExchangeContext const context{.connection = connection_,
                                  .stream_id = static_cast<std::uint64_t>(stream.id()),
                                  .arrived = Clock::now()};
    auto const served = co_await handler_.serve(context, head, stream, stream);
    if (!served || !stream.finished_sending()) {
      reset(stream, NGHTTP2_INTERNAL_ERROR);
    }
  }

  void reset(ServerStream& stream, std::uint32_t code) {
    if (stream.closed()) return;
    nghttp2_submit_rst_stream(raw(), NGHTTP2_FLAG_NONE, stream.id(), code);
    wake();
  }

  ConnectionInfo& connection_;
  Handler& handler_;
  Deadline& deadline_;
  const H2ServerOptions& options_;
  net::any_io_executor executor_;
  H2StreamNumbers numbers_;
  std::unordered_map<std::int32_t, std::unique_ptr<ServerStream>> streams_;
  std::vector<ServerStream*> ready_;
  std::unordered_set<ServerStream*> running_;
  std::size_t serving_ = 0;  // handlers that have not returned
  std::size_t active_ = 0;   // streams with a whole head that are not closed
  bool half_over_ = false;
  bool closes_at_once_ = false;  // nothing ran when the server ended
  bool last_call_ = false;       // the client was told that it ends, and has not answered yet
  Event all_served_;
};

}  // namespace

Task<void> serve_h2(ByteStream& stream, ConnectionInfo& connection, Handler& handler,
                    Deadline& deadline, const H2ServerOptions& options) {
  ServerSession session(stream, connection, handler, deadline, options);
  co_return co_await session.serve();
}

}  // namespace reprise
