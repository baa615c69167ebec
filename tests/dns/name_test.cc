#include "dns/name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dns/error.h"

namespace reprise::dns {
namespace {

TEST(Name, WritesWhatItRead) {
  for (const char* const text :
       {".", "a", "www.example.org", "_443._tcp.Example.ORG", "xn--bcher-kva.example", "a\\.b.c",
        "back\\\\slash.x", "\\000\\032\\255.x"}) {
    auto const name = Name::parse(text);
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(name->text(), text);
  }
}

TEST(Name, TakesADotAtTheEndForTheRoot) {
  EXPECT_EQ(Name::parse("example.org.")->text(), "example.org");
  EXPECT_EQ(*Name::parse("example.org."), *Name::parse("example.org"));
}

TEST(Name, RefusesWhatIsNoName) {
  std::string const label(63, 'a');
  for (const std::string& text :
       {std::string(), std::string(".."), std::string(".a"), std::string("a..b"),
        std::string("a\\"), std::string("\\256"), std::string("\\12"), std::string(64, 'a'),
        label + "." + label + "." + label + "." + label}) {
    EXPECT_EQ(Name::parse(text).error(), errc::bad_name) << text;
  }
}

TEST(Name, HoldsExactly255Bytes) {
  std::string const label(63, 'a');
  auto const longest = label + "." + label + "." + label + "." + std::string(61, 'a');
  ASSERT_TRUE(Name::parse(longest));
  EXPECT_EQ(Name::parse(longest)->labels().size() + 1, Name::kWireMax);
  EXPECT_FALSE(Name::parse(longest + "a"));
  std::string many;
  for (int i = 0; i < 127; ++i) many += "x.";
  EXPECT_TRUE(Name::parse(many));
  EXPECT_FALSE(Name::parse(many + "x."));
}

TEST(Name, LowersLettersAlone) {
  EXPECT_EQ(Name::parse("WwW.eXample.\\193")->lowered(), *Name::parse("www.example.\\193"));
}

}  // namespace
}  // namespace reprise::dns
