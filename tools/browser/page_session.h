#pragma once

// One page in one fresh context of a running browser, driven over DevTools: opened, let rest,
// navigated, watched until quiet, read out, closed.

#include <memory>
#include <string>
#include <string_view>

#include "tools/browser/chromium.h"
#include "tools/browser/devtools.h"
#include "tools/browser/page_recorder.h"

namespace reprise {

/// Loads one page. Blocking; one thread; one at a time on a connection, which must outlive it.
/// Every Result below fails with an error of DevtoolsConnection only: the browser died (or broke
/// the protocol), or, timed_out, it does not answer.
class PageSession {
 public:
  using TimePoint = DevtoolsConnection::TimePoint;

  PageSession(DevtoolsConnection& connection, const PageOptions& options);

  /// The whole life of the page. What was gathered before an error is in `load`, whose outcome is
  /// the caller's to set in that case.
  Result<void> run(const std::string& url, int width, int height, PageLoad& load);

 private:
  Result<void> open(int width, int height, TimePoint deadline);
  Result<void> settle();
  Result<void> navigate(const std::string& url, PageLoad& load);
  bool has_ended() const;
  void judge_ending(PageLoad& load) const;
  Result<void> read_out(PageLoad& load);
  Result<bool> read_dom(PageLoad& load);
  Result<void> take_screenshot(PageLoad& load);
  Result<void> close(const PageLoad& load);

  void on_event(std::string_view session, std::string_view method,
                const boost::json::object& params);
  std::shared_ptr<std::size_t> watch_target(const std::string& session, bool is_page);
  Result<std::string> call_for(std::string_view method, boost::json::object params,
                               std::string_view field, TimePoint deadline);

  DevtoolsConnection& connection_;
  const PageOptions& options_;
  std::string context_;
  std::string session_;
  std::unique_ptr<PageRecorder> recorder_;
  bool recording_ = false;
  std::string refusal_;  ///< the browser's words when it refused a command that must work
};

}  // namespace reprise
