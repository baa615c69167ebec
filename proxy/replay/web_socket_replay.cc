#include "proxy/replay/web_socket_replay.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "proxy/http/h2_fields.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

/// Messages that are due together are sent together, up to this size; longer ones are not copied.
constexpr std::size_t kGatherBytes = 16 << 10;

Conversation::Time now() {
  return Clock::now().time_since_epoch();
}

/// The recorded head, as an answer to the new client (RFC 6455 section 4.2.2).
class AgreeingHead {
 public:
  AgreeingHead(const ResponseHead& recorded, const RequestHead& request) {
    auto const key = find_header(request.headers, "Sec-WebSocket-Key");
    if (key) accept_ = web_socket_accept(*key);
    bool const over_h1 = request.version != HttpVersion::kH2;
    bool has_accept = false;
    for (const HeaderView& field : recorded.headers) {
      auto const is = [&field](std::string_view name) {
        return equals_ignoring_case(field.name, name);
      };
      // Negotiated with another client, or written below.
      if (is("Sec-WebSocket-Extensions") || is("Content-Length") || is_connection_field(field)) {
        continue;
      }
      if (is("Sec-WebSocket-Protocol") &&
          !header_has_token(request.headers, field.name, field.value)) {
        continue;
      }
      if (!is("Sec-WebSocket-Accept")) {
        fields_.push_back(field);
      } else if (!std::exchange(has_accept, true)) {
        fields_.push_back({.name = field.name, .value = accept_});
      }
    }
    if (!over_h1) return;
    fields_.push_back({.name = "Upgrade", .value = kWebSocketProtocol});
    fields_.push_back({.name = "Connection", .value = "Upgrade"});
    if (!has_accept) fields_.push_back({.name = "Sec-WebSocket-Accept", .value = accept_});
  }
  AgreeingHead(const AgreeingHead&) = delete;
  AgreeingHead& operator=(const AgreeingHead&) = delete;

  ResponseHead head() const {
    return {.version = HttpVersion::kHttp11,
            .status = 101,
            .reason = reason_phrase(101),
            .headers = fields_};
  }

 private:
  std::string accept_;
  std::vector<HeaderView> fields_;
};

/// A conversation on its connection, with one timer, which runs only while something is due.
class Player {
 public:
  Player(Conversation& conversation, BodyReader& body, ResponseWriter& writer,
         const net::any_io_executor& executor)
      : conversation_(conversation), body_(body), writer_(writer), timer_(executor) {}

  Task<void> run() {
    using net::experimental::awaitable_operators::operator||;
    auto const first = co_await (listen() || speak());
    auto const& ended = first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
    if (!ended) co_return ended;
    co_return co_await writer_.finish({});
  }

 private:
  /// Returns when the client has ended its direction.
  Task<void> listen() {
    while (true) {
      auto const bytes = co_await body_.read();
      if (!bytes) co_return fail(bytes.error());
      if (bytes->empty()) co_return Result<void>{};
      if (!broken_) hear(*bytes);
      timer_.cancel();
    }
  }

  void hear(Bytes bytes) {
    auto const at = now();
    while (true) {
      auto const step = parser_.next(bytes);
      if (!step) {
        broken_ = step.error();
        return;
      }
      bytes = bytes.subspan(step->consumed);
      if (!step->piece) return;
      conversation_.receive(*step->piece, at);
      auto const& [kind, ends, payload] = *step->piece;
      // Of several pings only the last needs an answer (section 5.5.3).
      if (kind == MessageKind::kPing) pong_.emplace(payload.begin(), payload.end());
      if (kind == MessageKind::kClose) close_.assign(payload.begin(), payload.end());
    }
  }

  /// Returns when the connection must end.
  Task<void> speak() {
    while (true) {
      if (broken_) {
        put_frame(MessageKind::kClose, close_payload(close_code_for(broken_)));
        co_return co_await flush();
      }
      if (auto const ping = std::exchange(pong_, std::nullopt)) {
        put_frame(MessageKind::kPong, *ping);
      }
      auto const step = conversation_.next(now());
      switch (step.kind) {
        case Conversation::Step::Kind::kSend:
          if (auto const sent = co_await say(*step.message, step.continues); !sent) co_return sent;
          break;
        case Conversation::Step::Kind::kAnswerClose:
          put_frame(MessageKind::kClose, close_);
          co_return co_await flush();
        case Conversation::Step::Kind::kEnd:
          co_return co_await flush();
        case Conversation::Step::Kind::kWait:
          if (!out_.empty()) {
            // Data may have arrived meanwhile.
            if (auto const sent = co_await flush(); !sent) co_return sent;
            break;
          }
          timer_.expires_at(step.at ? Clock::time_point(*step.at) : Clock::time_point::max());
          co_await timer_.async_wait(kTuple);
      }
    }
  }

