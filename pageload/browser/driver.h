#pragma once

// The differences between browsers in start and protocol; browser.cc does the rest.

#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/system/guarded_process.h"
#include "pageload/browser/browser.h"
#include "pageload/browser/page_session.h"
#include "pageload/browser/remote_connection.h"

namespace reprise {

/// One start of one browser, whose private folder (its HOME) exists. Call the functions in this
/// order.
class BrowserDriver {
 public:
  using TimePoint = RemoteConnection::TimePoint;

  virtual ~BrowserDriver() = default;

  /// Creates what the start needs. The error is a sentence for users.
  virtual std::expected<void, std::string> prepare() = 0;
  /// Fills in flags, environment and descriptors.
  virtual void describe(GuardedProcess::Options& process) = 0;
  /// Connects to the running browser. Errors: broken_pipe: it ended; timed_out; those of socket(2).
  virtual Result<std::unique_ptr<MessageStream>> connect(GuardedProcess& process,
                                                         TimePoint deadline) = 0;
  /// Opens the session and returns the version. Errors: those of RemoteConnection.
  virtual Result<std::string> greet(RemoteConnection& connection, TimePoint deadline) = 0;

  /// Loads the unpacked extension in this folder until the browser ends.
  virtual RemoteCommand install_command(const std::filesystem::path& folder) const = 0;

  /// How many times slower pages compute at that rate of Emulation.setCPUThrottlingRate, in a new,
  /// empty page. The rate is what DevTools aims at; it stops the thread with signals, which cost
  /// more on some machines. Takes one to three seconds, and more at high rates. Errors: those of
  /// RemoteConnection; not_supported: the browser has no such thing, or its answer makes no sense.
  virtual Result<double> slowdown(RemoteConnection&, double) {
    return fail(std::make_error_code(std::errc::not_supported));
  }

  virtual std::unique_ptr<PageSession> open_page(RemoteConnection& connection,
                                                 const PageOptions& options) = 0;
};

/// `folder` is the browser's HOME; `options` must outlive the driver.
std::unique_ptr<BrowserDriver> make_chromium_driver(const BrowserOptions& options,
                                                    const std::filesystem::path& folder);
std::unique_ptr<BrowserDriver> make_firefox_driver(const BrowserOptions& options,
                                                   const std::filesystem::path& folder);

/// Creates a certificate database in `folder` that trusts only the authority in the PEM `file`. The
/// error is a sentence.
std::expected<void, std::string> make_trusting_database(const std::filesystem::path& folder,
                                                        const std::filesystem::path& file);

}  // namespace reprise
