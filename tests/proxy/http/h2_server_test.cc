#include "proxy/http/h2_server.h"

#include "tests/proxy/http/h2_site.h"

namespace reprise {
namespace {

/// The content of a stream up to its end; its heads are left in the client's last_head.
awaitable<std::string> content(FrameClient& client, std::uint32_t id) {
  std::string text;
  while (auto const found = co_await client.next()) {
    if (found->stream != id) continue;
    if (found->type == NGHTTP2_RST_STREAM) {
      text += " reset " + std::to_string(u32_at(found->payload, 0));
      break;
    }
    if (found->type == NGHTTP2_DATA) text += found->payload;
    if (found->ends_stream()) break;
  }
  co_return text;
}

TEST_F(H2ServerTest, ServesStreamsAtTheSameTime) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/held")) +
                         client.head(3, request_fields("/release")));
    std::string texts;
    while (texts.size() < 17) {
      auto const seen = co_await client.next();
      if (seen->type == NGHTTP2_DATA) texts += std::to_string(seen->stream) + " " + seen->payload;
    }
    EXPECT_EQ(texts, "3 first1 released");
  });
}

TEST_F(H2ServerTest, KeepsTheHeadOfARequestWhoseTrailersHaveCome) {
  play([](FrameClient& client) -> awaitable<void> {
    auto fields = request_fields("/a-path-that-is-longer-than-a-short-string", "POST");
    fields[2].second = "A.test:444";
    co_await client.send(client.head(1, fields, 0));
    co_await client.settle();
    co_await client.send(FrameClient::data(1, "con") + FrameClient::data(1, "tent") +
                         client.head(1, {{"x-sum", "5d41"}, {"x-and", "more"}}));
    EXPECT_EQ(co_await content(client, 1),
              "1 POST https a.test:444/a-path-that-is-longer-than-a-short-string "
              "content +x-sum=5d41 +x-and=more");
  });
  EXPECT_EQ(info.h2_pseudo_order,
            (std::vector<std::string>{":method", ":scheme", ":authority", ":path"}));
}

/// In one batch of frames, which the server has no chance to look into.
TEST_F(H2ServerTest, TakesHeadContentAndTrailersThatArriveTogether) {
  play([](FrameClient& client) -> awaitable<void> {
    std::uint32_t id = 1;
    for (const std::string& sent : {"", "content"}) {
      co_await client.send(client.head(id, request_fields("/echo", "POST"), 0) +
                           FrameClient::data(id, sent) + client.head(id, {{"x-sum", "5d41"}}));
      EXPECT_EQ(co_await content(client, id),
                std::to_string(id) + " POST https a.test:443/echo " + sent + " +x-sum=5d41");
      id += 2;
    }
  });
}

/// What lies prepared answers requests without content.
TEST_F(H2ServerTest, ShowsTheHandlerContentThatArrivesWithItsHead) {
  site.responses["/echo"] = std::make_unique<StoredResponse>(
      "POST", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of("stored")});
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/echo", "POST"), 0) +
                         FrameClient::data(1, "content", kEnd));
    EXPECT_EQ(co_await content(client, 1), "stored");
    EXPECT_EQ(site.started, 1U);
    co_await client.send(client.head(3, request_fields("/echo", "POST")));
    EXPECT_EQ(co_await content(client, 3), "stored");
    EXPECT_EQ(site.started, 1U);
  });
}

TEST_F(H2ServerTest, SendsInterimHeadsAndTrailersAndNoConnectionFields) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/interim")));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.last_head, (Fields{{":status", "103"}, {"link", "</a.css>"}}));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.last_head, (Fields{{":status", "200"}, {"x-kept", "yes"}}));
    EXPECT_EQ(co_await content(client, 1), "text");
    EXPECT_EQ(client.last_head, (Fields{{"x-end", "1"}, {"x-end", "2"}}));
  });
}

TEST_F(H2ServerTest, AsksForContentThatWaitsToBeAskedFor) {
  play([](FrameClient& client) -> awaitable<void> {
    auto fields = request_fields("/echo", "POST");
    fields.emplace_back("expect", "100-continue");
    co_await client.send(client.head(1, fields, 0));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.field(":status"), "100");
    co_await client.send(FrameClient::data(1, "asked", kEnd));
    EXPECT_EQ(co_await content(client, 1), "1 POST https a.test:443/echo asked");
  });
}

