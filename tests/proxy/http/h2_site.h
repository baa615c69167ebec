#pragma once

// What the tests of the HTTP/2 server serve, and a connection on which they ask for it.

#include <gtest/gtest.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <functional>
#include <list>
#include <map>
#include <string>

#include "proxy/http/event.h"
#include "proxy/http/h2_server.h"
#include "tests/proxy/http/h2_frames.h"

namespace reprise {

/// A body in pieces, one of them empty.
class ThreePieces final : public PiecewiseBody {
 public:
  std::size_t pieces() const override { return 3; }
  Result<Bytes> piece(std::size_t index) const override {
    return index == 1 ? Bytes{} : bytes_of(index == 0 ? "left " : "right");
  }
};

/// Answers by path; its members say what happened and hold back what is to wait.
class Site final : public Handler {
 public:
  Task<void> serve(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                   ResponseWriter& writer) override {
    ++started;
    if (on_serve) on_serve();
    Result<void> served;
    if (auto const stored = responses.find(std::string(head.target)); stored != responses.end()) {
      served = co_await writer.send_stored(stored->second);
    } else if (head.target == "/wait") {
      co_await writer.client_gone();
      served = co_await send_text(writer, 200, "too late");
      EXPECT_FALSE(served);
    } else if (head.target == "/held") {
      co_await held_.emplace_back().wait();
      served = co_await send_text(writer, 200, "released");
    } else if (head.target == "/release") {
      release();
      served = co_await send_text(writer, 200, "first");
    } else if (head.target == "/given-up") {
      served = co_await give_up_on(body, writer);
    } else if (head.target == "/early") {
      served = co_await send_text(writer, 200, "early");
    } else if (head.target == "/socket") {
      served = co_await say_back(body, writer);
    } else if (head.target == "/broken") {
      served = fail(std::make_error_code(std::errc::io_error));
    } else if (head.target == "/cut") {
      served = co_await cut(writer, kCutBytes);
    } else if (head.target == "/cut-early") {
      served = co_await cut(writer, 0);
    } else if (head.target == "/cut-204") {
      served = co_await cut_without_content(writer, 204);
    } else if (head.target == "/cut-304") {
      served = co_await cut_without_content(writer, 304);
    } else if (head.target == "/drops") {
      served = co_await drip(writer);
    } else if (head.target == "/download") {
      served = co_await download(writer);
    } else if (head.target == "/interim") {
      served = co_await with_interim(writer);
    } else {
      if (head.target == "/slow") co_await held_.emplace_back().wait();
      served = co_await echo(context, head, body, writer);
    }
    ++ended;
    co_return served;
  }
  /// As the replay does it: what lies prepared needs no serve().
  StoredResponsePtr stored(const ExchangeContext&, const RequestHead& head) override {
    auto const found = responses.find(std::string(head.target));
    return found == responses.end() ? nullptr : found->second;
  }
  void close() override { release(); }
  void release() {
    for (Event& held : held_) held.set();
  }

  std::function<void()> on_serve;  ///< called as a handler begins
  std::size_t started = 0;
  std::size_t ended = 0;
  std::size_t written_bytes = 0;
  std::size_t read_bytes = 0;
  std::map<std::string, StoredResponsePtr> responses;

  static constexpr std::size_t kDownloadBytes = 1 << 20;
  static constexpr std::size_t kCutBytes = 300'000;
  static constexpr std::size_t kDrops = 1000;

 private:
  std::list<Event> held_;

