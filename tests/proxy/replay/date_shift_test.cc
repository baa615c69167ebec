#include "proxy/replay/response/date_shift.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using std::chrono::days;
using std::chrono::seconds;

TEST(DateShift, MovesTheDatesOfResponses) {
  DateShift const shift(days(365) + seconds(25));
  for (auto const* const name : {"Date", "expires", "Last-Modified"}) {
    EXPECT_EQ(shift.moved(name, "Sun, 06 Nov 1994 08:49:37 GMT"), "Mon, 06 Nov 1995 08:50:02 GMT");
  }
  EXPECT_EQ(shift.moved("Date", "Wed, 31 Dec 2014 23:59:59 GMT"), "Fri, 01 Jan 2016 00:00:24 GMT");
}

TEST(DateShift, MovesDatesWithADayOfOneDigitAsBrowsersReadThem) {
  DateShift const shift{days(1)};
  EXPECT_EQ(shift.moved("Date", "Sun, 6 Nov 1994 08:49:37 GMT"), "Mon, 07 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(shift.moved("Set-Cookie", "a=b; expires=Thu, 3-Dec-37 23:55:55 GMT"),
            "a=b; expires=Fri, 04-Dec-37 23:55:55 GMT");
  EXPECT_EQ(shift.moved("Date", "Sun, 0 Nov 1994 08:49:37 GMT"), std::nullopt);
  EXPECT_EQ(shift.moved("Date", "Sun, x Nov 1994 08:49:37 GMT"), std::nullopt);
}

TEST(DateShift, MovesWhenCookiesExpire) {
  DateShift const shift{days(1)};
  auto const moved = [&shift](std::string_view cookie) {
    return shift.moved("Set-Cookie", cookie).value_or("");
  };
  EXPECT_EQ(moved("a=b; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/"),
            "a=b; Expires=Thu, 22 Oct 2015 07:28:00 GMT; Path=/");
  EXPECT_EQ(moved("a=b;path=/;EXPIRES = Wed, 21-Oct-2015 07:28:00 GMT"),
            "a=b;path=/;EXPIRES = Thu, 22-Oct-2015 07:28:00 GMT");
  EXPECT_EQ(moved("a=b; expires=Thu, 31-Dec-37 23:55:55 GMT; secure"),
            "a=b; expires=Fri, 01-Jan-38 23:55:55 GMT; secure");
  for (auto const* const same :
       {"", "a=b", "a=b; Max-Age=5", "expires=Wed, 21 Oct 2015 07:28:00 GMT",
        "a=Expires=Wed, 21 Oct 2015 07:28:00 GMT", "a=b; Expires=0", "a=b; Expires",
        "a=b; Expires=Wed, 32 Oct 2015 07:28:00 GMT",
        "a=b; Expires=Wednesday, 21-Oct-15 07:28:00 GMT"}) {
    EXPECT_EQ(shift.moved("Set-Cookie", same), std::nullopt) << same;
  }
}

TEST(DateShift, LeavesAllElseAlone) {
  DateShift const shift{days(1)};
  EXPECT_EQ(shift.moved("X-Date", "Sun, 06 Nov 1994 08:49:37 GMT"), std::nullopt);
  EXPECT_EQ(shift.moved("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"), std::nullopt);
  for (auto const* const value :
       {"", "0", "-1", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"}) {
    EXPECT_EQ(shift.moved("Expires", value), std::nullopt) << value;
  }
  EXPECT_EQ(DateShift{seconds(0)}.moved("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), std::nullopt);
}

TEST(DateShift, KeepsTheWidth) {
  for (int i = -20'000; i < 20'000; i += 7) {
    auto const moved =
        DateShift{days(i) + seconds(i)}.moved("Date", "Fri, 14 Mar 2014 15:09:26 GMT");
    if (i != 0) EXPECT_EQ(moved.value_or("").size(), 29U) << i;
  }
}

}  // namespace
}  // namespace reprise
