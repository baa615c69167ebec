#include "base/http/media_type.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(MediaType, IsAContentTypeWithoutItsParameters) {
  EXPECT_EQ(media_type_of("Text/HTML; charset=utf-8"), "Text/HTML");
  EXPECT_EQ(media_type_of(" text/css\t;a"), "text/css");
  EXPECT_EQ(media_type_of(";charset=utf-8"), "");
  EXPECT_EQ(media_type_of(""), "");
  EXPECT_EQ(media_type_of("text/html\f"), "text/html\f") << "no white space in HTTP";
}

TEST(MediaType, IsInLowerCaseByField) {
  HeaderView const field{.name = "CONTENT-TYPE", .value = "Text/HTML ; charset=utf-8"};
  EXPECT_EQ(media_type({&field, 1}), "text/html");
  EXPECT_EQ(media_type({}), "");
}

}  // namespace
}  // namespace reprise
