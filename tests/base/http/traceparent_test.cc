#include "base/http/traceparent.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

constexpr std::string_view kExample = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceParent, IsReadAndWritten) {
  auto const parsed = parse_traceparent(kExample);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(parsed->span_id, "00f067aa0ba902b7");
  EXPECT_TRUE(parsed->sampled);
  EXPECT_EQ(traceparent(0x4bf92f3577b34da6, 0xa3ce929d0e0e4736, 0x00f067aa0ba902b7), kExample);
}

TEST(TraceParent, CanBeOfALaterVersionWithMoreParts) {
  auto const parsed =
      parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02-more");
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->sampled);
}

TEST(TraceParent, IsNothingElse) {
  for (std::string_view const wrong :
       {"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x"}) {
    EXPECT_FALSE(parse_traceparent(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace reprise
