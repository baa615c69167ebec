#include "analysis/dependency/tested_dependencies.h"

#include <gmock/gmock.h>

#include "analysis/dependency/dependency_json.h"
#include "base/system/text_file.h"

namespace reprise {
namespace {

TestedPage a_page(const std::string& url) {
  return {.graph = {.page = url,
                    .loads = 4,
                    .nodes = {{.kind = DependencyNodeKind::kRequest, .name = url, .method = "GET"},
                              {.kind = DependencyNodeKind::kRequest,
                               .name = url + "a.js",
                               .method = "GET"},
                              {.kind = DependencyNodeKind::kMilestone, .name = "load event"}},
                    .edges = {{.from = 0, .to = 1, .evidence = {.held_back = true}}}},
          .tests = {{.held = {1}, .waits = {false, std::nullopt, true}}}};
}

/// What is wrong with a page of these tests.
std::string fault(std::string_view tests) {
  auto const read = read_tested_dependencies(
      R"({"schema":"reprise-tested-dependencies/1","archive_sha256":"ab","pages":[)"
      R"({"schema":"reprise-dependency/1","page":"p","nodes":[{"kind":"request","name":"a"},)"
      R"({"kind":"request","name":"b"},{"kind":"milestone","name":"load event"}],"tests":[)" +
      std::string(tests) + "]}]}");
  return read ? "read" : read.error();
}

TEST(TestedDependencies, ComeBackAsTheyWere) {
  TestedDependencies tested{.archive_sha256 = "ab", .pages = {a_page("https://a.test/")}};
  tested.put(a_page("https://b.test/"));
  tested.put(a_page("https://a.test/"));
  auto const text = tested_dependencies_json(tested);
  auto read = read_tested_dependencies(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->archive_sha256, "ab");
  ASSERT_EQ(read->pages.size(), 2U);
  EXPECT_EQ(read->pages[0].graph.page, "https://a.test/");
  EXPECT_EQ(read->pages[0].tests, a_page("https://a.test/").tests);
  EXPECT_EQ(read->pages[0].graph.edges, a_page("https://a.test/").graph.edges);
  EXPECT_EQ(tested_dependencies_json(*read), text);
}

TEST(TestedDependencies, DropThePagesThatWereTestedLongestAgo) {
  TestedDependencies tested;
  for (std::size_t i = 0; i <= TestedDependencies::kPagesMax; ++i) {
    tested.put(a_page("https://" + std::to_string(i) + ".test/"));
  }
  auto const read = read_tested_dependencies(tested_dependencies_json(tested));
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(tested.pages.size(), TestedDependencies::kPagesMax);
  EXPECT_EQ(read->pages.back().graph.page, "https://1.test/");
}

TEST(TestedDependencies, DropPagesThatDoNotFit) {
  TestedDependencies tested;
  tested.put(a_page("https://a.test/"));
  tested.pages.front().graph.nodes.front().type = std::string(kDependencyBytesMax, 'x');
  tested.put(a_page("https://b.test/"));
  auto const text = tested_dependencies_json(tested);
  EXPECT_LT(text.size(), kDependencyBytesMax);
  ASSERT_EQ(tested.pages.size(), 1U);
  EXPECT_TRUE(read_tested_dependencies(text));
}

TEST(TestedDependencies, NameThePlaceOfAFault) {
  EXPECT_EQ(fault(R"({"held":[0,1],"waits":"--1"})"), "read");
  EXPECT_EQ(fault(R"({"held":[],"waits":"--1"})"),
            "pages[0].tests[0].held must have from 1 to 4 elements");
  EXPECT_EQ(fault(R"({"held":[2],"waits":"--1"})"), "pages[0].tests[0].held[0] is not a request");
  EXPECT_EQ(fault(R"({"held":[0.5],"waits":"--1"})"), "pages[0].tests[0].held[0] is not a request");
  EXPECT_EQ(fault(R"({"held":[-1],"waits":"--1"})"), "pages[0].tests[0].held[0] is not a request");
  EXPECT_EQ(fault(R"({"held":[3],"waits":"--1"})"), "pages[0].tests[0].held[0] is not a request");
  EXPECT_EQ(fault(R"({"held":[1,0],"waits":"--1"})"),
            "pages[0].tests[0].held[1] must be ascending");
  EXPECT_EQ(fault(R"({"held":[1],"waits":"1"})"),
            "pages[0].tests[0].waits must have one character per node");
  EXPECT_EQ(fault(R"({"held":[1],"waits":"0x1"})"),
            "pages[0].tests[0].waits must be of 1, 0 and -");
}

TEST(TestedDependencies, RefuseOtherFiles) {
  EXPECT_EQ(read_tested_dependencies("[]").error(), "not a JSON object");
  EXPECT_EQ(read_tested_dependencies(R"({"schema":"reprise-dependency/1"})").error(),
            "schema must be reprise-tested-dependencies/1");
  EXPECT_EQ(read_tested_dependencies(
                R"({"schema":"reprise-tested-dependencies/1","pages":[{"page":"p"}]})")
                .error(),
            "pages[0].schema must be reprise-dependency/1");
  EXPECT_EQ(read_tested_dependencies(R"({"schema":"reprise-tested-dependencies/1","pages":[)"
                                     R"({"schema":"reprise-dependency/1","page":"p"},)"
                                     R"({"schema":"reprise-dependency/1","page":"p"}]})")
                .error(),
            "pages[1].page is that of another one");
}

TEST(TestedDependencies, ReadTheExampleOfTheirPage) {
  auto const page = read_text_file(DEPENDENCY_PAGE, 1 << 20);
  ASSERT_TRUE(page);
  auto const begin = page->find("    {\"schema\":\"reprise-tested-dependencies/1\"");
  ASSERT_NE(begin, std::string::npos);
  auto const tested =
      read_tested_dependencies(page->substr(begin, page->find("\n\n", begin) - begin));
  ASSERT_TRUE(tested) << tested.error();
  ASSERT_EQ(tested->pages.size(), 1U);
  EXPECT_EQ(tested->pages[0].tests.size(), 1U);
}

}  // namespace
}  // namespace reprise
