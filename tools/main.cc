#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "tools/commands.h"

int main(int argc, char** argv) {
  using namespace reprise;
  // What stands behind `--` is a command line of its own and not for the parser.
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* text) { return std::string_view(text) == "--"; });
  std::vector<std::string> const command(dashes == end ? end : dashes + 1, end);

  CLI::App app("Records a site once and replays it for ever: a benchmarking proxy.", "reprise");
  app.set_version_flag("--version", "reprise " REPRISE_VERSION);
  app.require_subcommand(1);
  int exit_code = kExitDone;
  add_record_command(app, command, exit_code);
  add_replay_command(app, command, exit_code);
  add_archive_command(app, exit_code);
  add_load_command(app, command, exit_code);
  add_compare_command(app, exit_code);
  add_load_page_command(app, exit_code);
  add_gate_command(app, exit_code);
  add_ca_command(app, exit_code);
  add_dns_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_shape_command(app, command, exit_code);
  add_profiles_command(app, exit_code);
  add_view_command(app, exit_code);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::ParseError& error) {
    auto const code = app.exit(error);
    return code == 0 ? kExitDone : kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reprise: %s\n", error.what());
    return kExitFailed;
  }
  return exit_code;
}
