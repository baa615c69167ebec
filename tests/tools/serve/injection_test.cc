#include "tools/serve/injection.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

/// The start of the page's clock in milliseconds; nothing if the value is refused.
std::optional<std::int64_t> start_with(const std::string& text) {
  InjectionOptions options;
  options.time_seed = text;
  testing::internal::CaptureStderr();
  auto const injection = make_injection(options, {});
  auto const notice = testing::internal::GetCapturedStderr();
  if (injection) return injection->settings.time.count();
  EXPECT_TRUE(notice.contains("--time-seed must be")) << notice;
  return std::nullopt;
}

TEST(Injection, TakesATimeInMillisecondsOrAsADate) {
  EXPECT_EQ(start_with("0"), 0);
  EXPECT_EQ(start_with("1551441600000"), 1'551'441'600'000);
  EXPECT_EQ(start_with("2019-03-01T12:00:00Z"), 1'551'441'600'000);
  EXPECT_EQ(start_with("2024-02-29T23:59:59Z"), 1'709'251'199'000);
}

TEST(Injection, RefusesATimeThatNoPageCanHave) {
  for (auto const* const seed :
       {"yesterday", "1e12", "-1", "99999999999999999999", "9223372036854775807",
        "8640000000000000", "1969-12-31T23:59:59Z", "2026-02-31T00:00:00Z", "2025-02-29T00:00:00Z",
        "2026-04-31T12:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01", "2026-01-01T00:00:00Zx"}) {
    EXPECT_EQ(start_with(seed), std::nullopt) << seed;
  }
}

/// What is printed if the default script is not injected.
std::string notice_without_script(InjectionOptions options) {
  options.inject = {"none"};
  testing::internal::CaptureStderr();
  EXPECT_TRUE(make_injection(options, {}));
  return testing::internal::GetCapturedStderr();
}

TEST(Injection, NamesOptionsThatChangeNothingWithoutTheScript) {
  EXPECT_EQ(notice_without_script({}), "");
  EXPECT_TRUE(notice_without_script({.time_seed = "0"}).contains("by --time-seed\n"));
  EXPECT_TRUE(notice_without_script({.random_seed = 1, .clock = "all", .time_zone = "Asia/Tokyo"})
                  .contains("by --random-seed, --clock, --timezone\n"));
}

TEST(Injection, RefusesDefaultBesideNone) {
  InjectionOptions options;
  options.inject = {"none", "default"};
  testing::internal::CaptureStderr();
  EXPECT_FALSE(make_injection(options, {}));
  EXPECT_TRUE(testing::internal::GetCapturedStderr().contains("exclude each other"));
}

}  // namespace
}  // namespace reprise
