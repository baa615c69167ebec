#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "pageload/results/result_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

LoadResult one_load() {
  PageLoad load;
  load.url = "http://a.test/";
  load.load_event_ms = 12.5;
  load.dom = "<html></html>";
  load.hits = 7;
  load.requests.push_back({.url = "http://a.test/\xFF",
                           .method = "GET",
                           .status = 200,
                           .encoded_bytes = 60,
                           .connection = 4,
                           .body_sha256 = "ab",
                           .start_ms = 0,
                           .response_ms = 1,
                           .end_ms = 2,
                           .timing = RequestTiming{.send_start_ms = 0.5}});
  load.requests.push_back({.url = "http://a.test/2", .encoded_bytes = 40, .connection = 4});
  sum_up(load);
  load.dom.reset();
  LoadResult result;
  result.archive = "a.reprise";
  result.loads.push_back(
      {.run = 2, .order = 3, .warm_up = true, .replay = 0, .page = std::move(load)});
  result.replays.push_back({.run = 2, .exit_code = 0, .report = ReplaySummary()});
  result.replays.back().report->whole = {{"hits", 7}, {"of a later version", true}};
  return result;
}

TEST(ResultJson, HasTheFieldsOfItsSchema) {
  auto const json = to_json(one_load());
  EXPECT_EQ(json.at("schema"), "reprise-load/1");
  EXPECT_EQ(json.at("archive"), "a.reprise");
  auto const& load = json.at("loads").as_array().at(0).as_object();
  EXPECT_EQ(load.at("run"), 2);
  EXPECT_EQ(load.at("outcome"), "loaded");
  EXPECT_EQ(load.at("load_event_ms"), 12.5);
  EXPECT_TRUE(load.at("first_contentful_paint_ms").is_null());
  EXPECT_EQ(load.at("dom_sha256"),
            "b633a587c652d02386c4f16f8c6f6aab7352d97f16367c3c40576214372dd628");
  EXPECT_FALSE(load.contains("dom"));
  EXPECT_FALSE(load.contains("browser_requests"));
  auto const& request = load.at("requests").as_array().at(0).as_object();
  EXPECT_EQ(request.at("body_sha256"), "ab");
  EXPECT_TRUE(request.at("request_body_sha256").is_null());
  EXPECT_EQ(request.at("timing").at("send_start_ms"), 0.5);
  EXPECT_TRUE(request.at("timing").at("dns_start_ms").is_null());
  EXPECT_TRUE(load.at("requests").at(1).at("timing").is_null());
}

TEST(ResultJson, SaysUnderWhatConditionsAPageWasLoaded) {
  auto result = one_load();
  result.seed = 9;
  result.browsers.push_back({.name = "chromium", .version = "Chrome/1", .flags = {"--a"}});
  auto const json = to_json(result);
  EXPECT_EQ(json.at("seed"), 9U);
  EXPECT_TRUE(json.at("archive_sha256").is_null());
  EXPECT_EQ(json.at("browser").at("version"), "Chrome/1");
  EXPECT_EQ(json.at("browsers").at(0).at("name"), "chromium");
  auto const& load = json.at("loads").at(0).as_object();
  EXPECT_EQ(boost::json::serialize(load.at("configuration")),
            R"({"browser":"chromium","protocol":"recorded","link":"none","cache":"cold"})");
  EXPECT_EQ(load.at("order"), 3);
  EXPECT_EQ(load.at("warm_up"), true);
  EXPECT_EQ(load.at("replay"), 0U);
  EXPECT_EQ(load.at("hits"), 7);
  EXPECT_TRUE(load.at("misses").is_null());
}

TEST(ResultJson, KeepsAReplaysReportAsItCame) {
  EXPECT_EQ(boost::json::serialize(to_json(one_load()).at("replays")),
            R"([{"run":2,"exit_code":0,"report":{"hits":7,"of a later version":true}}])");
}

TEST(ResultJson, SumsUpTheRequestsOfALoad) {
  auto const json = to_json(one_load());
  auto const& load = json.at("loads").at(0).as_object();
  EXPECT_EQ(load.at("request_count"), 2U);
  EXPECT_EQ(load.at("encoded_bytes"), 100);
  EXPECT_EQ(load.at("connection_count"), 1U);
}

TEST(ResultJson, IsUtf8WhateverAPageSays) {
  auto const json = to_json(one_load());
  EXPECT_EQ(json.at("loads").at(0).at("requests").at(0).at("url"), "http://a.test/\xEF\xBF\xBD");
}

TEST(WriteResult, MakesAPrivateFileInOneStep) {
  fs::path const folder = testing::TempDir() + "results-" + std::to_string(::getpid());
  fs::create_directory(folder);
  auto const path = folder / "result.json";
  std::ofstream(path) << "an older one";
  ASSERT_TRUE(write_result(one_load(), path).has_value());
  std::ifstream file(path);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, boost::json::serialize(to_json(one_load())) + "\n");
  struct stat facts{};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_EQ(write_result({}, folder / "none" / "result.json").error(),
            std::errc::no_such_file_or_directory);
  fs::remove_all(folder);
}

TEST(PageReport, IsReadAsItWasWritten) {
  fs::path const folder = testing::TempDir() + "page-report-" + std::to_string(::getpid());
  fs::create_directory(folder);
  auto const path = folder / "load";
  auto page = one_load().loads.front().page;
  page.dom = "";  // asked for, and not there
  ASSERT_TRUE(
      write_page_report({.browser = {.version = "C/1", .flags = {"-x"}}, .page = page}, path));
  auto const report = read_page_report(path);
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->browser.version, "C/1");
  EXPECT_EQ(report->browser.flags, std::vector<std::string>{"-x"});
  EXPECT_EQ(report->page.load_event_ms, 12.5);
  EXPECT_EQ(report->page.dom, "");
  EXPECT_EQ(report->page.dom_sha256, page.dom_sha256);
  ASSERT_EQ(report->page.requests.size(), 2);
  EXPECT_EQ(report->page.requests[0].timing->send_start_ms, 0.5);
  fs::remove_all(folder);
  EXPECT_EQ(read_page_report(path).error(), "No such file or directory");
}

}  // namespace
}  // namespace reprise
