#include "proxy/record/record_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "archive/reader.h"
#include "dns/error.h"
#include "dns/wire.h"
#include "proxy/record/network_dialer.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

TEST(RecordSession, KeepsAnswersAndFailuresOfDns) {
  auto const path = testing::TempDir() + "reprise_recording." + std::to_string(::getpid());
  auto created = ArchiveWriter::create(path, {});
  ASSERT_TRUE(created) << created.error().message();
  auto& writer = **created;
  ASSERT_TRUE(writer.begin_session({}));
  auto const started = std::chrono::steady_clock::now();
  dns::Svcb const https{.priority = 1, .target = {}, .params = {{.key = 1, .value = "\2h2"}}};
  {
    NetworkDialer dialer({});
    RecordSession session(writer, dialer, started,
                          [](std::error_code error) { ADD_FAILURE() << error.message(); });
    session.keep({.host = "www.example",
                  .type = dns::Type::kHttps,
                  .rcode = dns::Rcode::kNoError,
                  .error = {},
                  .chain = {"cdn.example"},
                  .addresses = {net::ip::make_address("2001:db8::1")},
                  .https = {https},
                  .ttl_s = 30,
                  .asked = started + 2ms,
                  .answered = started + 5ms});
    session.keep({.host = "dead.example",
                  .type = dns::Type::kA,
                  .rcode = {},
                  .error = dns::errc::timed_out,
                  .chain = {},
                  .addresses = {},
                  .https = {},
                  .ttl_s = 0,
                  .asked = started,
                  .answered = started + 6s});
  }
  ASSERT_TRUE(writer.end_session());
  ASSERT_TRUE(writer.close());
  auto const reader = ArchiveReader::open(path, {});
  std::filesystem::remove(path);
  ASSERT_TRUE(reader) << reader.error().message();
  auto const& answers = (*reader)->answers();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].session, 1U);
  EXPECT_EQ(answers[0].host, "www.example");
  EXPECT_EQ(answers[0].type, 65);
  EXPECT_EQ(answers[0].rcode, 0);
  EXPECT_EQ(answers[0].failure, "");
  EXPECT_THAT(answers[0].chain, ElementsAre("cdn.example"));
  EXPECT_THAT(answers[0].addresses, ElementsAre("2001:db8::1"));
  EXPECT_THAT(answers[0].https, ElementsAre(dns::encode_svcb(https).value()));
  EXPECT_EQ(answers[0].ttl_s, 30U);
  EXPECT_EQ(answers[0].asked, 2ms);
  EXPECT_EQ(answers[0].answered, 5ms);
  EXPECT_EQ(answers[1].host, "dead.example");
  EXPECT_EQ(answers[1].rcode, std::nullopt);
  EXPECT_EQ(answers[1].failure, "no DNS server answered in time");
  EXPECT_EQ(answers[1].answered, 6s);
}

}  // namespace
}  // namespace reprise
