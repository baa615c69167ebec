#pragma once

// What a running tsproxy does, and the commands that change it. Pure.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::tsproxy {

/// "443:8443,*:8080": the port to connect to instead of the one asked for.
class PortMap {
 public:
  /// The error is a sentence.
  static std::expected<PortMap, std::string> parse(std::string_view text);
  /// The first rule for the port decides, then that for `*`; `asked` without any.
  std::uint16_t of(std::uint16_t asked) const;

 private:
  struct Rule {
    std::optional<std::uint16_t> from;  ///< nothing: any
    std::uint16_t to;
  };
  std::vector<Rule> rules_;
};

/// Numbers as given, such as 683.59375 or 1e3; 0 for none.
struct Settings {
  std::string rtt = "0";      ///< ms
  std::string inkbps = "0";   ///< to the client, 1000 bit/s
  std::string outkbps = "0";  ///< from the client
  PortMap ports;

  /// As `--link` takes it: "none,rtt=100ms,down=5mbit", rounded to whole ns and bit/s, at least 1
  /// bit/s; empty if nothing is limited.
  std::string link() const;
};

enum class Command : std::uint8_t { kNone, kSet, kFlush, kExit };

/// Runs one line of standard input: set rtt|inkbps|outkbps|mapports VALUE, reset
/// rtt|inkbps|outkbps|mapports|all, flush, exit. kNone: an empty line. The error is a sentence, and
/// `settings` is then unchanged.
std::expected<Command, std::string> run_command(std::string_view line, Settings& settings);

/// Whether the link of `settings` is valid; otherwise the error is a sentence.
std::expected<void, std::string> check_link(const Settings& settings);

}  // namespace reprise::tsproxy
