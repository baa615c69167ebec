#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/process/process_signals.h"

namespace reprise {
namespace {

/// Rewrites `help` and `help record` to `--help` and `record --help`.
void take_help_word(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

/// Under the name of a tool whose command line it takes, the program is that command.
void take_program_name(const std::filesystem::path& program, std::vector<std::string>& arguments) {
  for (auto const* const tool : {"wpr", "httparchive", "tsproxy"}) {
    if (program.filename() == tool) arguments.emplace(arguments.begin(), tool);
  }
}

/// The first word if it is neither an option nor a command; otherwise empty.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front().starts_with('-')) return {};
  auto const all = app.get_subcommands([](const CLI::App*) { return true; });
  bool const known = std::ranges::any_of(
      all, [&](const CLI::App* each) { return each->check_name(arguments.front()); });
  return known ? "" : arguments.front();
}

/// `exit_code`, or a failure if standard output could not be written.
int after_output(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  std::perror("reprise: cannot write the output");
  return exit_code == kExitDone ? kExitFailed : exit_code;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  using namespace reprise;
  block_signals();
  // The words after `--` are another command line, not for the parser.
  char** const end = argv + argc;
  char** const dashes =
      std::find_if(argv, end, [](const char* text) { return std::string_view(text) == "--"; });
  std::vector<std::string> const command(dashes == end ? end : dashes + 1, end);
  std::vector<std::string> arguments(argv + std::min(argc, 1), dashes);
  take_help_word(arguments);
  take_program_name(argc > 0 ? argv[0] : "", arguments);

  auto const command_line = make_command_line(
      "Record a site once and replay it forever: a benchmarking proxy.", "reprise");
  CLI::App& app = *command_line;
  app.set_version_flag("-V,--version", "reprise " REPRISE_VERSION);
  app.require_subcommand(1);
  int exit_code = kExitDone;
  add_record_command(app, command, exit_code);
  add_replay_command(app, command, exit_code);
  add_archive_command(app, exit_code);
  add_load_command(app, command, exit_code);
  add_compare_command(app, exit_code);
  add_load_page_command(app, exit_code);
  add_gate_command(app, exit_code);
  add_whatif_command(app, command, exit_code);
  add_predict_command(app, command, exit_code);
  add_predict_service_command(app, exit_code);
  add_advise_command(app, command, exit_code);
  add_why_command(app, command, exit_code);
  add_campaign_command(app, exit_code);
  add_ca_command(app, exit_code);
  add_dns_command(app, exit_code);
  add_doctor_command(app, exit_code);
  add_shape_command(app, command, exit_code);
  add_profiles_command(app, exit_code);
  add_view_command(app, exit_code);
  add_explain_command(app, exit_code);
  add_wpr_command(app, command, exit_code);
  add_httparchive_command(app, exit_code);
  add_tsproxy_command(app, exit_code);
  add_completion_command(app, exit_code);
  // Commands that serve wait for signals in their event loops.
  app.parse_complete_callback([&app] {
    for (auto const* const serving : {"record", "replay", "shape", "dns", "wpr", "tsproxy"}) {
      if (app.got_subcommand(serving)) return;
    }
    restore_signal_mask();
  });
  if (auto const word = unknown_command(app, arguments); !word.empty()) {
    std::fprintf(stderr, "reprise: unknown command '%s'. Run reprise help to list the commands\n",
                 printable(word).c_str());
    return kExitUsage;
  }
  try {
    parse_words(app, std::move(arguments));
  } catch (const CLI::ParseError& error) {
    auto const code = app.exit(error);
    return after_output(code == 0 ? kExitDone : kExitUsage);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reprise: %s\n", error.what());
    return kExitFailed;
  }
  return after_output(exit_code);
}
