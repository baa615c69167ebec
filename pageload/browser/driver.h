#pragma once

// What differs between browsers in how they are started and spoken to: browser.cc does the rest.

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

/// One start of one browser, whose private folder (its HOME) exists. Called in this order.
class BrowserDriver {
 public:
  using TimePoint = RemoteConnection::TimePoint;

  virtual ~BrowserDriver() = default;

  /// Makes what must be there before the start. The error is a sentence for people.
  virtual std::expected<void, std::string> prepare() = 0;
  /// Fills in flags, environment and descriptors.
  virtual void describe(GuardedProcess::Options& process) = 0;
  /// The way to the browser that now runs. Errors: broken_pipe when it ended; timed_out; those of
  /// socket(2).
  virtual Result<std::unique_ptr<MessageStream>> connect(GuardedProcess& process,
                                                         TimePoint deadline) = 0;
  /// Says hello and returns the version. Errors: those of RemoteConnection.
  virtual Result<std::string> greet(RemoteConnection& connection, TimePoint deadline) = 0;

  virtual std::unique_ptr<PageSession> open_page(RemoteConnection& connection,
                                                 const PageOptions& options) = 0;
};

/// `folder` is the browser's HOME; `options` must outlive the driver.
std::unique_ptr<BrowserDriver> make_chromium_driver(const BrowserOptions& options,
                                                    const std::filesystem::path& folder);
std::unique_ptr<BrowserDriver> make_firefox_driver(const BrowserOptions& options,
                                                   const std::filesystem::path& folder);

/// An empty certificate database in `folder` that trusts the authority in the PEM `file`. The error
/// is a sentence.
std::expected<void, std::string> make_trusting_database(const std::filesystem::path& folder,
                                                        const std::filesystem::path& file);

}  // namespace reprise
