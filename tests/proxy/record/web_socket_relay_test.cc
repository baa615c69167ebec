#include "proxy/record/web_socket_relay.h"

#include <gmock/gmock.h>

#include "tests/archive/file_size_limit.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kAsk =
    "GET /socket HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
constexpr std::string_view kAgree =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

std::string frame(MessageSender sender, MessageKind kind, std::string payload) {
  std::optional<FrameHeader::Mask> mask;
  if (sender == MessageSender::kClient) mask = {std::byte{1}, std::byte{2}, std::byte{3}, {}};
  FrameHeader const header(kind, payload.size(), true, false, mask);
  if (mask) apply_mask(*mask, 0, std::as_writable_bytes(std::span(payload)));
  return std::string(text_of(header.bytes())).append(payload);
}

/// The payloads of the whole messages that `bytes` begin with.
std::vector<std::string> whole_messages(MessageSender sender, std::string_view bytes) {
  std::vector<std::string> messages;
  std::string message;
  WebSocketParser parser(sender);
  for (Bytes rest = bytes_of(bytes);;) {
    auto const step = parser.next(rest);
    if (!step || !step->piece) return messages;
    rest = rest.subspan(step->consumed);
    message += text_of(step->piece->payload);
    if (step->piece->ends) messages.push_back(std::exchange(message, {}));
  }
}

/// A WebSocket whose client and origin each say something and then wait for the other to end it.
class WebSocketTest : public testing::Test {
 protected:
  struct Ran {
    std::uint16_t status = 0;
    std::string client_got;
    std::string origin_got;
    std::vector<std::string> kept_of_client;
    std::vector<std::string> kept_of_origin;
    std::vector<MessageSender> ends;  ///< who ended it, as kept
    std::size_t exchanges = 0;
    std::vector<std::error_code> archive_errors;
    std::uint64_t start_bytes = 0;
    std::uint64_t bytes = 0;
  };
  using Speak = std::function<awaitable<void>(MemoryStream&)>;

  static Speak says(std::string text) {
    return [text](MemoryStream& stream) -> awaitable<void> {
      (void)co_await stream.write(bytes_of(text));
    };
  }
  static awaitable<void> silent(MemoryStream&) { co_return; }

  Ran run(const Speak& client, const Speak& origin,
          std::uint64_t limit_bytes = std::numeric_limits<std::int32_t>::max()) {
    RecordedSession session(folder_ / "a.reprise");
    Ran ran{.start_bytes = session.writer->size_bytes()};
    session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
      (void)co_await read_through(stream, "\r\n\r\n");
      (void)co_await stream.write(bytes_of(kAgree));
      co_await origin(stream);
      ran.origin_got = co_await read_all(stream);
    }};
    session.serve([&](H1Client& h1, MemoryStream& stream) -> awaitable<void> {
      (void)co_await stream.write(bytes_of(kAsk));
      Received received;
      (void)co_await receive(h1, received);
      ran.status = received.status;
      if (ran.status != 101) co_return;
      h1.switch_protocols();
      co_await client(stream);
      while (true) {
        auto const piece = co_await h1.body().read();
        if (!piece || piece->empty()) break;
        ran.client_got += text_of(*piece);
      }
    });
    {
      FileSizeLimit const full(ran.start_bytes + limit_bytes);
      session.run();
      ran.bytes = session.writer->size_bytes();
    }
    ran.archive_errors = session.archive_errors;
    auto const reader = session.archive();
    EXPECT_THAT(problems_of(*reader), IsEmpty());
    ran.exchanges = exchanges_of(*reader).size();
    std::array<std::string, 3> pieces;  // of messages that go on, by sender
    for (auto const& place : reader->messages()) {
      auto const message = reader->message(place);
      EXPECT_TRUE(message);
      if (!message) continue;
      bool const is_client = message->sender == MessageSender::kClient;
      if (message->kind == MessageKind::kEnd) {
        ran.ends.push_back(message->sender);
        continue;
      }
      auto& held = pieces[is_client ? 0 : 1];
      held += text_of(message->payload);
      if (!message->fin) continue;
      (is_client ? ran.kept_of_client : ran.kept_of_origin).push_back(std::exchange(held, {}));
    }
    return ran;
  }

  ScratchFolder folder_;
};

