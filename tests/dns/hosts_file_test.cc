#include "dns/hosts_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise::dns {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string text_of(const ZoneEntry& entry) {
  std::string text = entry.host;
  for (const auto& address : entry.v4) text += " " + address.to_string();
  for (const auto& address : entry.v6) text += " " + address.to_string();
  return text;
}

TEST(HostsFile, HasTheNamesWithTheirAddresses) {
  auto const file = parse_hosts(
      "# a comment\n"
      "127.0.0.1\tlocalhost me # another\n"
      "\r\n"
      "  192.0.2.1  WWW.Example.org. cdn.example.org\r\n"
      "2001:db8::1 www.example.org\n"
      "192.0.2.2 www.example.org");
  EXPECT_THAT(file.problems, IsEmpty());
  ASSERT_THAT(file.zone.entries, SizeIs(4));
  EXPECT_EQ(text_of(file.zone.entries[0]), "localhost 127.0.0.1");
  EXPECT_EQ(text_of(file.zone.entries[2]), "www.example.org 192.0.2.1 192.0.2.2 2001:db8::1");
  EXPECT_EQ(text_of(file.zone.entries[3]), "cdn.example.org 192.0.2.1");
  EXPECT_EQ(file.zone.catch_all, std::nullopt);
}

TEST(HostsFile, MayHaveACatchAll) {
  auto const file = parse_hosts("127.0.0.2 *\n127.0.0.3 *\n");
  EXPECT_EQ(file.zone.catch_all->to_string(), "127.0.0.2");
}

TEST(HostsFile, NamesTheLinesThatItPassedOver) {
  auto const file = parse_hosts(
      "example.org 127.0.0.1\n"
      "127.0.0.1\n"
      "127.0.0.1 good bad..name 127.0.0.9\n"
      "::1 *\n");
  std::vector<std::string> problems;
  for (const auto& problem : file.problems) {
    problems.push_back(std::to_string(problem.line) + ": " + problem.what);
  }
  EXPECT_THAT(problems,
              ElementsAre("1: 'example.org' is not an IP address",
                          "2: '127.0.0.1' has no name after the address",
                          "3: 'bad..name' is not a host name", "3: '127.0.0.9' is not a host name",
                          "4: '*' needs an IPv4 address"));
  EXPECT_THAT(file.zone.entries, SizeIs(1));
}

TEST(HostsFile, KeepsTwentyProblems) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::string(1000, 'x') + "\n";
  auto const file = parse_hosts(text);
  EXPECT_THAT(file.problems, SizeIs(20));
  EXPECT_LT(file.problems[0].what.size(), 150u);
}

}  // namespace
}  // namespace reprise::dns
