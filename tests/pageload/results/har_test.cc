#include "pageload/results/har.h"

#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

namespace reprise {
namespace {

boost::json::object har(const PageLoad& load) {
  return har_of(load, {.name = "chromium", .version = "C/1"});
}

TEST(Har, HasThePhasesOfARequestAndTheTimesOfThePage) {
  PageLoad load{.url = "http://a.test/", .started_unix_ms = 1000.5, .load_event_ms = 90};
  load.requests.push_back({.url = "http://a.test/",
                           .method = "GET",
                           .status = 200,
                           .protocol = "h2",
                           .remote_address = "[::1]:443",
                           .connection = 7,
                           .start_ms = 0,
                           .response_ms = 60,
                           .end_ms = 80,
                           .timing = RequestTiming{.dns_start_ms = 1,
                                                   .dns_end_ms = 3,
                                                   .connect_start_ms = 3,
                                                   .tls_start_ms = 10,
                                                   .connect_end_ms = 20,
                                                   .send_start_ms = 21,
                                                   .send_end_ms = 22,
                                                   .first_byte_ms = 60}});
  auto const log = har(load).at("log").as_object();
  EXPECT_EQ(log.at("browser").at("version"), "C/1");
  EXPECT_EQ(log.at("pages").at(0).at("pageTimings").at("onLoad").to_number<double>(), 90);
  EXPECT_EQ(log.at("pages").at(0).at("pageTimings").at("onContentLoad").to_number<double>(), -1);
  EXPECT_EQ(log.at("pages").at(0).at("startedDateTime"), "1970-01-01T00:00:01.000Z");
  auto const& entry = log.at("entries").at(0).as_object();
  EXPECT_EQ(entry.at("time").to_number<double>(), 79);
  EXPECT_EQ(entry.at("serverIPAddress"), "::1");
  EXPECT_EQ(entry.at("connection"), "7");
  auto const& timings = entry.at("timings").as_object();
  EXPECT_EQ(timings.at("blocked").to_number<double>(), 1);
  EXPECT_EQ(timings.at("dns").to_number<double>(), 2);
  EXPECT_EQ(timings.at("connect").to_number<double>(), 17);
  EXPECT_EQ(timings.at("ssl").to_number<double>(), 10);
  EXPECT_EQ(timings.at("send").to_number<double>(), 1);
  EXPECT_EQ(timings.at("wait").to_number<double>(), 38);
  EXPECT_EQ(timings.at("receive").to_number<double>(), 20);
}

TEST(Har, OfARequestWithoutPhasesHasWaitAndReceive) {
  auto const log = har({.requests = {{.start_ms = 5, .response_ms = 7, .end_ms = 10}}});
  auto const& entry = log.at("log").at("entries").at(0).as_object();
  EXPECT_FALSE(entry.contains("serverIPAddress"));
  EXPECT_FALSE(entry.contains("connection"));
  auto const& timings = entry.at("timings");
  EXPECT_EQ(timings.at("blocked").to_number<double>(), -1);
  EXPECT_EQ(timings.at("wait").to_number<double>(), 2);
  EXPECT_EQ(timings.at("receive").to_number<double>(), 3);
}

TEST(Har, WritesTypesInitiatorsAndCachesAsDevtoolsDo) {
  auto const log = har({.requests = {{.resource_type = "WebSocket", .initiator = "http://a.test/"},
                                     {.resource_type = "XHR", .from_cache = true}}})
                       .at("log");
  auto const& first = log.at("entries").at(0).as_object();
  EXPECT_EQ(first.at("_resourceType"), "websocket");
  EXPECT_EQ(first.at("_initiator").at("type"), "other");
  EXPECT_EQ(first.at("_initiator").at("url"), "http://a.test/");
  EXPECT_FALSE(first.contains("_fromCache"));
  auto const& second = log.at("entries").at(1).as_object();
  EXPECT_EQ(second.at("_resourceType"), "xhr");
  EXPECT_FALSE(second.contains("_initiator"));
  EXPECT_EQ(second.at("_fromCache"), "disk");
}

TEST(Har, IsUtf8WhateverAPageSays) {
  auto const log = har({.url = "http://a.test/\xFF", .requests = {{.url = "\xFF"}}}).at("log");
  EXPECT_EQ(log.at("pages").at(0).at("title"), "http://a.test/\xEF\xBF\xBD");
  EXPECT_EQ(log.at("entries").at(0).at("request").at("url"), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace reprise
