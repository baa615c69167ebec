#include "proxy/http/h1_server.h"

#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "proxy/http/h1_reader.h"
#include "proxy/http/h1_response.h"
#include "proxy/http/h1_target.h"
#include "proxy/http/stand_still.h"
#include "proxy/http/web_socket.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

/// Unread content of a request is read and discarded up to this limit; beyond it the connection is
/// closed instead.
constexpr std::size_t kDrainBytesMax = 256 << 10;
/// The limit of bytes read and discarded after the last response.
constexpr std::size_t kLingerBytesMax = 64 << 20;
constexpr std::size_t kLingerReadBytes = 64 << 10;
/// The limit of a pause in a request's content, and in what a client takes of a cut response.
constexpr std::chrono::seconds kBodyStallTimeout{120};
constexpr std::chrono::milliseconds kDeliveryPollPeriod{5};
/// The time for a client to close its side when the server ends.
constexpr std::chrono::seconds kH1FarewellTimeout{1};

/// The request's content; sends 100 to a waiting client at the first read (RFC 9110 10.1.1).
class RequestBody final : public BodyReader {
 public:
  RequestBody(H1Reader& reader, ByteStream& stream, H1Response& response, Deadline& deadline,
              bool expects_continue)
      : reader_(reader),
        stream_(stream),
        response_(response),
        deadline_(deadline),
        expects_continue_(expects_continue) {}

  Task<Bytes> read() override {
    if (response_.switched()) {
      begin_raw();
      co_return co_await reader_.read();
    }
    started_ = true;
    if (expects_continue_ && !response_.continued() && !response_.head_sent() &&
        !stream_.writing()) {
      auto const sent = co_await response_.send_head({.status = 100, .reason = "Continue"});
      if (!sent) co_return fail(sent.error());
    }
    // Only the client can keep us here: it must not do so forever.
    deadline_.at = Clock::now() + kBodyStallTimeout;
    auto const piece = co_await reader_.read();
    deadline_.at = Clock::time_point::max();
    co_return piece;
  }
  bool finished() const override {
    return response_.switched() && !raw_ ? false : reader_.finished();
  }
  HeaderList trailers() const override { return reader_.trailers(); }

  /// Whether the client sends the content even without a 100.
  bool will_come() const { return !expects_continue_ || started_ || response_.continued(); }

 private:
  /// The following bytes belong to another protocol, with any duration and end.
  void begin_raw() {
    if (std::exchange(raw_, true)) return;
    reader_.begin_body({.kind = BodyFraming::Kind::kUntilClose});
    deadline_.set(Clock::time_point::max(), true);
  }

  H1Reader& reader_;
  ByteStream& stream_;
  H1Response& response_;
  Deadline& deadline_;
  bool expects_continue_;
  bool started_ = false;
  bool raw_ = false;
};

/// Ends the connection so that the client can read what was sent: closing before the client's last
/// bytes have arrived and are read would reset the connection and lose the answer (RFC 9112 section
/// 9.6). Returns once the client has closed its side.
awaitable<void> linger(ByteStream& stream) {
  co_await stream.shutdown();
  auto const sink = std::make_unique_for_overwrite<std::byte[]>(kLingerReadBytes);
  for (std::size_t drained = 0; drained < kLingerBytesMax;) {
    auto const count = co_await stream.read_some(std::span(sink.get(), kLingerReadBytes));
    if (!count || *count == 0) break;
    drained += *count;
  }
}

/// Waits until the client's system has everything written, as a reset discards the rest. Gives up
/// on a client that takes nothing for kBodyStallTimeout, or for a moment when the server ends.
/// Nothing tells of acknowledgements, so it polls: once for a cut response.
awaitable<void> await_delivery(ByteStream& stream, const Deadline& deadline) {
  StandStill stand_still;
  net::steady_timer pause(co_await net::this_coro::executor);
  while (auto const left_bytes = stream.undelivered_bytes()) {
    auto const patience = deadline.ending ? kH1FarewellTimeout : kBodyStallTimeout;
    if (stand_still.lasts_over(patience, left_bytes, Clock::now())) co_return;
    pause.expires_after(kDeliveryPollPeriod);
    co_await pause.async_wait(kTuple);
  }
}

