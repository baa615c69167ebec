#pragma once

// Devices that Chromium can pretend to be: devices.txt, embedded. Pure.

#include <span>
#include <string>
#include <string_view>

namespace reprise {

struct Device {
  std::string name;
  int width = 0;  ///< of the page, in CSS pixels
  int height = 0;
  double scale = 1;  ///< pixels per CSS pixel
  /// For client hints (Sec-CH-UA-Platform, ...); an empty platform: the device sends none.
  std::string platform;
  std::string platform_version;
  std::string model;
  std::string user_agent;  ///< "{chrome}" stands for the browser's major version

  /// Whether sites send it the page for small screens (Sec-CH-UA-Mobile).
  bool is_mobile() const { return user_agent.contains("Mobile"); }
  /// `version` is the browser's: "156.0.8078.73".
  std::string user_agent_of(std::string_view version) const;
};

/// In the order of the file.
std::span<const Device> known_devices();

/// The device of this name, in any case, or null.
const Device* device_called(std::string_view name);

/// One line: "412x839, 2.625 pixels per CSS pixel, Android".
std::string to_text(const Device& device);

/// The file's text. Generated from devices.txt.
extern const std::string_view kDevicesText;

}  // namespace reprise
