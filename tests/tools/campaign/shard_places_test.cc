// Where results of shards come from and go: the folder in which one records, the results of refused
// nodes, and the lock that keeps shards of a machine apart.

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analysis/campaign/nodes.h"
#include "analysis/campaign/shard_result.h"
#include "base/system/text_file.h"
#include "tests/analysis/campaign/loads.h"
#include "tests/analysis/campaign/plans.h"
#include "tests/scratch_folder.h"
#include "tools/campaign/campaign_folder.h"
#include "tools/campaign/node_check.h"
#include "tools/campaign/recording_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class ShardPlacesTest : public testing::Test {
 protected:
  CampaignFolder planned(const std::string& members) {
    auto file = parse_campaign(R"({"schema":"reprise-campaign/1","name":"shops",)" + members + "}");
    auto const plan = plan_campaign(file.value(), pages(1)).value();
    EXPECT_EQ(CampaignFolder::make(folder_.path(), plan), 0);
    return CampaignFolder::open(folder_.path()).value();
  }
  CampaignFolder loading() { return planned(R"("archives":["a.reprise"],"loads":2)"); }
  CampaignFolder recording() { return planned(R"("urls":["https://a.test/"])"); }

  static std::string header(const CampaignFolder& campaign) {
    auto out = header_of(1, "n1");
    out.plan = campaign.digest();
    return header_line(out);
  }

  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  /// A corpus.json with the page a, which is recorded, and the page b, which is not.
  static void write_pages(const fs::path& folder) {
    write(folder / "corpus.json",
          R"({"schema":"reprise-corpus/1","pages":[{"name":"a","archive":"a.reprise"},)"
          R"({"name":"b","archive":null,"failure":"no such host"}]})");
  }

  std::vector<std::string> names_in(const std::string& name) const {
    std::vector<std::string> out;
    for (auto const& each : fs::directory_iterator(folder_ / name)) {
      out.push_back(each.path().filename().string());
    }
    return out;
  }

  ScratchFolder folder_;
  std::vector<RefusedNode> const refused_{{.node = "n1", .why = "it is slow"}};
};

TEST_F(ShardPlacesTest, ResultsOfARefusedNodeAreSetAsideMoreThanOnce) {
  auto const campaign = loading();
  for (int time = 0; time < 2; ++time) {
    ASSERT_TRUE(campaign.keep_result(1, header(campaign)));
    ASSERT_TRUE(campaign.is_done(1));
    EXPECT_TRUE(campaign.set_aside(1, refused_));
    EXPECT_FALSE(campaign.is_done(1));
  }
  EXPECT_THAT(names_in("set-aside"), UnorderedElementsAre("n1-000001.json", "n1-000001-2.json"));
}

TEST_F(ShardPlacesTest, RecordedResultsOfARefusedNodeAreSetAsideMoreThanOnce) {
  auto const campaign = recording();
  for (int time = 0; time < 2; ++time) {
    write(campaign.result_path(1), header(campaign));
    ASSERT_TRUE(campaign.is_done(1));
    EXPECT_TRUE(campaign.set_aside(refused_));
    EXPECT_FALSE(campaign.is_done(1));
  }
  EXPECT_THAT(names_in("set-aside"), UnorderedElementsAre("n1-000001", "n1-000001-2"));
}

TEST_F(ShardPlacesTest, ResultsOfOtherNodesStay) {
  auto const campaign = loading();
  ASSERT_TRUE(campaign.keep_result(1, header(campaign)));
  EXPECT_TRUE(campaign.set_aside(1, {}));
  EXPECT_TRUE(campaign.set_aside(1, {{.node = "n2", .why = "it is slow"}}));
  EXPECT_TRUE(campaign.is_done(1));
}

TEST_F(ShardPlacesTest, AResultThatCannotBeSetAsideIsNamed) {
  auto const campaign = loading();
  ASSERT_TRUE(campaign.keep_result(1, header(campaign)));
  write(folder_ / "set-aside", "in the way");
  testing::internal::CaptureStderr();
  EXPECT_FALSE(campaign.set_aside(1, refused_));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("000001.json is of the refused node n1 and cannot be moved to"));
  EXPECT_TRUE(campaign.is_done(1));
}