/// Sends the reason for ending the connection.
Task<void> refuse(ByteStream& stream, std::uint16_t status, std::string_view why) {
  RequestHead const request{.method = "GET"};
  H1Response response(stream, request);
  auto text = std::string("reprise: ").append(why).append("\n");
  auto const length = std::to_string(text.size());
  std::array<HeaderView, 3> const fields{{{"Content-Type", "text/plain; charset=utf-8"},
                                          {"Content-Length", length},
                                          {"Connection", "close"}}};
  ResponseHead const head{.status = status, .reason = reason_phrase(status), .headers = fields};
  if (auto const sent = co_await response.send_head(head); !sent) co_return sent;
  if (auto const sent = co_await response.write(bytes_of(text)); !sent) co_return sent;
  co_await linger(stream);
  co_return Result<void>{};
}

std::uint16_t status_for(std::error_code error) {
  if (error == h1_errc::head_too_long) return 431;
  if (error == h1_errc::unsupported_version) return 505;
  return 400;
}

/// The protocol that the client requests (RFC 6455 section 4.1).
std::string_view asked_protocol(const RequestLine& line, HeaderList headers) {
  if (!header_has_token(headers, "Upgrade", kWebSocketProtocol)) return {};
  bool const meant = line.method == "GET" && line.version == HttpVersion::kHttp11 &&
                     header_has_token(headers, "Connection", "upgrade");
  return meant ? kWebSocketProtocol : std::string_view();
}

/// Reads the rest of the request's content, so that the connection can continue.
awaitable<bool> drain(RequestBody& body) {
  std::size_t drained = 0;
  while (!body.finished()) {
    auto const piece = co_await body.read();
    if (!piece || (drained += piece->size()) > kDrainBytesMax) co_return false;
  }
  co_return true;
}

/// One connection: its state between requests.
class H1Connection {
 public:
  H1Connection(ByteStream& stream, const ConnectionInfo& connection, Handler& handler,
               Deadline& deadline, const H1ServerOptions& options, std::vector<std::byte> early)
      : stream_(stream),
        connection_(connection),
        handler_(handler),
        deadline_(deadline),
        options_(options),
        reader_(stream, std::move(early)) {}

  Task<std::optional<H1Tunnel>> run() {
    while (true) {
      deadline_.set_idle(Clock::now(), options_.idle_timeout);
      if (auto const begun = co_await reader_.await_head(); !begun) co_return fail(begun.error());
      deadline_.set(Clock::now() + options_.head_timeout);
      auto const head = co_await reader_.read_head();
      if (!head) {
        if (head.error() == h1_errc::truncated || head.error().category() != h1_category()) {
          co_return fail(head.error());
        }
        co_return co_await refuse_as(head.error());
      }
      if (head->empty()) {
        co_await stream_.shutdown();
        co_return std::nullopt;
      }
      deadline_.at = Clock::time_point::max();
      auto const line = parse_request_head(*head, fields_);
      if (!line) co_return co_await refuse_as(line.error());
      if (options_.explicit_proxy && line->method == "CONNECT") {
        co_return co_await open_tunnel(*line);
      }
      auto const goes_on = co_await serve_one(*line);
      if (!goes_on) co_return fail(goes_on.error());
      if (!*goes_on || deadline_.ending) {
        deadline_.set_idle(Clock::now(),
                           deadline_.ending ? kH1FarewellTimeout : options_.head_timeout);
        co_await linger(stream_);
        co_return std::nullopt;
      }
    }
  }

  /// Whether it broke inside a body that lasts until the close.
  bool must_reset() const { return must_reset_; }

 private:
  Task<std::optional<H1Tunnel>> open_tunnel(const RequestLine& line) {
    auto authority = parse_authority(line.target, 0);
    if (!authority || authority->port == 0) {
      co_return co_await refuse_as(h1_errc::bad_authority, "CONNECT needs HOST:PORT");
    }
    auto const sent =
        co_await stream_.write(bytes_of("HTTP/1.1 200 Connection established\r\n\r\n"));
    if (!sent) co_return fail(sent.error());
    co_return H1Tunnel{.authority = *authority, .early = reader_.take_rest()};
  }

