#include "tools/experiment/noise_check.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "analysis/metric.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::chrono::sys_seconds kNow{1'800'000'000s};

class NoiseCheckTest : public testing::Test {
 protected:
  NoiseCheckTest() {
    std::string name = (fs::temp_directory_path() / "reprise-noise-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    result_.archive_sha256 = "aa11";
    options_.compare.metrics = {parse_metrics("load").value().front()};
  }
  ~NoiseCheckTest() override { fs::remove_all(folder_); }

  NoiseStore store() const { return NoiseStore(folder_ / "noise"); }
  /// Eight loads of a second, `deviation_ms` off in turn.
  void add_loads(double deviation_ms) {
    for (unsigned run = 1; run <= NoiseCheck::kLoads; ++run) {
      LoadResult::Load load{.run = run, .configuration = cells_[0].configuration};
      load.page.url = cells_[0].url;
      load.page.load_event_ms = 1000 + (run % 2 == 0 ? deviation_ms : -deviation_ms);
      result_.loads.push_back(std::move(load));
    }
  }

  fs::path folder_;
  LoadResult result_;
  GateOptions options_;
  std::vector<LoadCell> cells_{{.url = "https://a.test/", .configuration = {}}};
};

TEST_F(NoiseCheckTest, RemembersWhatAGateMeasured) {
  NoiseCheck measured(options_, store());
  EXPECT_FALSE(measured.look_up(result_, cells_, kNow));
  add_loads(3);
  measured.keep(result_, cells_, 6, kNow);
  NoiseCheck later(options_, store());
  ASSERT_TRUE(later.look_up(result_, cells_, kNow + 24h));
  EXPECT_EQ(later.text(),
            "https://a.test/: load event varies by 0.32 % (8 loads); a change of 20.0 ms needs 5 "
            "loads a side, about 72 s\n");
  auto const json = later.json();
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0].at("configuration").at("cache").as_string(), "cold");
  EXPECT_EQ(json[0].at("median").as_double(), 1000);
  EXPECT_EQ(json[0].at("loads").to_number<int>(), 8);
}

TEST_F(NoiseCheckTest, SaysWhatTheBudgetDoesNotPayFor) {
  add_loads(3);
  NoiseCheck check(options_, store());
  check.keep(result_, cells_, 6, kNow);
  ASSERT_TRUE(check.look_up(result_, cells_, kNow));
  EXPECT_THAT(check.text(60s), HasSubstr("about 72 s (more than --budget leaves)\n"));
  EXPECT_THAT(check.text(72s), HasSubstr("about 72 s\n"));
}

TEST_F(NoiseCheckTest, SaysHowLongAllPagesTake) {
  add_loads(3);
  cells_.insert(cells_.begin(), {.url = "https://b.test/", .configuration = {}});
  add_loads(3);
  NoiseCheck check(options_, store());
  check.keep(result_, cells_, 12, kNow);
  ASSERT_TRUE(check.look_up(result_, cells_, kNow));
  EXPECT_EQ(check.json()[0].at("load_seconds").as_double(), 6);
  // Ten loads of two pages on two sides, and one more to warm up.
  EXPECT_THAT(check.text(), HasSubstr("10 loads a side, about 4 min"));
}

TEST_F(NoiseCheckTest, SaysWhatIsTooSmallToSee) {
  NoiseCheck check(options_, store());
  add_loads(40);
  check.keep(result_, cells_, 6, kNow);
  ASSERT_TRUE(check.look_up(result_, cells_, kNow));
  EXPECT_THAT(check.text(), HasSubstr("a change of 20.0 ms needs more than 30 loads a side"));
  EXPECT_THAT(check.text(), HasSubstr("a change of 50.0 ms needs 2"));
}

TEST_F(NoiseCheckTest, SaysNothingOfAPageWithoutTheMetric) {
  options_.compare.metrics = {parse_metrics("cls").value().front()};
  NoiseCheck check(options_, store());
  add_loads(3);
  check.keep(result_, cells_, 6, kNow);
  EXPECT_FALSE(check.look_up(result_, cells_, kNow));
  EXPECT_EQ(check.text(), "");
  EXPECT_TRUE(check.json().empty());
}

TEST_F(NoiseCheckTest, TellsNoiseOfLossesFromNoiseAmongThem) {
  NoiseCheck check(options_, store());
  add_loads(3);
  for (std::size_t i = 0; i < result_.loads.size(); ++i) {
    auto& load = result_.loads[i];
    load.replay = i;
    ReplaySummary report;
    report.link.emplace().seed = static_cast<double>(i / 2);
    result_.replays.push_back({.report = std::move(report)});
  }
  check.keep(result_, cells_, 6, kNow);
  ASSERT_TRUE(check.look_up(result_, cells_, kNow));
  EXPECT_THAT(check.text(), HasSubstr("; among links that lose the same packets)"));
}

