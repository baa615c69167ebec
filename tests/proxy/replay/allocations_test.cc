// How often serving what lies prepared asks for memory: the budget of the hot path. Counted are the
// C++ allocations of the whole process, Asio's and the test client's among them; nghttp2's own go
// through malloc and are not.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>

#include "archive/writer.h"
#include "proxy/http/h1_server.h"
#include "proxy/http/h2_server.h"
#include "proxy/replay/replay_session.h"
#include "tests/proxy/http/h2_frames.h"
#include "tests/scratch_folder.h"

namespace {
std::size_t allocations = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* const made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
void operator delete(void* made) noexcept {
  std::free(made);
}
void operator delete(void* made, std::size_t) noexcept {
  std::free(made);
}

namespace reprise {
namespace {

constexpr std::size_t kWarmUp = 200;
constexpr std::size_t kCounted = 1000;
constexpr std::string_view kHost = "a-host-name-longer-than-any-small-string.test";
constexpr const char* kEvents = "/events";

/// A replay of one document, which gets a script, and a connection to it.
class Allocations : public testing::Test {
 protected:
  Allocations() {
    record();
    reader_ = ArchiveReader::open(folder_ / "a.reprise", {}).value();
    auto script = inject::InjectedScript::create({.document = {"ours()"}, .worker = "ours();"});
    replay_ = std::make_unique<ReplaySession>(*reader_,
                                              ReplaySession::Options{.script = std::move(*script)});
    handler_ = replay_->open(connection_);
  }

  /// Runs the server and `client`, which ends the connection.
  template <class Server, class Client>
  void run(Server&& serve, Client&& client) {
    ends_.spawn([&]() -> awaitable<void> {
      (void)co_await serve(*ends_.server);
      ends_.server->close();
    });
    ends_.spawn(std::forward<Client>(client));
    ends_.run();
  }

  ScratchFolder folder_;
  std::unique_ptr<ArchiveReader> reader_;
  Loopback ends_;
  ConnectionInfo connection_;
  std::unique_ptr<ReplaySession> replay_;
  std::unique_ptr<ConnectionHandler> handler_;
  Deadline deadline_;

 private:
  void record() {
    auto const writer = ArchiveWriter::create(folder_ / "a.reprise", {}).value();
    auto const session = writer->begin_session({}).value();
    BodyWriter body(*writer);
    ASSERT_TRUE(body.append(bytes_of(std::string(1024, 'x'))));
    Exchange exchange;
    exchange.session = session;
    exchange.sequence = 1;
    exchange.request = {.method = "GET",
                        .scheme = Scheme::kHttps,
                        .host = std::string(kHost),
                        .port = 443,
                        .target = "/a/path/longer/than/any/small/string"};
    exchange.response.status = 200;
    exchange.response.version = HttpVersion::kH2;
    exchange.response.headers = {{.name = "Content-Type", .value = "text/html"},
                                 {.name = "Cache-Control", .value = "max-age=31536000"}};
    exchange.response.body = body.finish().value();
    auto events = exchange;
    ASSERT_TRUE(writer->add_exchange(std::move(exchange)));
    record_events(*writer, std::move(events));
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
  }

