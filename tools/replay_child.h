#pragma once

// `reprise replay` as a child process on ports of its own, for commands that load pages from an
// archive. It cannot outlive its owner, `kill -9` included (tools/browser/guarded_process.h).

#include <boost/json/value.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/browser/guarded_process.h"

namespace reprise {

/// Of what a replay wrote to stderr, the lines that begin with "reprise: "; the others are chatter.
std::string lines_for_people(const std::string& text);

/// Blocking; one thread.
class ReplayChild {
 public:
  /// A large archive is read in full before its replay is ready.
  static constexpr std::chrono::seconds kReadyTime{120};
  static constexpr std::chrono::seconds kStopTime{10};

  struct Options {
    std::filesystem::path program = "/proc/self/exe";
    std::filesystem::path archive;
    std::vector<std::string> arguments;  ///< further options of `replay`, such as --match
  };

  /// Why there is no replay.
  struct Failure {
    int exit_code = 1;  ///< the child's own where it had one
    std::string text;   ///< what it said, or a sentence; lines
  };

  /// How a replay ended.
  struct Ending {
    int exit_code = 0;          ///< the child's own; 1 when a signal ended it
    boost::json::value report;  ///< null when it wrote none
    std::string messages;       ///< its lines that begin with "reprise: "
  };

  /// Starts the replay and waits until it accepts connections.
  static std::expected<std::unique_ptr<ReplayChild>, Failure> start(const Options& options);

  /// The flags that lead Chromium to it.
  const std::vector<std::string>& chromium_flags() const { return chromium_flags_; }
  /// Its listeners on 127.0.0.1, and the authority of its certificates.
  std::uint16_t http_port() const { return http_port_; }
  std::uint16_t https_port() const { return https_port_; }
  const std::filesystem::path& authority() const { return authority_; }

  /// Ends it in order (SIGTERM), unless it has ended already. Call once.
  Ending stop();

 private:
  explicit ReplayChild(std::filesystem::path folder) : folder_(std::move(folder)) {}
  bool read_ready_file();

  std::filesystem::path folder_;  // the process's guard removes it
  std::unique_ptr<GuardedProcess> process_;
  std::vector<std::string> chromium_flags_;
  std::uint16_t http_port_ = 0;
  std::uint16_t https_port_ = 0;
  std::filesystem::path authority_;
};

}  // namespace reprise
