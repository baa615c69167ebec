#include "tools/browser/result_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <iterator>

namespace reprise {
namespace {

namespace fs = std::filesystem;

LoadResult one_load() {
  PageLoad load;
  load.url = "http://a.test/";
  load.load_event_ms = 12.5;
  load.dom = "<html></html>";
  load.requests.push_back({.url = "http://a.test/\xFF",
                           .method = "GET",
                           .status = 200,
                           .body_sha256 = "ab",
                           .start_ms = 0,
                           .response_ms = 1,
                           .end_ms = 2});
  LoadResult result;
  result.archive = "a.reprise";
  result.loads.push_back({.run = 2, .page = std::move(load)});
  result.replays.push_back({.run = 2, .exit_code = 0, .report = nullptr});
  return result;
}

TEST(ResultJson, HasTheFieldsOfItsSchema) {
  auto const json = to_json(one_load(), false);
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
  auto const& request = load.at("requests").as_array().at(0).as_object();
  EXPECT_EQ(request.at("body_sha256"), "ab");
  EXPECT_TRUE(request.at("request_body_sha256").is_null());
  EXPECT_EQ(to_json(one_load(), true).at("loads").as_array().at(0).at("dom"), "<html></html>");
}

TEST(ResultJson, IsUtf8WhateverAPageSays) {
  auto const json = to_json(one_load(), false);
  EXPECT_EQ(json.at("loads").at(0).at("requests").at(0).at("url"), "http://a.test/\xEF\xBF\xBD");
}

TEST(WriteResult, MakesAPrivateFileInOneStep) {
  fs::path const folder = testing::TempDir() + "results-" + std::to_string(::getpid());
  fs::create_directory(folder);
  auto const path = folder / "result.json";
  std::ofstream(path) << "an older one";
  ASSERT_TRUE(write_result(to_json(one_load(), false), path).has_value());
  std::ifstream file(path);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, boost::json::serialize(to_json(one_load(), false)) + "\n");
  struct stat facts{};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_EQ(write_result({}, folder / "none" / "result.json").error(),
            std::errc::no_such_file_or_directory);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace reprise
