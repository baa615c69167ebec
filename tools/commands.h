#pragma once

// One function and one file per subcommand. Each adds its subcommand to `app`, with a callback that
// runs it and stores the exit code.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace reprise {

/// The exit codes of the command line contract.
enum ExitCode : int {
  kExitDone = 0,
  kExitFailed = 1,
  kExitUsage = 2,
  kExitArchive = 3,
  kExitListen = 4,
  kExitGate = 5,
  kExitUndecided = 6,
};

/// Why a command cannot do what it was asked.
struct CommandRefusal {
  int exit_code;
  std::string text;  ///< a sentence
};

/// `command`: the words after `--`.
void add_record_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_replay_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_archive_command(CLI::App& app, int& exit_code);
void add_load_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_completion_command(CLI::App& app, int& exit_code);
void add_campaign_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_load_page_command(CLI::App& app, int& exit_code);
void add_gate_command(CLI::App& app, int& exit_code);
void add_advise_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_whatif_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_predict_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_predict_service_command(CLI::App& app, int& exit_code);
void add_why_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_ca_command(CLI::App& app, int& exit_code);
void add_dns_command(CLI::App& app, int& exit_code);
void add_doctor_command(CLI::App& app, int& exit_code);
void add_shape_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);
void add_profiles_command(CLI::App& app, int& exit_code);
void add_tsproxy_command(CLI::App& app, int& exit_code);
void add_view_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_httparchive_command(CLI::App& app, int& exit_code);
void add_wpr_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code);

}  // namespace reprise
