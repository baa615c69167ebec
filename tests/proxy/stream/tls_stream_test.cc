// How a TLS server's bytes are cut: into records, and into calls of send(2), each of which is a
// packet of its own if it is small. The socket is one that keeps the limits of what was sent.

#include "proxy/stream/tls_stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "proxy/http/h2_server.h"
#include "tests/proxy/http/h2_frames.h"
#include "tests/proxy/tls/tls_ends.h"

namespace reprise {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Ge;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;

/// What TCP sends in one segment of Ethernet, with its time stamps, over IPv6.
constexpr std::size_t kSegmentBytes = 1428;
constexpr std::size_t kRecordHeadBytes = 5;

class TlsStreamTest : public TlsEnds, public testing::WithParamInterface<std::uint16_t> {
 protected:
  void SetUp() override {
    if (far_ >= 0) ::close(far_);
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    tcp::socket socket(context_);
    socket.assign(tcp::v4(), ends[0]);
    far_ = ends[1];
    auto ssl = make_server({"a.test"});
    choose_alpn(ssl.get(), "h2");
    stream_ = std::make_unique<TlsStream>(std::move(socket), std::move(ssl));
    client_ = make_client("a.test", {"h2"});
    SSL_set_max_proto_version(client_.get(), GetParam());
    to_client_ = BIO_new(BIO_s_mem());
    from_client_ = BIO_new(BIO_s_mem());
    SSL_set_bio(client_.get(), to_client_, from_client_);
  }
  ~TlsStreamTest() override { ::close(far_); }

  /// Starts the server: its handshake, then `go_on`.
  template <class Coroutine>
  void serve(Coroutine go_on) {
    net::co_spawn(
        context_,
        [this, go_on]() -> awaitable<void> {
          auto const shaken = co_await stream_->handshake();
          EXPECT_TRUE(shaken) << shaken.error().message();
          co_await go_on();
        },
        [](std::exception_ptr broken) {
          if (broken) std::rethrow_exception(broken);
        });
  }

  /// Both ends talk until the client has nothing to answer that it would not be asked for: what it
  /// says last is not delivered yet.
  void shake_hands_up_to_the_last() {
    while (SSL_do_handshake(client_.get()) != 1) {
      deliver();
      receive();
    }
  }
  /// The client changes its key so often: records without content.
  void update_keys(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_NOT_REQUESTED), 1);
      ASSERT_EQ(SSL_do_handshake(client_.get()), 1);
    }
  }
  void say(std::string_view text) {
    ASSERT_EQ(SSL_write(client_.get(), text.data(), static_cast<int>(text.size())),
              static_cast<int>(text.size()));
  }
  /// What the client has said arrives at once, and the server does all that it can.
  void deliver() {
    char* data = nullptr;
    auto const size = BIO_get_mem_data(from_client_, &data);
    if (size > 0) {
      ASSERT_EQ(::send(far_, data, static_cast<std::size_t>(size), 0), size);
    }
    BIO_reset(from_client_);
    run();
  }
  void run() {
    context_.restart();
    context_.poll();
  }
  /// The sizes of all that was sent, which the client takes in.
  std::vector<std::size_t> receive() {
    std::vector<std::size_t> sent;
    std::vector<char> buffer(1 << 20);
    while (true) {
      auto const size = ::recv(far_, buffer.data(), buffer.size(), 0);
      if (size <= 0) return sent;
      sent.push_back(static_cast<std::size_t>(size));
      BIO_write(to_client_, buffer.data(), static_cast<int>(size));
      run();  // there is room again
    }
  }
  /// The sizes of the records that the client has not read yet.
  std::vector<std::size_t> records() const {
    char* data = nullptr;
    auto const size = static_cast<std::size_t>(BIO_get_mem_data(to_client_, &data));
    std::vector<std::size_t> sizes;
    for (std::size_t at = 0; at + kRecordHeadBytes <= size; at += sizes.back()) {
      auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(data[at + i]); };
      sizes.push_back(kRecordHeadBytes + byte(3) * 256 + byte(4));
    }
    return sizes;
  }
  /// All content that the client can read.
  std::string read() {
    std::string text;
    std::array<char, 16 << 10> buffer;
    while (true) {
      auto const size = SSL_read(client_.get(), buffer.data(), buffer.size());
      if (size <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }

  /// Reads a request and answers with `answer`.
  void serve_once(std::string answer) {
    serve([this, answer]() -> awaitable<void> {
      std::array<std::byte, 100> request;
      auto const count = co_await stream_->read_some(request);
      EXPECT_TRUE(count && *count > 0);
      (void)co_await stream_->write(bytes_of(answer));
    });
  }

  net::io_context context_{1};
  std::unique_ptr<TlsStream> stream_;
  SslPtr client_;
  BIO* to_client_ = nullptr;    // the client's
  BIO* from_client_ = nullptr;  // the client's
  int far_ = -1;
};

INSTANTIATE_TEST_SUITE_P(Versions, TlsStreamTest, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION),
                         [](auto const& version) {
                           return version.param == TLS1_2_VERSION ? "Tls12" : "Tls13";
                         });

