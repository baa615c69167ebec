#include "shaper/packet/network/outside_relay.h"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/scratch_folder.h"

namespace reprise {
namespace {

std::vector<std::string> resolvers_in(const std::string& text) {
  ScratchFolder const folder;
  std::ofstream(folder / "resolv.conf") << text;
  std::vector<std::string> texts;
  for (auto const& address : resolvers_of(folder / "resolv.conf")) {
    texts.push_back(address.to_string());
  }
  return texts;
}

TEST(Resolvers, AreThoseOfTheFileInOrder) {
  EXPECT_THAT(resolvers_in("# nameserver 192.0.2.9\n"
                           "nameserver 192.0.2.1\n"
                           "search a.example\n"
                           "nameserver no-address\n"
                           "nameserver 2001:db8::1\n"),
              testing::ElementsAre("192.0.2.1", "2001:db8::1"));
}

TEST(Resolvers, AreThreeAtMost) {
  EXPECT_THAT(resolvers_in("nameserver 192.0.2.1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n"
                           "nameserver 192.0.2.4\n"),
              testing::ElementsAre("192.0.2.1", "192.0.2.2", "192.0.2.3"));
}

TEST(Resolvers, AreLoopbackWithoutAny) {
  EXPECT_THAT(resolvers_in("search a.example\n"), testing::ElementsAre("127.0.0.1"));
  EXPECT_THAT(resolvers_of("/no/such/file"), testing::SizeIs(1));
}

}  // namespace
}  // namespace reprise
