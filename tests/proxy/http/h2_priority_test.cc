// Whose DATA goes first (RFC 9218), seen by a client that takes less than the server could send.

#include <netinet/tcp.h>

#include <algorithm>
#include <ranges>

#include "tests/proxy/http/delivery_orders.h"
#include "tests/proxy/http/h2_site.h"

namespace reprise {
namespace {

constexpr std::size_t kFrameBytes = 16'384;
constexpr std::size_t kBodyBytes = 600'000;
/// As the listeners set it (proxy/server.cc).
constexpr int kUnsentBytesMax = 16 << 10;
constexpr int kReceiveBufferBytes = 64 << 10;  // Linux makes it twice that
/// What may be on its way already when an urgent request comes: a batch in the session, another in
/// the server's socket, and what the client's socket holds.
constexpr std::size_t kOnItsWayBytesMax = 300'000;

/// DATA of one stream, not interrupted by another's.
struct Stretch {
  std::uint32_t stream;
  std::size_t bytes;
};

class H2Priority : public H2ServerTest {
 protected:
  H2Priority() : body_(kBodyBytes, 'b') {
    ends.client->socket().set_option(net::socket_base::receive_buffer_size(kReceiveBufferBytes));
    ::setsockopt(ends.server->socket().native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT,
                 &kUnsentBytesMax, sizeof kUnsentBytesMax);
    site.responses["/stored"] = std::make_unique<StoredResponse>(
        "GET", StoredResponse::Parts{.head = {.status = 200}, .body = bytes_of(body_)});
    settings = setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 30);
  }

  static std::string windows() { return frame(NGHTTP2_WINDOW_UPDATE, 0, 0, u32(1 << 30)); }
  static std::string ask(FrameClient& client, std::uint32_t id, const std::string& priority,
                         const std::string& path = "/stored") {
    auto fields = request_fields(path);
    if (!priority.empty()) fields.emplace_back("priority", priority);
    return client.head(id, fields);
  }
  static std::string update(std::uint32_t id, const std::string& priority) {
    return frame(kPriorityUpdate, 0, 0, u32(id) + priority);
  }
  /// Takes DATA until `count` streams have ended, or `bytes` came.
  static awaitable<std::vector<Stretch>> take(FrameClient& client, std::size_t count,
                                              std::size_t bytes = SIZE_MAX) {
    std::vector<Stretch> stretches;
    while (count > 0 && bytes > 0) {
      auto const found = co_await client.next();
      if (!found) {
        ADD_FAILURE() << "ended too early";
        break;
      }
      if (found->type != NGHTTP2_DATA) continue;
      auto const size = found->payload.size();
      if (stretches.empty() || stretches.back().stream != found->stream)
        stretches.push_back({found->stream, 0});
      stretches.back().bytes += size;
      bytes -= std::min(bytes, size);
      if (found->ends_stream()) --count;
    }
    co_return stretches;
  }
  /// Of streams that came one after the other.
  static void expect_in_order(const std::vector<Stretch>& stretches,
                              std::vector<std::uint32_t> streams) {
    std::vector<std::uint32_t> seen;
    for (const Stretch& each : stretches) seen.push_back(each.stream);
    EXPECT_EQ(seen, streams);
  }
  static void expect_overtaken(const std::vector<Stretch>& stretches) {
    expect_in_order(stretches, {1, 3, 1});
    EXPECT_LE(stretches.front().bytes, kOnItsWayBytesMax);
    if (stretches.size() > 1) EXPECT_EQ(stretches[1].bytes, kBodyBytes);
  }

 private:
  std::string const body_;
};

TEST_F(H2Priority, AnUrgentResponseOvertakesOneThatRuns) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=5"));
    co_await take(client, 1, 100'000);
    co_await client.send(ask(client, 3, "u=1"));
    expect_overtaken(co_await take(client, 2));
  });
}

TEST_F(H2Priority, AnUrgentResponseOvertakesOneThatAHandlerWrites) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=5", "/download"));
    co_await take(client, 1, 100'000);
    co_await client.send(ask(client, 3, "u=1"));
    expect_overtaken(co_await take(client, 2));
  });
}