/// TLS 1.3 alone lets a client speak before the server has said its last.
class TlsStreamOfThree : public TlsStreamTest {};
INSTANTIATE_TEST_SUITE_P(Versions, TlsStreamOfThree, testing::Values(TLS1_3_VERSION));

TEST_P(TlsStreamTest, SaysItsLastWhereNoRequestComes) {
  serve_once("answer");
  shake_hands_up_to_the_last();
  deliver();
  EXPECT_THAT(receive(), SizeIs(GetParam() == TLS1_3_VERSION ? 1 : 0)) << "tickets";
  EXPECT_TRUE(SSL_is_init_finished(client_.get()));
  say("request");
  deliver();
  EXPECT_THAT(receive(), SizeIs(1));
  EXPECT_EQ(read(), "answer");
}

TEST_P(TlsStreamOfThree, TicketsShareAPacketWithTheFirstAnswer) {
  serve_once("answer");
  shake_hands_up_to_the_last();
  say("request");
  deliver();
  EXPECT_THAT(receive(), SizeIs(1));
  EXPECT_THAT(records(), SizeIs(3)) << "two tickets and the answer";
  EXPECT_EQ(read(), "answer");
}

TEST_P(TlsStreamOfThree, TicketsShareAPacketWithWhatTheServerSaysUnasked) {
  serve([this]() -> awaitable<void> {
    net::co_spawn(
        context_,
        [this]() -> awaitable<void> { (void)co_await stream_->write(bytes_of("settings")); },
        [](std::exception_ptr) {});
    std::array<std::byte, 100> request;
    (void)co_await stream_->read_some(request);
  });
  shake_hands_up_to_the_last();
  deliver();
  EXPECT_THAT(receive(), SizeIs(1));
  EXPECT_EQ(read(), "settings");
}

TEST_P(TlsStreamOfThree, EndsAConnectionWithThousandsOfRecordsWithoutContent) {
  constexpr int kUpdates = 400;  // 10,800 bytes
  std::size_t content_bytes = 0;
  std::error_code end;
  serve([this, &content_bytes, &end]() -> awaitable<void> {
    std::array<std::byte, 100> buffer;
    while (!end) {
      auto const count = co_await stream_->read_some(buffer);
      if (!count) end = count.error();
      content_bytes += count.value_or(0);
    }
  });
  shake_hands_up_to_the_last();
  for (int i = 0; i < 20; ++i) {
    update_keys(kUpdates);
    say("x");
    deliver();
  }
  EXPECT_EQ(content_bytes, 20U);
  EXPECT_FALSE(end) << end.message();
  for (int i = 0; i < 20 && !end; ++i) {
    update_keys(kUpdates);
    deliver();
  }
  EXPECT_EQ(end, std::errc::protocol_error);
}

TEST_P(TlsStreamOfThree, TicketsAreSentBeforeAnOrderlyEnd) {
  serve([this]() -> awaitable<void> { co_await stream_->shutdown(); });
  shake_hands_up_to_the_last();
  deliver();
  EXPECT_THAT(records(), IsEmpty());
  receive();
  EXPECT_THAT(records(), SizeIs(3)) << "two tickets and close_notify";
}

TEST_P(TlsStreamTest, RecordsFitASegmentAtFirst) {
  std::string const answer(60'000, 'x');
  serve_once(answer);
  shake_hands_up_to_the_last();
  say("request");
  deliver();
  receive();
  auto const sizes = records();
  ASSERT_THAT(sizes, SizeIs(Ge(10U)));
  EXPECT_THAT(std::vector(sizes.begin(), sizes.begin() + 10), Each(Le(kSegmentBytes)));
  EXPECT_EQ(read(), answer);
}

TEST_P(TlsStreamTest, RecordsOfALargeBodyAreSoonFull) {
  std::string const answer(1'000'000, 'x');
  serve_once(answer);
  shake_hands_up_to_the_last();
  say("request");
  deliver();
  receive();
  EXPECT_THAT(records(), SizeIs(Le(90U)));
  EXPECT_EQ(read(), answer);
}

/// The same with each cipher suite.
class TlsStreamSuites : public TlsStreamOfThree {
 protected:
  /// Answers each request with `pieces`.
  void serve_each(std::vector<std::string> pieces) {
    texts_ = std::move(pieces);
    for (const std::string& text : texts_) pieces_.emplace_back(bytes_of(text));
    serve([this]() -> awaitable<void> {
      std::array<std::byte, 100> request;
      while (co_await stream_->read_some(request)) {
        (void)co_await stream_->write(std::span<const Piece>(pieces_));
      }
    });
  }
  std::string whole() const {
    std::string all;
    for (const std::string& text : texts_) all += text;
    return all;
  }
  /// The answer to a request, as the client reads it.
  std::string ask() {
    say("request");
    deliver();
    receive();
    return read();
  }

  std::vector<std::string> texts_;
  std::vector<Piece> pieces_;
};
INSTANTIATE_TEST_SUITE_P(Versions, TlsStreamSuites, testing::Values(TLS1_3_VERSION));

TEST_P(TlsStreamSuites, PiecesOfAllSizesArriveWhole) {
  for (const char* const suite :
       {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}) {
    SCOPED_TRACE(suite);
    TlsStreamSuites::SetUp();
    SSL_set_ciphersuites(client_.get(), suite);
    texts_.clear();
    pieces_.clear();
    serve_each({"head", std::string(40'000, 'a'), "", "next head", std::string(1'023, 'b'),
                std::string(1'024, 'c'), std::string(100'000, 'd'), "end"});
    shake_hands_up_to_the_last();
    EXPECT_STREQ(SSL_get_cipher_name(client_.get()), suite);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(), whole());
    stream_->close();
    run();
  }
}

