#include "pageload/results/trace_path.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// The folders before/ and after/, of which before/ is the working folder.
class TracePath : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_ / "before");
    fs::create_directory(folder_ / "after");
    fs::current_path(folder_ / "before");
  }
  void TearDown() override { fs::current_path(start_); }

  static void make(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "{}";
  }
  static std::string found(const std::string& trace, const fs::path& result) {
    PageLoad page;
    page.trace = trace;
    return trace_path(page, result).string();
  }

  fs::path start_ = fs::current_path();
  ScratchFolder folder_;
};

TEST_F(TracePath, IsThatOfItsResultAndNotOfAnotherInTheWorkingFolder) {
  make("traces/load-1.json");
  make("../after/traces/load-1.json");
  EXPECT_EQ(found("traces/load-1.json", "../after/result.json"), "../after/traces/load-1.json");
  EXPECT_EQ(found("traces/load-1.json", "result.json"), "traces/load-1.json");
}

TEST_F(TracePath, IsInTheWorkingFolderIfTheResultsFolderDoesNotHaveIt) {
  make("traces/load-1.json");
  EXPECT_EQ(found("traces/load-1.json", "../after/result.json"), "traces/load-1.json");
}

TEST_F(TracePath, IsBesideTheResultIfItIsNowhereElse) {
  make("../after/load-1.json");
  EXPECT_EQ(found("traces/load-1.json", "../after/result.json"), "../after/load-1.json");
  EXPECT_EQ(found("/nowhere/traces/load-1.json", "../after/result.json"), "../after/load-1.json");
  EXPECT_EQ(found("traces/load-2.json", "../after/result.json"), "../after/load-2.json");
  EXPECT_EQ(found("traces/load-2.json", "result.json"), "load-2.json");
}

TEST_F(TracePath, StaysAsItIsIfItIsAbsolute) {
  auto const absolute = folder_ / "elsewhere/load-1.json";
  make(absolute);
  make("../after/load-1.json");
  EXPECT_EQ(found(absolute.string(), "../after/result.json"), absolute.string());
  EXPECT_EQ(found("", "../after/result.json"), "");
}

}  // namespace
}  // namespace reprise