  Task<void> say(const WebSocketMessage& message, bool continues) {
    FrameHeader const header(message.kind, message.payload.size(), message.fin, continues);
    put(header.bytes());
    if (out_.size() + message.payload.size() <= kGatherBytes) {
      put(message.payload);
      co_return Result<void>{};
    }
    if (auto const sent = co_await flush(); !sent) co_return sent;
    co_return co_await writer_.write(message.payload);
  }

  void put(Bytes bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void put_frame(MessageKind kind, Bytes payload) {
    put(FrameHeader(kind, payload.size(), true, false).bytes());
    put(payload);
  }
  Task<void> flush() {
    if (out_.empty()) co_return Result<void>{};
    sending_.swap(out_);
    auto const sent = co_await writer_.write(sending_);
    sending_.clear();
    co_return sent;
  }

  Conversation& conversation_;
  BodyReader& body_;
  ResponseWriter& writer_;
  net::steady_timer timer_;
  WebSocketParser parser_{MessageSender::kClient};
  std::vector<std::byte> out_;
  std::vector<std::byte> sending_;
  std::optional<std::vector<std::byte>> pong_;
  std::vector<std::byte> close_;  // the client's close
  std::error_code broken_;        // the client does not speak WebSocket
};

}  // namespace

const WebSocketReplay::Script& WebSocketReplay::script_of(const MessageOwner& owner) {
  std::scoped_lock const lock(mutex_);
  auto& known = scripts_[owner.sequence];
  if (known) return *known;
  auto script = std::make_unique<Script>();
  for (auto const& place : archive_.messages(owner)) {
    auto const message = archive_.message(place);
    if (!message) {
      spdlog::warn("a message of the WebSocket of exchange {} is damaged: it ends there",
                   owner.sequence);
      break;
    }
    script->push_back(*message);
  }
  known = std::move(script);
  return *known;
}

Task<void> WebSocketReplay::serve(const Exchange& exchange, const ResponseHead& recorded,
                                  const RequestHead& head, BodyReader& body,
                                  ResponseWriter& writer) {
  auto const& script = script_of(owner_of_messages(exchange));
  std::uint64_t generation = 0;
  {
    std::scoped_lock const lock(mutex_);
    ++report_.opened;
    generation = generation_;
  }
  AgreeingHead const agreeing(recorded, head);
  if (auto const sent = co_await writer.send_head(agreeing.head()); !sent) co_return sent;
  Conversation conversation(script, exchange.timings.first_byte, now());
  Player player(conversation, body, writer, co_await net::this_coro::executor);
  auto const result = co_await player.run();
  add(exchange, conversation, generation);
  co_return result;
}

void WebSocketReplay::add(const Exchange& exchange, const Conversation& conversation,
                          std::uint64_t generation) {
  ReplayedWebSocket ended{.sequence = exchange.sequence,
                          .url = url_of(exchange.request),
                          .counts = conversation.counts(),
                          .differing = conversation.differing()};
  std::scoped_lock const lock(mutex_);
  if (generation != generation_) return;
  ++report_.ended;
  auto& sum = report_.messages;
  sum.client_recorded += ended.counts.client_recorded;
  sum.client_received += ended.counts.client_received;
  sum.client_differing += ended.counts.client_differing;
  sum.origin_recorded += ended.counts.origin_recorded;
  sum.origin_sent += ended.counts.origin_sent;
  if (ended.as_recorded()) return;
  ++report_.differing;
  if (report_.different.size() < kListedMax) report_.different.push_back(std::move(ended));
}

WebSocketReport WebSocketReplay::report() const {
  std::scoped_lock const lock(mutex_);
  return report_;
}

void WebSocketReplay::reset() {
  std::scoped_lock const lock(mutex_);
  report_ = {};
  ++generation_;
}

}  // namespace reprise