TEST_F(H2ServerTest, SendsNoContentForHead) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/echo", "HEAD")) +
                         client.head(3, request_fields("/download", "HEAD")));
    auto const answer = co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_TRUE(answer.ends_stream());
    EXPECT_EQ(client.field("content-length"), "29");
    EXPECT_EQ(co_await content(client, 3), "");
  });
}

TEST_F(H2ServerTest, SendsStoredResponsesOfEveryShape) {
  std::array<HeaderView, 2> const fields{{{"X-Kept", "yes"}, {"Transfer-Encoding", "chunked"}}};
  std::array<HeaderView, 1> const trailers{{{"X-End", "yes"}}};
  std::string const large(300'000, 'l');
  std::vector<std::string> values;
  for (int i = 0; i < 4000; ++i) values.push_back("value number " + std::to_string(i));
  std::vector<HeaderView> long_fields;
  for (const std::string& value : values) long_fields.push_back({.name = "X-Many", .value = value});
  auto const store = [this](const std::string& path, StoredResponse::Parts parts) {
    parts.head.status = 200;
    site.responses[path] = std::make_unique<StoredResponse>("GET", std::move(parts));
  };
  store("/small", {.head = {.headers = fields}, .trailers = trailers, .body = bytes_of("small")});
  store("/empty", {.head = {.headers = fields}});
  store("/only-trailers", {.head = {}, .trailers = trailers});
  store("/pieces", {.head = {}, .pieces = std::make_unique<ThreePieces>()});
  store("/large", {.head = {}, .body = bytes_of(large)});
  store("/long-head", {.head = {.headers = long_fields}});
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 20)) +
                         client.head(1, request_fields("/small")));
    co_await client.until(NGHTTP2_HEADERS, 1);
    EXPECT_EQ(client.last_head, (Fields{{":status", "200"}, {"x-kept", "yes"}}));
    EXPECT_EQ(co_await content(client, 1), "small");
    EXPECT_EQ(client.last_head, (Fields{{"x-end", "yes"}}));
    co_await client.send(client.head(3, request_fields("/empty")));
    EXPECT_TRUE((co_await client.until(NGHTTP2_HEADERS, 3)).ends_stream());
    co_await client.send(client.head(5, request_fields("/only-trailers")));
    EXPECT_EQ(co_await content(client, 5), "");
    EXPECT_EQ(client.last_head, (Fields{{"x-end", "yes"}}));
    co_await client.send(client.head(7, request_fields("/pieces")));
    EXPECT_EQ(co_await content(client, 7), "left right");
    co_await client.send(client.head(9, request_fields("/large")));
    EXPECT_EQ(co_await content(client, 9), large);
    co_await client.send(client.head(11, request_fields("/small", "HEAD")));
    EXPECT_TRUE((co_await client.until(NGHTTP2_HEADERS, 11)).ends_stream());
    co_await client.send(client.head(13, request_fields("/long-head")));
    while ((co_await client.next())->type != NGHTTP2_CONTINUATION) continue;
    co_await client.settle();
    EXPECT_EQ(client.last_head.size(), 4001U);
  });
}

