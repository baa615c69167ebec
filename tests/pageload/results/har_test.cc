#include "pageload/results/har.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace reprise {
namespace {

boost::json::object har(const char* load) {
  return har_of(boost::json::parse(load).as_object(), {{"name", "chromium"}, {"version", "C/1"}});
}

TEST(Har, HasThePhasesOfARequestAndTheTimesOfThePage) {
  auto const log = har(R"({"url":"http://a.test/","started_unix_ms":1000.5,"load_event_ms":90,
    "requests":[{"url":"http://a.test/","method":"GET","status":200,"protocol":"h2","start_ms":0,
      "response_ms":60,"end_ms":80,"remote_address":"[::1]:443","connection":7,"timing":{
        "dns_start_ms":1,"dns_end_ms":3,"connect_start_ms":3,"tls_start_ms":10,
        "connect_end_ms":20,"send_start_ms":21,"send_end_ms":22,"first_byte_ms":60}}]})")
                       .at("log")
                       .as_object();
  EXPECT_EQ(log.at("browser").at("version"), "C/1");
  EXPECT_EQ(log.at("pages").at(0).at("pageTimings").at("onLoad").to_number<double>(), 90);
  EXPECT_EQ(log.at("pages").at(0).at("startedDateTime"), "1970-01-01T00:00:01.000Z");
  auto const& entry = log.at("entries").at(0).as_object();
  EXPECT_EQ(entry.at("time").to_number<double>(), 79);
  EXPECT_EQ(entry.at("serverIPAddress"), "[::1]");
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
  auto const log =
      har(R"({"requests":[{"start_ms":5,"response_ms":7,"end_ms":10,"timing":null}]})");
  auto const& timings = log.at("log").at("entries").at(0).at("timings");
  EXPECT_EQ(timings.at("blocked").to_number<double>(), -1);
  EXPECT_EQ(timings.at("wait").to_number<double>(), 2);
  EXPECT_EQ(timings.at("receive").to_number<double>(), 3);
}

TEST(Har, OfWhatHasNothingIsStillOne) {
  EXPECT_TRUE(har(R"({"requests":[1,null,{}]})").at("log").at("entries").as_array().size() == 1);
}

}  // namespace
}  // namespace reprise