TEST_F(ShardPlacesTest, ArchivesAreLeftToTheNextAttempt) {
  auto const campaign = recording();
  {
    RecordingFolder first(campaign, 1, "n1");
    ASSERT_TRUE(first.make());
    write(first.path() / "a.reprise", "recorded");
    write_pages(first.path());
  }
  EXPECT_THAT(names_in("results"), UnorderedElementsAre());
  RecordingFolder second(campaign, 1, "n2");
  ASSERT_TRUE(second.make());
  EXPECT_EQ(contents_of(second.path() / "a.reprise"), "recorded");
  auto const corpus = contents_of(second.path() / "corpus.json");
  EXPECT_THAT(corpus, HasSubstr("a.reprise"));
  EXPECT_THAT(corpus, Not(HasSubstr("no such host"))) << "page b was not reached";
  write(second.path() / "shard.json", header(campaign));
  ASSERT_TRUE(second.put());
  EXPECT_TRUE(campaign.is_done(1));
  EXPECT_THAT(names_in("results"), UnorderedElementsAre("000001"));
  EXPECT_THAT(names_in("unfinished"), UnorderedElementsAre());
}

TEST_F(ShardPlacesTest, AnAttemptThatLeavesNothingIsRemoved) {
  auto const campaign = recording();
  {
    RecordingFolder first(campaign, 1, "n1");
    ASSERT_TRUE(first.make());
    write_pages(first.path());
  }
  EXPECT_THAT(names_in("results"), UnorderedElementsAre());
  RecordingFolder second(campaign, 1, "n1");
  ASSERT_TRUE(second.make());
  EXPECT_TRUE(fs::is_empty(second.path()));
}

TEST_F(ShardPlacesTest, AnAttemptThatATwinOvertookIsRemoved) {
  auto const campaign = recording();
  {
    RecordingFolder first(campaign, 1, "n1");
    ASSERT_TRUE(first.make());
    write(first.path() / "a.reprise", "recorded");
    write_pages(first.path());
    write(campaign.result_path(1), header(campaign));
    ASSERT_TRUE(first.put());
  }
  EXPECT_THAT(names_in("results"), UnorderedElementsAre("000001"));
  EXPECT_FALSE(fs::exists(folder_ / "unfinished"));
}

TEST_F(ShardPlacesTest, ANodeWorksIfAResultOfItHasLoads) {
  auto const campaign = loading();
  EXPECT_FALSE(campaign.has_success_of("n1"));
  auto result = header_of(1, "n1");
  result.plan = campaign.digest();
  result.loads = result.failed = 2;
  ASSERT_TRUE(campaign.keep_result(1, header_line(result)));
  EXPECT_FALSE(campaign.has_success_of("n1")) << "all failed";
  result.failed = 1;
  ASSERT_TRUE(campaign.keep_result(1, header_line(result)));
  EXPECT_TRUE(campaign.has_success_of("n1"));
  EXPECT_FALSE(campaign.has_success_of("n2"));
}

/// The variable TMPDIR, until the end of this object.
class TemporaryFolders {
 public:
  explicit TemporaryFolders(const fs::path& folder) {
    if (auto const* const before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", folder.c_str(), 1);
  }
  ~TemporaryFolders() {
    if (before_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", before_.c_str(), 1);
    }
  }
  TemporaryFolders(const TemporaryFolders&) = delete;
  TemporaryFolders& operator=(const TemporaryFolders&) = delete;

 private:
  std::string before_;
};

TEST_F(ShardPlacesTest, ALockThatCannotBeTakenNamesItsPlace) {
  {
    TemporaryFolders const missing(folder_ / "none");
    auto const lock = NodeLock::take("n1");
    ASSERT_FALSE(lock);
    EXPECT_THAT(lock.error(), HasSubstr((folder_ / "none").string()));
    EXPECT_THAT(lock.error(), HasSubstr("Set TMPDIR to a folder"));
  }
  TemporaryFolders const here(folder_.path());
  auto const path = folder_ / ("reprise-campaign-" + std::to_string(::getuid()) + "-n1.lock");
  fs::create_directory(path);
  auto const lock = NodeLock::take("n1");
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error(), HasSubstr(path.string() + ": Is a directory"));
  EXPECT_TRUE(NodeLock::take("n2"));
}

}  // namespace
}  // namespace reprise
