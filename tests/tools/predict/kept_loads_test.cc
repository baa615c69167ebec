#include "tools/predict/kept_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pageload/results/result_file.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class KeptOptions : public testing::Test {
 protected:
  KeptOptions() {
    kept_.settings = {.timeout = std::chrono::seconds(90),
                      .quiet = std::chrono::seconds(3),
                      .settle = std::chrono::milliseconds(100),
                      .width = 800,
                      .height = 600,
                      .cpu_throttle = 2,
                      .replay_options = std::vector<std::string>{"--inject=none", "--new=1"}};
    auto& load = kept_.loads.emplace_back();
    load.configuration = {
        .browser = "chromium", .protocol = "h2", .link = "wpt:4g", .cache = "warm"};
    load.page.url = "https://a.test/";
  }

  std::vector<std::string> with_kept(std::vector<std::string> words) {
    EXPECT_TRUE(write_result(kept_, file_));
    auto all = with_kept_options(std::move(words), file_);
    EXPECT_TRUE(all) << all.error();
    return all.value_or(std::vector<std::string>());
  }

  ScratchFolder folder_;
  std::filesystem::path file_ = folder_ / "a.json";
  LoadResult kept_;
};

TEST_F(KeptOptions, AreThoseThatAreNotGivenBeforeTheFlagsOfTheBrowser) {
  EXPECT_THAT(with_kept({"a.reprise", "--", "--lang=de"}),
              ElementsAre("a.reprise", "--browser=chromium", "--protocol=h2", "--link=wpt:4g",
                          "--cache=warm", "--cpu-throttle=2", "--viewport=800x600", "--timeout=90",
                          "--quiet=3000", "--settle=100", "--inject=none", "--replay-flag=--new=1",
                          "https://a.test/", "--", "--lang=de"));
}

TEST_F(KeptOptions, DoNotReplaceGivenOnes) {
  auto const words =
      with_kept({"a.reprise", "https://b.test/", "--link=none", "--cache", "cold", "--inject",
                 "default", "--replay-flag=--new=2", "--quiet=1000", "--device=Pixel 9"});
  for (auto const* const option : {"--link=w", "--cache=", "--inject=", "--replay-flag=--new=1",
                                   "--quiet=3", "--viewport=", "https://a.test/"}) {
    EXPECT_THAT(words, Not(Contains(StartsWith(option))));
  }
  EXPECT_THAT(words, AllOf(Contains("--protocol=h2"), Contains("--timeout=90")));
}

TEST_F(KeptOptions, NameAFileThatCannotBeRead) {
  auto const words = with_kept_options({"a.reprise"}, file_);
  ASSERT_FALSE(words);
  EXPECT_THAT(words.error(), HasSubstr("a.json: "));
}

}  // namespace
}  // namespace reprise
