#include "tools/serve/time_zone.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>
#include <optional>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kBerlin = "/usr/share/zoneinfo/Europe/Berlin";

class TimeZoneTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* const tz = ::getenv("TZ")) before_ = tz;
    ::unsetenv("TZ");
    ASSERT_TRUE(std::filesystem::exists(kBerlin)) << "no tzdata";
  }
  void TearDown() override {
    ::unsetenv("TZ");
    if (before_) ::setenv("TZ", before_->c_str(), 1);
  }

  std::string with_tz(const std::string& value) {
    ::setenv("TZ", value.c_str(), 1);
    return local_time_zone(etc_.path());
  }
  std::string without_tz() { return local_time_zone(etc_.path()); }
  void link_local_time(const std::filesystem::path& target) {
    std::filesystem::remove(etc_ / "localtime");
    std::filesystem::create_symlink(target, etc_ / "localtime");
  }

  ScratchFolder etc_;

 private:
  std::optional<std::string> before_;
};

TEST_F(TimeZoneTest, KnowsTheNamesThatBrowsersKnow) {
  for (auto const* const name :
       {"Europe/Berlin", "UTC", "Etc/GMT-1", "EST5EDT", "America/Argentina/Buenos_Aires"}) {
    EXPECT_THAT(time_zone_problem(name), IsEmpty()) << name;
  }
  for (auto const* const name :
       {"", "Berlin", "Europe", "Europe/", "Europe//Berlin", "./UTC", "../zoneinfo/UTC", kBerlin,
        "tzdata.zi", "zone.tab", "leapseconds", "posix/Europe/Berlin", "right/Europe/Berlin",
        "localtime", "posixrules", "Factory", "CET-1CEST,M3.5.0,M10.5.0/3"}) {
    EXPECT_THAT(time_zone_problem(name), HasSubstr("is not a time zone")) << name;
  }
}

TEST_F(TimeZoneTest, TheVariableComesFirst) {
  link_local_time("/usr/share/zoneinfo/Asia/Tokyo");
  for (auto const* const tz : {"Europe/Berlin", ":Europe/Berlin", kBerlin, "posix/Europe/Berlin",
                               ":/usr/share/zoneinfo/posix/Europe/Berlin"}) {
    EXPECT_EQ(with_tz(tz), "Europe/Berlin") << tz;
  }
  EXPECT_EQ(with_tz(""), "UTC");
  EXPECT_EQ(with_tz(":" + (etc_ / "localtime").string()), "Asia/Tokyo");
}

TEST_F(TimeZoneTest, ARuleIsNotRecordedButReported) {
  for (auto const* const tz : {"CET-1CEST,M3.5.0,M10.5.0/3", "UTC0", "/etc/passwd", "\x1B[31m"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(with_tz(tz), "") << tz;
    auto const notice = testing::internal::GetCapturedStderr();
    EXPECT_THAT(notice, HasSubstr("does not name a time zone")) << tz;
    EXPECT_THAT(notice, HasSubstr("--timezone")) << tz;
    EXPECT_EQ(notice.find('\x1B'), std::string::npos);
  }
}

TEST_F(TimeZoneTest, FilesNameTheZoneOfTheMachine) {
  EXPECT_EQ(without_tz(), "UTC") << "no file";
  link_local_time("../usr/share/zoneinfo/Europe/Berlin");
  EXPECT_EQ(without_tz(), "Europe/Berlin");
  std::filesystem::create_symlink("/usr/share/zoneinfo/Asia/Tokyo", etc_ / "zone");
  link_local_time("zone");
  EXPECT_EQ(without_tz(), "Asia/Tokyo") << "a link to a link";
  std::filesystem::remove(etc_ / "localtime");
  std::filesystem::copy_file(kBerlin, etc_ / "localtime");
  EXPECT_EQ(without_tz(), "") << "a file without a name";
  std::ofstream(etc_ / "timezone") << "Europe/Berlin\n";
  EXPECT_EQ(without_tz(), "Europe/Berlin");
  link_local_time("localtime");
  std::filesystem::remove(etc_ / "timezone");
  EXPECT_EQ(without_tz(), "") << "a link to itself";
}

}  // namespace
}  // namespace reprise