  /// A stream of pieces, each as far behind the one before as takes a timer.
  static void record_events(ArchiveWriter& writer, Exchange exchange) {
    BodyWriter body(writer);
    exchange.sequence = 2;
    exchange.request.target = kEvents;
    exchange.response.headers = {{.name = "Content-Type", .value = "text/event-stream"}};
    exchange.timings.first_byte = std::chrono::seconds(1);
    auto& chunks = exchange.response.chunk_times;
    auto time = exchange.timings.first_byte;
    for (std::size_t i = 0; i < kWarmUp + kCounted; ++i, time += Schedule::kTogether) {
      ASSERT_TRUE(body.append(bytes_of("#")));
      chunks.push_back({.end_bytes = i + 1, .time = time});
    }
    exchange.timings.end = chunks.back().time;
    exchange.response.body = body.finish().value();
    ASSERT_TRUE(writer.add_exchange(std::move(exchange)));
  }
};

TEST_F(Allocations, OfARequestOverHttp1AreNone) {
  H1ServerOptions const options{.scheme = Scheme::kHttps};
  std::size_t counted = 0;
  run(
      [&](ByteStream& stream) {
        return serve_h1(stream, connection_, *handler_, deadline_, options, {});
      },
      [&]() -> awaitable<void> {
        auto const request =
            "GET /a/path/longer/than/any/small/string HTTP/1.1\r\nHost: " + std::string(kHost) +
            "\r\nUser-Agent: a test with quite a long name\r\n\r\n";
        std::array<std::byte, 8192> buffer;
        for (std::size_t i = 0; i < kWarmUp + kCounted; ++i) {
          if (i == kWarmUp) counted = allocations;
          (void)co_await ends_.client->write(bytes_of(request));
          // The body is what the response ends with.
          for (std::size_t bodies = 0; bodies < 1024;) {
            auto const count = co_await ends_.client->read_some(buffer);
            if (!count || *count == 0) co_return;
            bodies += static_cast<std::size_t>(
                std::ranges::count(Bytes(buffer).first(*count), std::byte{'x'}));
          }
        }
        counted = allocations - counted;
        ends_.client->close();
      });
  EXPECT_EQ(counted, 0U);
}

TEST_F(Allocations, OfAPieceOfAStreamAreNone) {
  H1ServerOptions const options{.scheme = Scheme::kHttps};
  std::size_t counted = 0;
  std::size_t pieces = 0;
  run(
      [&](ByteStream& stream) {
        return serve_h1(stream, connection_, *handler_, deadline_, options, {});
      },
      [&]() -> awaitable<void> {
        auto const request =
            "GET " + std::string(kEvents) + " HTTP/1.1\r\nHost: " + std::string(kHost) + "\r\n\r\n";
        std::array<std::byte, 8192> buffer;
        (void)co_await ends_.client->write(bytes_of(request));
        while (pieces < kWarmUp + kCounted) {
          auto const count = co_await ends_.client->read_some(buffer);
          if (!count || *count == 0) co_return;
          bool const warm = pieces < kWarmUp;
          pieces += static_cast<std::size_t>(
              std::ranges::count(Bytes(buffer).first(*count), std::byte{'#'}));
          if (warm && pieces >= kWarmUp) counted = allocations;
        }
        counted = allocations - counted;
        ends_.client->close();
      });
  EXPECT_EQ(pieces, kWarmUp + kCounted);
  EXPECT_EQ(counted, 0U);
  EXPECT_GT(replay_->counts().pauses.waits, 0U);
}

TEST_F(Allocations, OfARequestOverHttp2AreAtMostTwo) {
  H2ServerOptions const options;
  constexpr std::size_t kStreamsAtATime = 100;
  std::size_t counted = 0;
  std::size_t answered = 0;
  run(
      [&](ByteStream& stream) {
        return serve_h2(stream, connection_, *handler_, deadline_, options);
      },
      [&]() -> awaitable<void> {
        FrameClient frames(*ends_.client);
        Fields const fields{{":method", "GET"},
                            {":scheme", "https"},
                            {":authority", std::string(kHost)},
                            {":path", "/a/path/longer/than/any/small/string"}};
        // Windows that never close.
        auto opening = FrameClient::preface(setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20));
        opening += frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 30));
        (void)co_await ends_.client->write(bytes_of(opening));
        std::vector<std::string> batches;
        std::uint32_t stream = 1;
        for (std::size_t i = 0; i < (kWarmUp + kCounted) / kStreamsAtATime; ++i) {
          std::string& batch = batches.emplace_back();
          for (std::size_t k = 0; k < kStreamsAtATime; ++k, stream += 2) {
            batch += frame(NGHTTP2_HEADERS, kEnd | kWholeHead, stream, frames.block(fields));
          }
        }
        std::vector<std::byte> buffer(256 << 10);
        for (std::size_t i = 0; i < batches.size(); ++i) {
          if (i == kWarmUp / kStreamsAtATime) counted = allocations;
          (void)co_await ends_.client->write(bytes_of(batches[i]));
          for (std::size_t bytes = 0; bytes < kStreamsAtATime * 1024;) {
            auto const count = co_await ends_.client->read_some(buffer);
            if (!count || *count == 0) co_return;
            bytes += static_cast<std::size_t>(
                std::ranges::count(Bytes(buffer).first(*count), std::byte{'x'}));
          }
          answered += kStreamsAtATime;
        }
        counted = allocations - counted;
        ends_.client->close();
      });
  EXPECT_EQ(answered, kWarmUp + kCounted);
  EXPECT_LE(counted, 2 * kCounted);
  RecordProperty("allocations_per_1000_requests", std::to_string(counted));
}

}  // namespace
}  // namespace reprise
