#include "pageload/devices/device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/http/headers.h"
#include "base/invariant.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::string_view kMajorVersion = "{chrome}";

/// The text before the next `separator`, which is removed with it.
std::string_view take_until(char separator, std::string_view& rest) {
  auto const end = std::min(rest.find(separator), rest.size());
  auto const text = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return text;
}

template <class Number>
Number number_in(std::string_view text) {
  Number number{};
  auto const* const last = text.data() + text.size();
  auto const [end, error] = std::from_chars(text.data(), last, number);
  invariant(error == std::errc() && end == last, "devices.txt has a wrong number");
  return number;
}

/// Current Chrome tells one Android for all, current Safari on an iPad a Mac.
std::string user_agent_of_kind(std::string_view kind) {
  static constexpr std::string_view kMozilla = "Mozilla/5.0 ";
  static constexpr std::string_view kWebKit = " AppleWebKit/605.1.15 (KHTML, like Gecko) ";
  static constexpr std::string_view kBlink = " AppleWebKit/537.36 (KHTML, like Gecko) Chrome/";
  auto const agent = [](std::initializer_list<std::string_view> parts) {
    std::string text(kMozilla);
    for (std::string_view const part : parts) text += part;
    return text;
  };
  constexpr std::string_view kAndroid = "(Linux; Android 10; K)";
  if (kind == "android phone") {
    return agent({kAndroid, kBlink, kMajorVersion, ".0.0.0 Mobile Safari/537.36"});
  }
  if (kind == "android tablet") {
    return agent({kAndroid, kBlink, kMajorVersion, ".0.0.0 Safari/537.36"});
  }
  if (kind == "iphone") {
    return agent({"(iPhone; CPU iPhone OS 17_5 like Mac OS X)", kWebKit,
                  "Version/17.5 Mobile/15E148 Safari/604.1"});
  }
  invariant(kind == "ipad", "devices.txt has an unknown kind of user agent");
  return agent({"(Macintosh; Intel Mac OS X 10_15_7)", kWebKit, "Version/17.5 Safari/605.1.15"});
}

Device device_in(std::string_view line) {
  std::array<std::string_view, 8> field;
  for (std::string_view& each : field) each = trim(take_until('|', line));
  invariant(!field.back().empty(), "devices.txt has an incomplete line");
  return {.name = std::string(field[0]),
          .width = number_in<int>(field[1]),
          .height = number_in<int>(field[2]),
          .scale = number_in<double>(field[3]),
          .platform = std::string(field[4]),
          .platform_version = std::string(field[5]),
          .model = std::string(field[6]),
          .user_agent = user_agent_of_kind(field[7])};
}

std::vector<Device> read_devices(std::string_view text) {
  std::vector<Device> devices;
  while (!text.empty()) {
    auto const line = trim(take_until('\n', text));
    if (!line.empty() && !line.starts_with('#')) devices.push_back(device_in(line));
  }
  return devices;
}

}  // namespace

std::string Device::user_agent_of(std::string_view version) const {
  auto text = user_agent;
  auto const at = text.find(kMajorVersion);
  if (at == std::string::npos) return text;
  return text.replace(at, kMajorVersion.size(), version.substr(0, version.find('.')));
}

std::span<const Device> known_devices() {
  static const std::vector<Device> devices = read_devices(kDevicesText);
  return devices;
}

const Device* device_called(std::string_view name) {
  auto const all = known_devices();
  auto const found = std::ranges::find_if(
      all, [name](const Device& each) { return equals_ignoring_case(each.name, name); });
  return found == all.end() ? nullptr : &*found;
}

std::string to_text(const Device& device) {
  std::array<char, 32> scale{};
  auto const end = std::to_chars(scale.data(), scale.data() + scale.size(), device.scale).ptr;
  auto const system = !device.platform.empty()               ? device.platform
                      : device.user_agent.contains("iPhone") ? std::string("iOS")
                                                             : std::string("iPadOS");
  return std::to_string(device.width) + "x" + std::to_string(device.height) + ", " +
         std::string(scale.data(), end) + " pixels per CSS pixel, " + system;
}

}  // namespace reprise
