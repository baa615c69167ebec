#include "tools/load/result_room.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(ResultRoom, IsUsedUpBeforeTheFileIsTooLarge) {
  LoadResult result;
  ResultRoom room(100'000);
  std::size_t loads = 0;
  for (; !room.is_used_up(); ++loads) {
    ASSERT_LT(loads, 100U);
    LoadResult::Load load;
    load.page.dom = std::string(20'000, 'x');
    load.replay = result.replays.size();
    result.replays.emplace_back();
    result.loads.push_back(std::move(load));
    room.add_last(result);
  }
  EXPECT_EQ(loads, 4U);
}

TEST(ResultRoom, NamesTheLimit) {
  EXPECT_EQ(result_limit_text(), "512 MiB, the limit of a result");
}

}  // namespace
}  // namespace reprise
