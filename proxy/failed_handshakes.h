#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

namespace reprise {

/// Counts TLS handshakes that failed, by reason. Thread-safe.
class FailedHandshakes {
 public:
  struct Counts {
    /// By the client's alert, with the names of RFC 8446 section 6: "unknown_ca".
    std::map<std::string, std::uint64_t> alerts;
    std::uint64_t closed = 0;     ///< the client closed without an alert
    std::uint64_t malformed = 0;  ///< a ClientHello that cannot be parsed
    std::uint64_t other = 0;      ///< no version or cipher in common, or no TLS
    bool any() const { return !alerts.empty() || closed > 0 || malformed > 0 || other > 0; }
  };

  /// Counts a failed handshake with a client that asked for `server_name`, empty if unknown. The
  /// first client that does not trust our certificates is logged, with the remedy, and so is the
  /// first that neither sent an alert nor closed.
  void add(std::error_code error, std::string_view server_name);
  /// The same for a client's alert (RFC 8446 section 6), which ended a handshake over QUIC.
  void add_alert(int alert, std::string_view server_name);
  Counts counts() const;
  /// Replaces what the log tells users to do about distrust. Before the first client.
  void set_remedy(std::string remedy) { remedy_ = std::move(remedy); }

 private:
  void warn(int alert, std::string_view server_name);
  void warn_other(std::error_code error, std::string_view server_name);
  mutable std::mutex mutex_;
  Counts counts_;
  bool told_distrust_ = false;
  bool told_other_ = false;
  std::string remedy_ =
      "Run 'reprise ca install' for Chromium, give other clients the file that 'reprise ca path' "
      "names (curl --cacert), or start Chromium with --user-data-dir=FOLDER {chromium-flags}";
};

}  // namespace reprise