TEST_P(TlsStreamSuites, AKeyUpdateThatTheClientAsksForIsAnsweredAndFollowed) {
  for (const char* const suite :
       {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}) {
    SCOPED_TRACE(suite);
    TlsStreamSuites::SetUp();
    SSL_set_ciphersuites(client_.get(), suite);
    texts_.clear();
    pieces_.clear();
    serve_each({"head", std::string(60'000, 'a')});
    shake_hands_up_to_the_last();
    EXPECT_EQ(ask(), whole());
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(SSL_key_update(client_.get(), SSL_KEY_UPDATE_REQUESTED), 1);
      EXPECT_EQ(ask(), whole());
      EXPECT_EQ(ask(), whole());
    }
    stream_->close();
    run();
  }
}

TEST_P(TlsStreamSuites, SmallPiecesShareARecord) {
  serve_each({"head", std::string(500, 'a'), "tail"});
  shake_hands_up_to_the_last();
  ask();
  say("request");
  deliver();
  receive();
  EXPECT_THAT(records(), ElementsAre(508 + RecordSealer::kOverheadBytes));
}

/// One document over HTTP/2, whatever is asked for.
class Document final : public Handler {
 public:
  Task<void> serve(const ExchangeContext&, const RequestHead&, BodyReader&,
                   ResponseWriter&) override {
    co_return fail(std::make_error_code(std::errc::not_supported));
  }
  StoredResponsePtr stored(const ExchangeContext&, const RequestHead&) override {
    return std::make_shared<StoredResponse>(
        "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(body)});
  }

  std::string body = "document";
};

class FirstFlightOfH2 : public TlsStreamTest {
 protected:
  void SetUp() override {
    TlsStreamTest::SetUp();
    serve([this]() -> awaitable<void> {
      (void)co_await serve_h2(*stream_, connection_, document_, deadline_, {});
    });
    shake_hands_up_to_the_last();
  }
  ~FirstFlightOfH2() override {
    stream_->close();
    run();
  }

  Document document_;
  ConnectionInfo connection_;
  Deadline deadline_;
  TcpStream unused_{tcp::socket(context_)};
  FrameClient frames_{unused_};
  std::string const request_ = FrameClient::preface() + frames_.head(1, request_fields("/"));
};
INSTANTIATE_TEST_SUITE_P(Versions, FirstFlightOfH2, testing::Values(TLS1_3_VERSION));

TEST_P(FirstFlightOfH2, IsOnePacketWhereTheRequestIsThere) {
  say(request_);
  deliver();
  EXPECT_THAT(receive(), SizeIs(1));
  EXPECT_THAT(read(), EndsWith("document"));
}

TEST_P(FirstFlightOfH2, IsFollowedByFramesThatFillARecordEach) {
  constexpr std::size_t kFrameHeadBytes = 9;
  document_.body = std::string(200'000, 'a') + std::string(200'000, 'b');
  say(request_ +
      frame(NGHTTP2_SETTINGS, 0, 0, setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20)) +
      frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 20)));
  deliver();
  receive();
  std::string const sent = read();
  std::string body;
  std::size_t full_frames = 0;
  for (std::size_t at = 0; at < sent.size();) {
    std::size_t const size = u32_at(sent, at) >> 8;
    if (sent[at + 3] == NGHTTP2_DATA) body += sent.substr(at + kFrameHeadBytes, size);
    if (size + kFrameHeadBytes == RecordSizer::kRecordBytesMax) ++full_frames;
    at += kFrameHeadBytes + size;
  }
  EXPECT_TRUE(body == document_.body) << body.size() << " bytes";
  EXPECT_EQ(full_frames, 24U);
}

TEST_P(FirstFlightOfH2, HasSettingsAndTicketsInOnePacketWhereNoRequestIsThere) {
  deliver();
  EXPECT_THAT(receive(), SizeIs(1));
  EXPECT_FALSE(read().empty()) << "the client need not speak first";
  say(request_);
  deliver();
  EXPECT_THAT(receive(), SizeIs(1));
  EXPECT_THAT(read(), EndsWith("document"));
}

}  // namespace
}  // namespace reprise