std::string const kOriginSays = frame(MessageSender::kOrigin, MessageKind::kText, "one") +
                                frame(MessageSender::kOrigin, MessageKind::kPing, "") +
                                frame(MessageSender::kOrigin, MessageKind::kBinary, "three") +
                                frame(MessageSender::kOrigin, MessageKind::kClose, "");
std::string const kClientSays = frame(MessageSender::kClient, MessageKind::kText, "eins") +
                                frame(MessageSender::kClient, MessageKind::kPong, "zwei") +
                                frame(MessageSender::kClient, MessageKind::kClose, "");

TEST_F(WebSocketTest, CarriesAndKeepsBothDirections) {
  auto const ran = run(says(kClientSays), [](MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kOriginSays));
    (void)co_await read_through(stream, kClientSays.substr(kClientSays.size() - 4));
    co_await stream.shutdown();
  });
  EXPECT_EQ(ran.client_got, kOriginSays);
  EXPECT_THAT(ran.kept_of_origin, ElementsAre("one", "", "three", ""));
  EXPECT_THAT(ran.kept_of_client, ElementsAre("eins", "zwei", ""));
  EXPECT_THAT(ran.ends, ElementsAre(MessageSender::kOrigin));
}

TEST_F(WebSocketTest, KeepsWhatTheClientGotOfAnOriginThatBreaksAtEachByte) {
  for (std::size_t cut = 0; cut < kOriginSays.size() && !HasFailure(); ++cut) {
    for (bool const reset : {false, true}) {
      SCOPED_TRACE((reset ? "reset after " : "end after ") + std::to_string(cut));
      auto const ran = run(silent, [=](MemoryStream& stream) -> awaitable<void> {
        (void)co_await stream.write(bytes_of(kOriginSays).first(cut));
        if (reset) co_return stream.abort();
        co_await stream.shutdown();
      });
      EXPECT_EQ(ran.status, 101);
      EXPECT_EQ(ran.client_got, kOriginSays.substr(0, cut));
      EXPECT_EQ(ran.kept_of_origin, whole_messages(MessageSender::kOrigin, ran.client_got));
      EXPECT_THAT(ran.ends, ElementsAre(MessageSender::kOrigin));
    }
  }
}

TEST_F(WebSocketTest, KeepsWhatTheOriginGotOfAClientThatBreaksAtEachByte) {
  for (std::size_t cut = 0; cut < kClientSays.size() && !HasFailure(); ++cut) {
    for (bool const reset : {false, true}) {
      SCOPED_TRACE((reset ? "reset after " : "end after ") + std::to_string(cut));
      auto const ran = run(
          [=](MemoryStream& stream) -> awaitable<void> {
            (void)co_await stream.write(bytes_of(kClientSays).first(cut));
            if (reset) co_return stream.abort();
            co_await stream.shutdown();
          },
          silent);
      EXPECT_EQ(ran.origin_got, kClientSays.substr(0, cut));
      EXPECT_EQ(ran.kept_of_client, whole_messages(MessageSender::kClient, ran.origin_got));
      EXPECT_THAT(ran.ends, ElementsAre(MessageSender::kClient));
    }
  }
}

TEST_F(WebSocketTest, OnAFullDiskDeliversNoMessageThatIsNotKept) {
  auto const end = [](MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kOriginSays));
    co_await stream.shutdown();
  };
  auto const whole = run(says(kClientSays), end);
  ASSERT_THAT(whole.kept_of_origin, SizeIs(4));
  for (std::uint64_t limit = 0; limit < whole.bytes - whole.start_bytes && !HasFailure(); ++limit) {
    SCOPED_TRACE(limit);
    auto const ran = run(says(kClientSays), end, limit);
    EXPECT_LE(ran.archive_errors.size(), 1U);
    // Times take as many bytes as they have digits, so the last limits may be none.
    if (ran.archive_errors.empty()) EXPECT_EQ(ran.client_got, kOriginSays);
    EXPECT_EQ(ran.exchanges, ran.status == 101 ? 1U : 0U);
    auto const client_has = whole_messages(MessageSender::kOrigin, ran.client_got);
    auto const origin_has = whole_messages(MessageSender::kClient, ran.origin_got);
    ASSERT_LE(client_has.size(), ran.kept_of_origin.size());
    ASSERT_LE(origin_has.size(), ran.kept_of_client.size());
  }
}