TEST_F(H2Priority, WithoutTheFieldUrgencyIsThree) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=4"));
    co_await take(client, 1, 100'000);
    co_await client.send(ask(client, 3, ""));
    expect_overtaken(co_await take(client, 2));
    co_await client.send(ask(client, 5, ""));
    co_await take(client, 1, 100'000);
    co_await client.send(ask(client, 7, "u=2"));
    auto const stretches = co_await take(client, 2);
    expect_in_order(stretches, {5, 7, 5});
  });
}

TEST_F(H2Priority, AnUpdateOvertakesWhatRuns) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=3") + ask(client, 3, "u=3"));
    expect_in_order(co_await take(client, 1, 100'000), {1});
    co_await client.send(update(3, "u=1"));
    expect_overtaken(co_await take(client, 2));
  });
}

TEST_F(H2Priority, AnUpdateHoldsBackWhatRuns) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=3") + ask(client, 3, "u=4"));
    expect_in_order(co_await take(client, 1, 100'000), {1});
    co_await client.send(update(1, "u=7"));
    expect_overtaken(co_await take(client, 2));
  });
}

/// Section 7.1: the server keeps it.
TEST_F(H2Priority, AnUpdateMayComeBeforeItsRequest) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=3"));
    co_await take(client, 1, 100'000);
    co_await client.send(update(3, "u=1") + ask(client, 3, ""));
    expect_overtaken(co_await take(client, 2));
  });
}

TEST_F(H2Priority, ResponsesOfOneUrgencyComeInTheOrderOfTheirRequests) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=3") + ask(client, 3, "u=3") +
                         ask(client, 5, "") + ask(client, 7, "u=3"));
    expect_in_order(co_await take(client, 4), {1, 3, 5, 7});
  });
}

class H2Orders : public H2Priority, public testing::WithParamInterface<DeliveryOrder> {};

/// h3_delivery_test.cc has the same for HTTP/3.
TEST_P(H2Orders, AreThoseOfHttp3) {
  play([](FrameClient& client) -> awaitable<void> {
    auto const& [name, priorities, ends] = GetParam();
    auto together = windows();
    std::uint32_t stream = 1;
    for (auto const& priority : priorities) {
      together += ask(client, stream, priority);
      stream += 2;
    }
    co_await client.send(together);
    std::vector<std::uint32_t> ended;
    while (ended.size() < priorities.size()) {
      auto const found = co_await client.next();
      if (!found) break;
      if (found->type == NGHTTP2_DATA && found->ends_stream()) ended.push_back(found->stream);
    }
    std::vector<std::uint32_t> expected;
    for (auto const position : ends) {
      expected.push_back(static_cast<std::uint32_t>(1 + 2 * position));
    }
    EXPECT_EQ(ended, expected);
  });
}

INSTANTIATE_TEST_SUITE_P(All, H2Orders, testing::ValuesIn(delivery_orders()), name_of_order);

TEST_F(H2Priority, IncrementalResponsesOfOneUrgencyInterleave) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=3, i") + ask(client, 3, "u=3, i") +
                         ask(client, 5, "u=3, i"));
    auto const stretches = co_await take(client, 3);
    std::map<std::uint32_t, std::size_t> taken{{1, 0}, {3, 0}, {5, 0}};
    for (const Stretch& each : stretches) {
      taken[each.stream] += each.bytes;
      auto const counts = taken | std::views::values;
      EXPECT_LE(std::ranges::max(counts) - std::ranges::min(counts), 2 * kFrameBytes);
    }
  });
}

TEST_F(H2Priority, AnUrgentResponseOvertakesIncrementalOnes) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=5, i") + ask(client, 3, "u=5, i"));
    co_await take(client, 2, 200'000);
    co_await client.send(ask(client, 5, "u=1, i"));
    auto const stretches = co_await take(client, 3);
    auto const urgent = std::ranges::find(stretches, 5U, &Stretch::stream);
    std::size_t before = 0;
    for (auto each = stretches.begin(); each != urgent; ++each) before += each->bytes;
    EXPECT_LE(before, kOnItsWayBytesMax);
    EXPECT_TRUE(urgent != stretches.end() && urgent->bytes == kBodyBytes);
  });
}

TEST_F(H2Priority, WhatIsNoPriorityIsIgnored) {
  play([](FrameClient& client) -> awaitable<void> {
    co_await client.send(windows() + ask(client, 1, "u=99, i=?2, \"") + update(1, "u=(") +
                         ask(client, 3, ""));
    expect_in_order(co_await take(client, 2), {1, 3});
  });
}

}  // namespace
}  // namespace reprise
