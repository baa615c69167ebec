#include "proxy/http/h1_response.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <optional>

#include "tests/proxy/memory_stream.h"

namespace reprise {
namespace {

/// A pause of a response whose client does something meanwhile.
class H1Pause : public testing::Test {
 protected:
  H1Pause() {
    ends_.second->lose_patience();
    spawn(pause());
    context_.poll();
  }

  void spawn(awaitable<void> part) {
    net::co_spawn(context_, std::move(part), [](std::exception_ptr broken) {
      if (broken) std::rethrow_exception(broken);
    });
  }

  net::io_context context_{1};
  MemoryStream::Pair ends_ = MemoryStream::make_pair(context_);  // the client's first
  RequestHead request_{.method = "GET",
                       .scheme = Scheme::kHttp,
                       .host = "a.test",
                       .port = 80,
                       .target = "/",
                       .version = HttpVersion::kHttp11,
                       .headers = {}};
  H1Response response_{*ends_.second, request_};
  std::optional<Result<void>> paused_;

 private:
  awaitable<void> pause() {
    auto const far = std::chrono::steady_clock::now() + std::chrono::hours(1);
    paused_ = co_await response_.pause_until(far);
  }
};

TEST_F(H1Pause, LastsUntilTheServerHurries) {
  EXPECT_FALSE(paused_.has_value());
  response_.hurry();
  context_.poll();
  ASSERT_TRUE(paused_.has_value());
  EXPECT_TRUE(paused_->has_value());
}

TEST_F(H1Pause, EndsSomeTimeAfterTheClientHasEndedItsSide) {
  spawn(ends_.first->shutdown());
  context_.poll();
  ASSERT_TRUE(paused_.has_value());
  EXPECT_FALSE(paused_->has_value());
}

TEST_F(H1Pause, EndsWhenTheConnectionIsBroken) {
  ends_.first->abort();
  context_.poll();
  ASSERT_TRUE(paused_.has_value());
  EXPECT_FALSE(paused_->has_value());
}

}  // namespace
}  // namespace reprise