  awaitable<std::unexpected<std::error_code>> refuse_as(std::error_code error,
                                                        std::string why = {}) {
    deadline_.at = Clock::now() + options_.head_timeout;
    (void)co_await refuse(stream_, status_for(error), why.empty() ? error.message() : why);
    co_return fail(error);
  }

  /// Whether the connection can continue.
  Task<bool> serve_one(const RequestLine& line) {
    if (options_.explicit_proxy && line.target.starts_with('/')) {
      co_return co_await refuse_as(h1_errc::bad_authority,
                                   "this is a proxy: set it as your client's HTTP proxy");
    }
    auto const framing = request_framing(line.version, fields_);
    if (!framing) co_return co_await refuse_as(framing.error());
    auto const target = H1Target::of(line, fields_,
                                     {.scheme = options_.scheme,
                                      .tunnel_host = connection_.tunnel_host,
                                      .tunnel_port = connection_.tunnel_port,
                                      .server_name = connection_.server_name});
    if (!target) co_return co_await refuse_as(target.error());

    RequestHead const head{.method = line.method,
                           .scheme = target->scheme,
                           .host = target->authority.host,
                           .port = target->authority.port,
                           .target = target->path(),
                           .version = line.version,
                           .headers = fields_,
                           .protocol = asked_protocol(line, fields_)};
    reader_.begin_body(*framing);
    ExchangeContext const context{
        .connection = connection_, .stream_id = ++requests_, .arrived = Clock::now()};
    auto const stored = framing->kind == BodyFraming::Kind::kNone && head.protocol.empty()
                            ? handler_.stored(context, head)
                            : nullptr;
    bool const at_once =
        stored != nullptr && !stored->h1_wire().empty() && line.version == HttpVersion::kHttp11;
    if (!at_once) co_return co_await serve_in_steps(context, head, *framing, stored);
    Outgoing wire(stored->h1_wire());
    auto sent = stream_.write_now(wire);
    if (!sent) co_return fail(sent.error());
    if (!*sent) {
      if (auto const rest = co_await stream_.write(wire); !rest) co_return fail(rest.error());
    }
    co_return stored->h1_keeps_alive() && keeps_alive(line.version, fields_);
  }

  Task<bool> serve_in_steps(const ExchangeContext& context, const RequestHead& head,
                            BodyFraming framing, StoredResponsePtr stored) {
    H1Response response(stream_, head);
    bool const expects_continue = head.version == HttpVersion::kHttp11 &&
                                  framing.kind != BodyFraming::Kind::kNone &&
                                  header_has_token(fields_, "Expect", "100-continue");
    RequestBody body(reader_, stream_, response, deadline_, expects_continue);
    deadline_.on_ending = [&response] { response.hurry(); };
    if (deadline_.ending) response.hurry();
    auto const served = stored != nullptr ? co_await response.send_stored(std::move(stored))
                                          : co_await handler_.serve(context, head, body, response);
    deadline_.on_ending = nullptr;
    must_reset_ = response.looks_whole_when_closed();
    if (!served) co_return fail(served.error());
    if (!response.finished()) co_return fail(h1_errc::truncated);
    if (!response.keeps_alive() || !keeps_alive(head.version, fields_)) co_return false;
    if (!body.finished() && (!body.will_come() || !co_await drain(body))) {
      co_return false;
    }
    co_return true;
  }

  ByteStream& stream_;
  const ConnectionInfo& connection_;
  Handler& handler_;
  Deadline& deadline_;
  const H1ServerOptions& options_;
  H1Reader reader_;
  std::vector<HeaderView> fields_;
  std::uint64_t requests_ = 0;
  bool must_reset_ = false;
};

}  // namespace

Task<std::optional<H1Tunnel>> serve_h1(ByteStream& stream, const ConnectionInfo& connection,
                                       Handler& handler, Deadline& deadline,
                                       const H1ServerOptions& options,
                                       std::vector<std::byte> early) {
  H1Connection served(stream, connection, handler, deadline, options, std::move(early));
  auto result = co_await served.run();
  // An incomplete message must not look complete. If the framing shows it, an orderly end is
  // better: a reset would discard what the client has not read yet.
  if (!result && served.must_reset()) {
    co_await await_delivery(stream, deadline);
    stream.abort();
  }
  co_return result;
}

}  // namespace reprise