TEST_F(H2ServerTest, OpensTheWindowsOnlyAsTheHandlerReads) {
  options.stream_window_bytes = 100'000;
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/slow", "POST"), 0));
    co_await client.settle();  // the first frames of the server are over
    for (int i = 0; i < 10; ++i) {
      co_await client.send(FrameClient::data(1, std::string(10'000, 'u')));
    }
    for (const Frame& seen : co_await client.settle()) {
      EXPECT_NE(seen.type, NGHTTP2_WINDOW_UPDATE);
    }
    EXPECT_EQ(site.read_bytes, 0U);
    site.release();
    co_await client.until(NGHTTP2_WINDOW_UPDATE, 1);
    co_await client.send(FrameClient::data(1, std::string(10'000, 'u'), kEnd));
    co_await content(client, 1);
    EXPECT_EQ(site.read_bytes, 110'000U);
  });
}

TEST_F(H2ServerTest, ResetsAStreamThatOverrunsItsWindow) {
  options.stream_window_bytes = 10'000;
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/wait", "POST"), 0) +
                         FrameClient::data(1, std::string(10'001, 'u')));
    EXPECT_EQ(co_await content(client, 1), " reset 3");
  });
}

TEST_F(H2ServerTest, HoldsNoMoreThanTheConnectionsWindow) {
  options.stream_window_bytes = 64'000;
  options.connection_window_bytes = 128'000;
  play([](FrameClient& client) -> awaitable<void> {
    for (std::uint32_t id = 1; id <= 5; id += 2) {
      co_await client.send(client.head(id, request_fields("/wait", "POST"), 0));
      for (int i = 0; i < 4; ++i) {
        co_await client.send(FrameClient::data(id, std::string(16'000, 'u')));
      }
    }
    auto const goodbye = co_await client.until(NGHTTP2_GOAWAY, 0);
    EXPECT_EQ(u32_at(goodbye.payload, 4), NGHTTP2_FLOW_CONTROL_ERROR);
  });
}

TEST_F(H2ServerTest, GivesBackTheWindowOfContentThatNobodyReads) {
  options.stream_window_bytes = 64'000;
  options.connection_window_bytes = 128'000;
  play([](FrameClient& client) -> awaitable<void> {
    for (std::uint32_t id = 1; id <= 41; id += 2) {
      co_await client.send(client.head(id, request_fields("/early", "POST"), 0) +
                           FrameClient::data(id, std::string(16'000, 'u')) +
                           FrameClient::data(id, std::string(16'000, 'u')));
      EXPECT_EQ(co_await content(client, id), "early");
      auto const reset = co_await client.until(NGHTTP2_RST_STREAM, id);
      EXPECT_EQ(u32_at(reset.payload, 0), NGHTTP2_NO_ERROR);
    }
  });
}

TEST_F(H2ServerTest, StopsTheRequestThatAStoredResponseDoesNotNeed) {
  std::string const large(100'000, 'l');
  site.responses["/stored"] = std::make_unique<StoredResponse>(
      "POST", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(large)});
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/stored", "POST"), 0));
    co_await client.settle();
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 20)) +
                         frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1 << 20)));
    auto const reset = co_await client.until(NGHTTP2_RST_STREAM, 1);
    EXPECT_EQ(u32_at(reset.payload, 0), NGHTTP2_NO_ERROR);
  });
}

TEST_F(H2ServerTest, HoldsAStoredResponseUntilItHasGone) {
  std::string const large(100'000, 'l');
  auto& stored = site.responses["/stored"];
  stored = std::make_unique<StoredResponse>(
      "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(large)});
  std::weak_ptr const watched(stored);
  play([&](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/stored")));
    co_await client.settle();
    stored = nullptr;
    EXPECT_FALSE(watched.expired());
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 20)) +
                         frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(1 << 20)));
    co_await client.until(NGHTTP2_DATA, 1);
    co_await client.settle();
    EXPECT_TRUE(watched.expired());
  });
}

/// The stream of a response ends once its last frame has been made, and the client may take that
/// much later: its bytes are still borrowed.
TEST_F(H2ServerTest, HoldsAStoredResponseWhoseLastFramesTheSocketHasNotTaken) {
  ends.client->socket().set_option(net::socket_base::receive_buffer_size(16 << 10));
  ends.server->socket().set_option(net::socket_base::send_buffer_size(16 << 10));
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 30)));
    auto const executor = co_await net::this_coro::executor;
    for (std::uint32_t id = 1; id < 40; id += 2) {
      std::string body(id * 16'000, 'l');
      auto& stored = site.responses["/stored"];
      stored = std::make_shared<StoredResponse>(
          "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(body)});
      std::weak_ptr const watched(stored);
      co_await client.send(client.head(id, request_fields("/stored")));
      for (int turns = 0; turns < 100; ++turns) co_await net::post(executor, net::deferred);
      site.responses.clear();
      for (int turns = 0; turns < 100; ++turns) co_await net::post(executor, net::deferred);
      if (watched.expired()) body.assign(body.size(), 'x');
      std::string received;
      for (bool more = true; more;) {
        auto const seen = co_await client.until(NGHTTP2_DATA, id);
        received += seen.payload;
        more = !seen.ends_stream();
      }
      EXPECT_EQ(received, std::string(id * 16'000, 'l'));
    }
  });
}

TEST_F(H2ServerTest, HoldsTheHandlerBackWhileTheClientOpensNoWindow) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/download")));
    std::size_t received = 0;
    for (auto const& seen : co_await client.settle()) received += seen.payload.size();
    while (received < 65'535) {
      auto const seen = co_await client.next();
      if (seen->type == NGHTTP2_DATA) received += seen->payload.size();
    }
    co_await client.settle();
    EXPECT_LE(site.written_bytes, 65'535U);
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(Site::kDownloadBytes)) +
                         frame(NGHTTP2_WINDOW_UPDATE, 0, 1, u32(Site::kDownloadBytes)));
    co_await content(client, 1);
    EXPECT_EQ(site.written_bytes, Site::kDownloadBytes);
  });
}