  Task<void> echo(const ExchangeContext& context, const RequestHead& head, BodyReader& body,
                  ResponseWriter& writer) {
    std::string content;
    while (!body.finished()) {
      auto const piece = co_await body.read();
      if (!piece) co_return fail(piece.error());
      read_bytes += piece->size();
      if (content.size() < 100) content += text_of(*piece).substr(0, 100);
    }
    for (const HeaderView& field : body.trailers()) {
      content.append(" +").append(field.name).append("=").append(field.value);
    }
    auto const text = std::to_string(context.stream_id) + " " + std::string(head.method) + " " +
                      std::string(to_string(head.scheme)) + " " + std::string(head.host) + ":" +
                      std::to_string(head.port) + std::string(head.target) + " " + content;
    co_return co_await send_text(writer, 200, text);
  }
  /// Reads until it is released, and answers without the content.
  Task<void> give_up_on(BodyReader& body, ResponseWriter& writer) {
    using net::experimental::awaitable_operators::operator||;
    (void)co_await (body.read() || held_.emplace_back().wait());
    co_return co_await send_text(writer, 200, "given up");
  }
  /// Of another protocol, what is heard first.
  static Task<void> say_back(BodyReader& body, ResponseWriter& writer) {
    (void)co_await writer.send_head({.status = 101});
    auto const heard = co_await body.read();
    if (!heard) co_return fail(heard.error());
    (void)co_await writer.write(*heard);
    co_return co_await writer.finish({});
  }
  /// Breaks off once everything before has left, as the replay of a cut exchange does.
  static Task<void> cut(ResponseWriter& writer, std::size_t size_bytes) {
    (void)co_await writer.send_head({.status = 200});
    std::string const piece(size_bytes, 'c');
    if (size_bytes > 0) {
      if (auto const sent = co_await writer.write(bytes_of(piece)); !sent) co_return sent;
    }
    if (auto const left = co_await writer.write({}); !left) co_return left;
    co_return fail(std::make_error_code(std::errc::connection_aborted));
  }
  /// The same after a head without content, which it sends once it is released.
  Task<void> cut_without_content(ResponseWriter& writer, std::uint16_t status) {
    (void)co_await writer.send_head({.status = 103});
    co_await held_.emplace_back().wait();
    (void)co_await writer.send_head({.status = status});
    if (auto const left = co_await writer.write({}); !left) co_return left;
    co_return fail(std::make_error_code(std::errc::connection_aborted));
  }
  /// A byte at a time.
  Task<void> drip(ResponseWriter& writer) {
    (void)co_await writer.send_head({.status = 200});
    for (; written_bytes < kDrops; ++written_bytes) {
      if (auto const sent = co_await writer.write(bytes_of("d")); !sent) co_return sent;
    }
    co_return co_await writer.finish({});
  }
  Task<void> download(ResponseWriter& writer) {
    (void)co_await writer.send_head({.status = 200});
    std::string const piece(16'384, 'd');
    while (written_bytes < kDownloadBytes) {
      if (auto const sent = co_await writer.write(bytes_of(piece)); !sent) co_return sent;
      written_bytes += piece.size();
    }
    co_return co_await writer.finish({});
  }
  static Task<void> with_interim(ResponseWriter& writer) {
    std::array<HeaderView, 1> const hints{{{"Link", "</a.css>"}}};
    std::array<HeaderView, 2> const fields{{{"X-Kept", "yes"}, {"Connection", "close"}}};
    std::array<HeaderView, 2> const trailers{{{"X-End", "1"}, {"x-end", "2"}}};
    (void)co_await writer.send_head({.status = 103, .headers = hints});
    (void)co_await writer.send_head({.status = 200, .headers = fields});
    (void)co_await writer.write(bytes_of("text"));
    co_return co_await writer.finish(trailers);
  }
};

/// A server, and a client that has sent its preface. play() runs a client's part to its end and
/// checks that the server then ends too, with every handler.
class H2ServerTest : public testing::Test {
 public:
  using Part = std::function<awaitable<void>(FrameClient&)>;

 protected:
  void play(Part part, bool with_preface = true) {
    ends.spawn([this]() -> awaitable<void> {
      (void)co_await serve_h2(*ends.server, info, site, deadline, options);
      ends.server->close();
      served = true;
    });
    FrameClient client(*ends.client);
    ends.spawn([&]() -> awaitable<void> {
      if (with_preface)
        co_await client.send(FrameClient::preface(settings) +
                             frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0));
      co_await part(client);
      ends.client->close();
    });
    ends.run();
    EXPECT_TRUE(served);
    EXPECT_EQ(site.started, site.ended);
  }

  Loopback ends;
  Site site;
  ConnectionInfo info{.id = 1};
  Deadline deadline;
  H2ServerOptions options;
  std::string settings;  // the client's
  bool served = false;
};

}  // namespace reprise
