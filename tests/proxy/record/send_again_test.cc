#include "proxy/record/send_again.h"

#include <gtest/gtest.h>

#include <string>

#include "base/http/h1_parser.h"
#include "proxy/http/h2_content.h"

namespace reprise {
namespace {

std::error_code h2_code(int code) {
  return {code, h2_category()};
}

/// An attempt over a connection that was not dialled for it.
FailedAttempt reused(std::string_view method, std::error_code error) {
  return {.method = method, .error = error};
}

TEST(SendAgain, SendsAnyRequestAgainWhoseReusedConnectionEnded) {
  for (std::error_code const error :
       {std::make_error_code(std::errc::connection_reset), make_error_code(h1_errc::truncated),
        h2_code(NGHTTP2_STREAM_CLOSED)}) {
    for (auto const* const method : {"GET", "POST", "PATCH", "PUT"}) {
      auto attempt = reused(method, error);
      EXPECT_TRUE(may_be_sent_again(attempt)) << method << ": " << error.message();
      attempt.fresh = true;
      EXPECT_FALSE(may_be_sent_again(attempt)) << method << ": " << error.message();
    }
  }
}

TEST(SendAgain, SendsOnlyIdempotentRequestsAgainWhoseStreamWasReset) {
  EXPECT_TRUE(may_be_sent_again(reused("GET", h2_code(NGHTTP2_INTERNAL_ERROR))));
  EXPECT_FALSE(may_be_sent_again(reused("POST", h2_code(NGHTTP2_INTERNAL_ERROR))));
}

TEST(SendAgain, LetsFreshConnectionsRefuseARequestOnce) {
  auto attempt = reused("POST", h2_code(NGHTTP2_REFUSED_STREAM));
  EXPECT_TRUE(may_be_sent_again(attempt));
  attempt.fresh = true;
  EXPECT_TRUE(may_be_sent_again(attempt));
  attempt.refused_before = true;
  EXPECT_FALSE(may_be_sent_again(attempt));
}

TEST(KeptContent, KeepsAllOrNothing) {
  KeptContent content;
  EXPECT_TRUE(content.complete());
  EXPECT_EQ(text_of(content.bytes()), "");
  content.add(bytes_of("ab"));
  content.add(bytes_of("c"));
  EXPECT_EQ(text_of(content.bytes()), "abc");
  std::string const rest(KeptContent::kBytesMax - 3, 'x');
  content.add(bytes_of(rest));
  EXPECT_TRUE(content.complete());
  EXPECT_EQ(content.bytes().size(), KeptContent::kBytesMax);
  content.add(bytes_of("y"));
  EXPECT_FALSE(content.complete());
  EXPECT_EQ(text_of(content.bytes()), "");
  content.add(bytes_of("z"));
  EXPECT_FALSE(content.complete());
  EXPECT_EQ(text_of(content.bytes()), "");
}

}  // namespace
}  // namespace reprise