TEST_F(NoiseCheckTest, KnowsNothingOfAnotherPageMachineOrArchiveOrOfLongAgo) {
  NoiseCheck check(options_, store());
  add_loads(3);
  check.keep(result_, cells_, 6, kNow);
  EXPECT_FALSE(check.look_up(result_, cells_, kNow + NoiseStore::kLife + 1s));
  EXPECT_FALSE(check.look_up(result_, cells_, kNow - 1s));  // by a clock that was set back
  auto other_page = cells_;
  other_page[0].url = "https://b.test/";
  EXPECT_FALSE(check.look_up(result_, other_page, kNow));
  auto other = result_;
  other.archive_sha256 = "bb22";
  EXPECT_FALSE(check.look_up(other, cells_, kNow));
  other = result_;
  other.machine.cpu += " II";
  EXPECT_FALSE(check.look_up(other, cells_, kNow));
  other = result_;
  other.what_ifs = {{.text = "*: defer"}};
  EXPECT_FALSE(check.look_up(other, cells_, kNow));
  other = result_;
  other.settings.replay_options = {"--think-time=recorded"};
  EXPECT_FALSE(check.look_up(other, cells_, kNow));
}

TEST_F(NoiseCheckTest, KnowsNothingOfATraceFileWithOtherContents) {
  auto const trace = folder_ / "cell.trace";
  std::ofstream(trace) << "10\n";
  cells_[0].configuration.link = trace.string();
  NoiseCheck check(options_, store());
  add_loads(3);
  check.keep(result_, cells_, 6, kNow);
  ASSERT_TRUE(check.look_up(result_, cells_, kNow));
  std::ofstream(trace) << "20\n";
  EXPECT_FALSE(check.look_up(result_, cells_, kNow));
}

TEST_F(NoiseCheckTest, KnowsNothingOfOtherMetrics) {
  add_loads(3);
  NoiseCheck(options_, store()).keep(result_, cells_, 6, kNow);
  auto all = options_;
  all.compare.metrics.clear();
  EXPECT_FALSE(NoiseCheck(all, store()).look_up(result_, cells_, kNow));
  EXPECT_TRUE(NoiseCheck(options_, store()).look_up(result_, cells_, kNow));
}

TEST_F(NoiseCheckTest, DoesNotKeepTooFewLoads) {
  NoiseCheck check(options_, store());
  add_loads(3);
  result_.loads.resize(3);
  check.keep(result_, cells_, 6, kNow);
  EXPECT_FALSE(check.look_up(result_, cells_, kNow));
}

TEST_F(NoiseCheckTest, SaysWhyTheNoiseIsUnknown) {
  LostLoads loads{.made = 8};
  loads.disturbed = {.loads = 6, .first = "a processor quota stopped the load for 812 ms"};
  EXPECT_THAT(unknown_noise_text(loads),
              testing::StartsWith("2 of 8 loads count, at least 4 are needed; 6 loads were "
                                  "disturbed, the first one: a processor quota stopped the load "
                                  "for 812 ms. Give the container"));
  loads = {.made = 3};
  loads.failed = {.loads = 2, .first = "timed-out"};
  EXPECT_EQ(unknown_noise_text(loads),
            "1 of 3 loads counts, at least 4 are needed; the first one that failed: timed-out");
}

TEST_F(NoiseCheckTest, SurvivesFilesThatItDidNotWrite) {
  NoiseCheck check(options_, store());
  add_loads(3);
  check.keep(result_, cells_, 6, kNow);
  auto const file =
      store().path_of(NoiseStore::key_of(result_, cells_[0], options_.compare.metrics));
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  for (const char* const text : {"", "{", "[]", "{\"schema\":\"reprise-known-noise/2\"}",
                                 "{\"schema\":\"reprise-known-noise/2\",\"measured\":1800000000,"
                                 "\"metrics\":[{\"metric\":7}]}"}) {
    std::ofstream(file) << text;
    EXPECT_FALSE(check.look_up(result_, cells_, kNow)) << text;
  }
}

TEST_F(NoiseCheckTest, WorksWhereNothingCanBeKept) {
  std::ofstream(folder_ / "file") << "x";
  NoiseCheck check(options_, NoiseStore(folder_ / "file" / "noise"));
  add_loads(3);
  check.keep(result_, cells_, 6, kNow);
  EXPECT_FALSE(check.look_up(result_, cells_, kNow));
  EXPECT_EQ(check.text(), "");
}

}  // namespace
}  // namespace reprise
