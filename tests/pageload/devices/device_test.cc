#include "pageload/devices/device.h"

#include <gtest/gtest.h>

#include <set>

namespace reprise {
namespace {

TEST(Devices, AreWhole) {
  std::set<std::string> names;
  for (const Device& device : known_devices()) {
    EXPECT_TRUE(names.insert(device.name).second) << device.name;
    EXPECT_GT(device.width, 300) << device.name;
    EXPECT_GT(device.height, device.width) << device.name;
    EXPECT_GE(device.scale, 1) << device.name;
    EXPECT_TRUE(device.user_agent.starts_with("Mozilla/5.0 (")) << device.name;
    EXPECT_EQ(device.platform.empty(), device.model.empty()) << device.name;
    EXPECT_EQ(device.platform.empty(), !device.user_agent.contains("{chrome}")) << device.name;
  }
  EXPECT_GE(names.size(), 8U);
}

TEST(Devices, AreFoundByNameInAnyCase) {
  ASSERT_NE(device_called("pixel 9"), nullptr);
  EXPECT_EQ(device_called("pixel 9")->name, "Pixel 9");
  EXPECT_EQ(device_called("pixel"), nullptr);
  EXPECT_EQ(device_called(""), nullptr);
}

TEST(Devices, TellTheBrowsersOwnMajorVersion) {
  auto const agent = device_called("Pixel 9")->user_agent_of("156.0.8078.73");
  EXPECT_TRUE(agent.contains(" Chrome/156.0.0.0 Mobile ")) << agent;
  EXPECT_TRUE(device_called("Pixel 9")->is_mobile());
  EXPECT_FALSE(device_called("Galaxy Tab S9")->is_mobile());
  auto const* const phone = device_called("iPhone 15");
  EXPECT_EQ(phone->user_agent_of("156.0.8078.73"), phone->user_agent);
}

TEST(Devices, AreShownOnALine) {
  EXPECT_EQ(to_text(*device_called("Pixel 9")), "412x832, 2.625 pixels per CSS pixel, Android");
  EXPECT_EQ(to_text(*device_called("iPhone SE")), "375x667, 2 pixels per CSS pixel, iOS");
}

}  // namespace
}  // namespace reprise
