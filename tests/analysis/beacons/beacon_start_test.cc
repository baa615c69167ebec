#include <optional>
#include <string>

#include "tests/analysis/beacons/beacon_files.h"

namespace reprise {
namespace {

TEST(BeaconStart, IsTakenOnlyIfItIsADate) {
  for (std::string const start : {"1e300", "1000000000000001", "1e15", "-1e300", "0"}) {
    bool const is_date = start == "1e15";
    bool const is_lost = start.starts_with("1") && !is_date;
    // As our script writes it; with white space, which is read in another way; of Boomerang.
    std::string const lines[] = {
        R"({"beacon":1,"page":"p","started":)" + start + R"(,"requests":[]})",
        R"({ "page":"p", "started": )" + start + R"(, "requests":[] })",
        R"({"u":"p","restiming":{},"rt.tstart":)" + start + "}"};
    for (const std::string& line : lines) {
      auto const tree = read_tree(line);
      EXPECT_EQ(tree.started_unix_ms.value_or(0), is_date ? 1e15 : 0) << line;
      std::string losses;
      for (const CallLoss& loss : tree.losses) losses += loss.what;
      EXPECT_EQ(losses, is_lost ? "starts out of range, taken as missing" : "") << line;
    }
  }
}

TEST(BeaconStart, OfBoomerangIsMissingIfItIsNoNumber) {
  for (std::string const number : {"inf", "-inf", "nan", "infinity", "1e999", "x"}) {
    auto const tree = read_tree("restiming=%7B%7D&nt_nav_st=" + number + "&rt.tstart=" + number +
                                "&rt.nstart=" + number + "&t_done=" + number);
    EXPECT_FALSE(tree.started_unix_ms) << number;
    EXPECT_EQ(tree.window_us, 0) << number;
  }
}

}  // namespace
}  // namespace reprise
