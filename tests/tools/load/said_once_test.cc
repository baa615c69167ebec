#include "tools/load/said_once.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(SaidOnce, SaysEachLineOnce) {
  SaidOnce said;
  EXPECT_EQ(said.new_of("a: damaged\n1 miss\n"), "a: damaged\n1 miss\n");
  EXPECT_EQ(said.new_of("a: damaged\n2 misses\n"), "2 misses\n");
  EXPECT_EQ(said.new_of(""), "");
  EXPECT_EQ(said.new_of("x\nx\ny"), "x\ny") << "the last line may lack its end";
}

TEST(SaidOnce, RemembersNoMoreThanItMay) {
  SaidOnce said;
  for (std::size_t i = 0; i < SaidOnce::kLinesMax; ++i) said.new_of(std::to_string(i) + "\n");
  EXPECT_EQ(said.new_of("new\n0\n"), "new\n");
  EXPECT_EQ(said.new_of("new\n"), "new\n");
}

}  // namespace
}  // namespace reprise