TEST_F(H2ServerTest, TellsWhetherContentWaitsForTheClient) {
  std::string const large(300'000, 'l');
  site.responses["/large"] = std::make_unique<StoredResponse>(
      "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(large)});
  settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20);
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/held")));
    co_await client.settle();
    EXPECT_FALSE(deadline.waiting().has_value());  // it is the handler who is waited for
    co_await client.send(client.head(3, request_fields("/large")));
    for (std::size_t received = 0; received < 65'535;) {
      auto const found = co_await client.next();
      if (found->type == NGHTTP2_DATA) received += found->payload.size();
    }
    EXPECT_EQ(deadline.waiting(), 65'535U);
    co_await client.send(frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1000)));
    co_await client.until(NGHTTP2_DATA, 3);
    EXPECT_EQ(deadline.waiting(), 66'535U);
    co_await client.send(frame(NGHTTP2_RST_STREAM, 0, 3, u32(NGHTTP2_CANCEL)));
    co_await client.settle();
    EXPECT_FALSE(deadline.waiting().has_value());
  });
}

TEST_F(H2ServerTest, TellsTheHandlerOfAStreamThatTheClientReset) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/wait")) +
                         client.head(3, request_fields("/download")) +
                         client.head(5, request_fields("/echo", "POST"), 0));
    co_await client.settle();
    EXPECT_EQ(site.started, 3U);
    for (std::uint32_t id = 1; id <= 5; id += 2) {
      co_await client.send(frame(NGHTTP2_RST_STREAM, 0, id, u32(NGHTTP2_CANCEL)));
    }
    co_await client.settle();
    co_await client.send(client.head(7, request_fields("/early")));
    EXPECT_EQ(co_await content(client, 7), "early");
    EXPECT_EQ(site.ended, 4U);
  });
}

TEST_F(H2ServerTest, TellsEveryHandlerOfAClientThatIsGone) {
  play([this](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/wait")) +
                         client.head(3, request_fields("/download")) +
                         client.head(5, request_fields("/echo", "POST"), 0) +
                         client.head(7, request_fields("/held")));
    co_await client.settle();
    EXPECT_EQ(site.started, 4U);
  });
}

TEST_F(H2ServerTest, ResetsTheStreamOfAHandlerThatFails) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(client.head(1, request_fields("/broken")));
    EXPECT_EQ(co_await content(client, 1), " reset 2");
    co_await client.send(client.head(3, request_fields("/early")));
    EXPECT_EQ(co_await content(client, 3), "early");
  });
}

TEST_F(H2ServerTest, WatchesAConnectionOnlyWhileNothingGoesOn) {
  constexpr auto kNever = std::chrono::steady_clock::time_point::max();
  play([&, this](FrameClient& client) -> awaitable<void> {
    co_await client.settle();
    EXPECT_NE(deadline.at, kNever);
    // A head that never ends is nothing that goes on.
    co_await client.send(client.head(1, request_fields("/held")));
    co_await client.settle();
    EXPECT_EQ(deadline.at, kNever);
    EXPECT_FALSE(deadline.between_messages);
    site.release();
    EXPECT_EQ(co_await content(client, 1), "released");
    co_await client.settle();
    EXPECT_NE(deadline.at, kNever);
    EXPECT_TRUE(deadline.between_messages);
    // As is a head that never ends.
    co_await client.send(frame(NGHTTP2_HEADERS, kEnd, 3, client.block(request_fields("/early"))));
    EXPECT_NE(deadline.at, kNever);
  });
}

}  // namespace
}  // namespace reprise