TEST_F(WebSocketTest, KeepsALongMessageInPieces) {
  auto const payload = std::string(MessageTap::kPieceBytes * 2 + 7, 'x');
  auto const said = frame(MessageSender::kOrigin, MessageKind::kText, payload);
  auto const ran = run(silent, [&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(said));
    co_await stream.shutdown();
  });
  EXPECT_EQ(ran.client_got, said);
  EXPECT_THAT(ran.kept_of_origin, ElementsAre(payload));
}

TEST_F(WebSocketTest, PassesOnWhatIsNotWebSocketAndKeepsNoMoreOfIt) {
  auto const said = frame(MessageSender::kOrigin, MessageKind::kText, "one") + "\xff\xff no frame";
  auto const ran = run(silent, [&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(said));
    co_await stream.shutdown();
  });
  EXPECT_EQ(ran.client_got, said);
  EXPECT_THAT(ran.kept_of_origin, ElementsAre("one"));
  EXPECT_THAT(ran.ends, ElementsAre(MessageSender::kOrigin));
}

TEST_F(WebSocketTest, PassesOnWhatComesAfterItsSessionAndKeepsNoneOfIt) {
  auto const before = frame(MessageSender::kOrigin, MessageKind::kText, "one");
  auto const after = frame(MessageSender::kOrigin, MessageKind::kText, "two");
  RecordedSession session(folder_ / "a.reprise");
  Event begun_again;
  session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    (void)co_await stream.write(bytes_of(kAgree));
    (void)co_await stream.write(bytes_of(before));
    co_await begun_again.wait();
    (void)co_await stream.write(bytes_of(after));
    co_await stream.shutdown();
    (void)co_await read_all(stream);
  }};
  std::string client_got;
  session.serve([&](H1Client& h1, MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kAsk));
    Received received;
    (void)co_await receive(h1, received);
    h1.switch_protocols();
    while (true) {
      auto const piece = co_await h1.body().read();
      if (!piece || piece->empty()) break;
      client_got += text_of(*piece);
    }
  });
  session.context.poll();
  EXPECT_EQ(client_got, before);
  session.session->begin_again({});
  begun_again.set();
  session.run();
  EXPECT_EQ(client_got, before + after);
  EXPECT_THAT(session.archive_errors, IsEmpty());
  auto const reader = session.archive();
  EXPECT_THAT(problems_of(*reader), IsEmpty());
  EXPECT_THAT(reader->messages(), SizeIs(1));
}

TEST_F(WebSocketTest, RefusedByTheOriginIsAnOrdinaryAnswer) {
  for (const char* const status : {"200 OK", "426 Upgrade Required", "403 Forbidden"}) {
    SCOPED_TRACE(status);
    RecordedSession session(folder_ / "a.reprise");
    session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
      (void)co_await read_through(stream, "\r\n\r\n");
      auto const text = std::string("HTTP/1.1 ") + status + "\r\nContent-Length: 2\r\n\r\nno";
      (void)co_await stream.write(bytes_of(text));
      (void)co_await read_all(stream);
    }};
    Received received;
    session.ask(std::string(kAsk), {&received});
    session.run();
    EXPECT_TRUE(received.whole);
    EXPECT_EQ(received.body, "no");
    auto const reader = session.archive();
    auto const kept = exchanges_of(*reader);
    ASSERT_THAT(kept, SizeIs(1));
    EXPECT_EQ(kept[0].outcome, Outcome::kComplete);
    EXPECT_EQ(kept[0].response.status, received.status);
    EXPECT_EQ(kept[0].request.protocol, kWebSocketProtocol);
    EXPECT_FALSE(opens_web_socket(kept[0]));
  }
}

TEST_F(WebSocketTest, EndsWithBothWhenTheProxyIsClosed) {
  RecordedSession session(folder_ / "a.reprise");
  std::string origin_got;
  session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    (void)co_await stream.write(bytes_of(kAgree));
    origin_got = co_await read_all(stream);
  }};
  bool ended = false;
  session.serve([&](H1Client& h1, MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kAsk));
    Received received;
    (void)co_await receive(h1, received);
    h1.switch_protocols();
    (void)co_await h1.body().read();
    ended = true;
  });
  session.context.poll();
  session.close_connections();
  session.run();
  EXPECT_TRUE(ended);
  auto const reader = session.archive();
  EXPECT_THAT(exchanges_of(*reader), SizeIs(1));
  EXPECT_THAT(reader->messages(), IsEmpty()) << "neither of them ended it";
}

}  // namespace
}  // namespace reprise
