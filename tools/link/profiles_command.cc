#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "shaper/description.h"
#include "tools/commands.h"

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
    std::string link;
  };
  auto const options = std::make_shared<Options>();
  auto* const profiles = app.add_subcommand(
      "profiles", "List the links that have a name, with their settings and sources");
  profiles->add_flag("--json", options->as_json, "Print JSON");
  profiles->add_option("LINK", options->link, "Show only this link and how it is parsed");
  profiles->callback([options, &exit_code] {
    if (!options->link.empty()) {
      exit_code = explain(options->link, options->as_json);
      return;
    }
    options->as_json ? print_json() : print_lines();
    exit_code = kExitDone;
  });
}

}  // namespace reprise
