// Clients that want to exhaust the server: what they can make it hold is bounded, and a good client
// is served.

#include <gtest/gtest.h>

#include "tests/proxy/http/h3/h3_pair.h"

namespace reprise {
namespace {

using Fields = QuicClient::Fields;

TEST(H3Attack, AFloodOfResetsRunsNoMoreHandlersThanStreams) {
  H3Pair pair;
  pair.quic_options.streams_max = 20;
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  std::size_t running_max = 0;
  for (int i = 0; i < 2000; ++i) {
    auto const stream = client.get("/wait");
    pair.to_server();
    client.cancel(stream);
    pair.to_server();
    pair.context.restart();
    pair.context.poll();
    pair.to_client();
    pair.now += std::chrono::milliseconds(1);
    running_max = std::max(running_max, pair.site.started - pair.site.ended);
  }
  EXPECT_LE(running_max, 20u);
  EXPECT_GT(pair.site.started, 1000u);
  pair.run([&] { return pair.site.started == pair.site.ended; });
  auto const good = client.get("/early");
  pair.run([&] { return client.answer(good).complete; });
  EXPECT_EQ(client.answer(good).body, "early");
}

/// Each head is within its limit.
TEST(H3Attack, HeadsOfRunningRequestsAreBoundedTogether) {
  H3Pair pair;
  auto& client = pair.open();
  client.get("/early");
  pair.run([&] { return client.completed().size() == 1; });
  Fields const long_fields(60, {"x-long", std::string(3000, 'b')});
  for (int i = 0; i < 100 && !client.closed(); ++i) {
    Fields fields{
        {":method", "POST"}, {":scheme", "https"}, {":authority", "a.test"}, {":path", "/slow"}};
    fields.insert(fields.end(), long_fields.begin(), long_fields.end());
    client.ask(std::move(fields), std::string("x"));
    pair.run([&] { return client.closed() || pair.site.started == static_cast<unsigned>(i) + 2; });
  }
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(client.close_code(), NGHTTP3_H3_EXCESSIVE_LOAD);
  // 4 MiB, in heads of 180 KB.
  EXPECT_LE(pair.site.started, 26u);
}

TEST(H3Attack, MoreRequestsThanPermittedWait) {
  H3Pair pair;
  pair.quic_options.streams_max = 5;
  auto& client = pair.open();
  for (int i = 0; i < 50; ++i) client.get("/wait");
  pair.run([&] { return pair.site.started >= 5; });
  pair.run();
  EXPECT_EQ(pair.site.started, 5u);
  EXPECT_FALSE(client.closed());
}

}  // namespace
}  // namespace reprise
