#include "proxy/admin.h"

#include <gmock/gmock.h>

#include <string>

#include "tests/proxy/http/loopback.h"

namespace reprise {
namespace {

using testing::EndsWith;
using testing::StartsWith;

class AdminTest : public testing::Test {
 protected:
  /// The whole response to one request.
  std::string answer(const std::string& request, AdminActions actions) {
    Loopback ends;
    Admin admin(std::move(actions));
    FailedHandshakes failed_handshakes;
    Connection connection(std::move(ends.server->socket()), 1, Entry::kTransparent,
                          {.factory = admin,
                           .tls = nullptr,
                           .minters = nullptr,
                           .failed_handshakes = failed_handshakes});
    ends.spawn(connection.run());
    auto const text = request + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    std::string received;
    ends.spawn([&]() -> awaitable<void> {
      (void)co_await ends.client->write(bytes_of(text));
      received = co_await Loopback::read_all(*ends.client);
      ends.client->close();
    });
    ends.run();
    return received;
  }

  AdminActions of_a_recording() {
    return {.status = [] { return std::string("{}"); },
            .misses = [] { return std::string("[]"); },
            .reset = {},
            .clear = {},
            .stop = [this] { ++stops_; }};
  }
  AdminActions of_a_replay() {
    auto actions = of_a_recording();
    actions.reset = [this] { ++resets_; };
    return actions;
  }

  int resets_ = 0;
  int stops_ = 0;
};

TEST_F(AdminTest, AnswersWhatItOffers) {
  EXPECT_THAT(answer("GET /status", of_a_recording()), EndsWith("\r\n\r\n{}"));
  EXPECT_THAT(answer("GET /misses", of_a_recording()), EndsWith("\r\n\r\n[]"));
  EXPECT_THAT(answer("POST /reset", of_a_replay()), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(resets_, 1);
  EXPECT_THAT(answer("POST /stop", of_a_replay()), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(stops_, 1);
}

TEST_F(AdminTest, ListsWhatItOffers) {
  auto const replay = answer("GET /", of_a_replay());
  EXPECT_THAT(replay, StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(replay, EndsWith(R"({"error":"GET /status, GET /misses, POST /reset, POST /stop"})"));
  EXPECT_EQ(answer("GET /reset", of_a_replay()), replay);
}

TEST_F(AdminTest, ListsNoResetOfARecording) {
  for (const char* const request : {"POST /reset", "GET /"}) {
    auto const received = answer(request, of_a_recording());
    EXPECT_THAT(received, StartsWith("HTTP/1.1 404 ")) << request;
    EXPECT_THAT(received, EndsWith(R"({"error":"GET /status, GET /misses, POST /stop"})"))
        << request;
  }
}

}  // namespace
}  // namespace reprise
