#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "pageload/devices/device.h"
#include "shaper/description.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

void print_json() {
  boost::json::array list;
  for (const LinkProfile& profile : known_profiles()) list.push_back(to_json(profile));
  std::printf("%s\n", boost::json::serialize(list).c_str());
}

void print_lines() {
  std::string source;
  for (const LinkProfile& profile : known_profiles()) {
    if (profile.source != source) {
      std::printf("%s%s\n", source.empty() ? "" : "\n", profile.source.c_str());
      source = profile.source;
    }
    std::printf("  %-20s %s\n", profile.id.c_str(), to_text(profile).c_str());
  }
}

void print_devices() {
  std::printf("Devices, for --device\n");
  for (const Device& device : known_devices()) {
    std::printf("  %-20s %s\n", device.name.c_str(), to_text(device).c_str());
  }
}

void print_devices_json() {
  boost::json::array list;
  for (const Device& device : known_devices()) {
    list.push_back({{"name", device.name},
                    {"width", device.width},
                    {"height", device.height},
                    {"scale", device.scale},
                    {"platform", device.platform},
                    {"platform_version", device.platform_version},
                    {"model", device.model},
                    {"user_agent", device.user_agent}});
  }
  std::printf("%s\n", boost::json::serialize(list).c_str());
}

/// One link, as it was understood.
int explain(const std::string& text, bool as_json) {
  auto const profile = parse_link(text);
  if (!profile) {
    std::fprintf(stderr, "reprise: %s\n", profile.error().c_str());
    return kExitUsage;
  }
  auto const description = as_json ? boost::json::serialize(to_json(*profile)) : to_text(*profile);
  std::printf("%s\n", description.c_str());
  return kExitDone;
}

}  // namespace

void add_profiles_command(CLI::App& app, int& exit_code) {
  struct Options {
    bool as_json = false;
    bool devices = false;
    std::string link;
  };
  auto const options = std::make_shared<Options>();
  auto* const profiles =
      add_command(app, "profiles",
                  "List the links and devices that have a name, with their settings and sources");
  profiles->add_flag("--json", options->as_json,
                     "Print JSON: the links, or with --devices the devices");
  profiles->add_flag("--devices", options->devices, "List only the devices");
  profiles->add_option("LINK", options->link, "Show only this link and how it is parsed");
  profiles->callback([options, &exit_code] {
    if (!options->link.empty()) {
      exit_code = explain(options->link, options->as_json);
      return;
    }
    if (options->devices) {
      options->as_json ? print_devices_json() : print_devices();
    } else if (options->as_json) {
      print_json();
    } else {
      print_lines();
      std::printf("\n");
      print_devices();
    }
    exit_code = kExitDone;
  });
}

}  // namespace reprise
