#include <utility>

#include "base/system/private_file.h"
#include "base/text/json_fields.h"
#include "pageload/browser/devtools_session.h"
#include "pageload/browser/driver.h"
#include "pageload/browser/launch.h"
#include "pageload/browser/message_pipe.h"

namespace fs = std::filesystem;

namespace reprise {
namespace {

/// In private windows Chromium blocks the cookies of other sites by default, and therefore gives
/// these sites connections of their own, unlike in normal ones. (components/content_settings:
/// cookie_controls_mode 0 is off.)
Result<void> allow_cookies_of_other_sites(const fs::path& profile) {
  std::error_code error;
  fs::create_directories(profile / "Default", error);
  if (error) return fail(error);
  return write_private_file(R"({"profile":{"cookie_controls_mode":0}})",
                            profile / "Default/Preferences");
}

/// Drives Chromium over --remote-debugging-pipe.
class ChromiumDriver : public BrowserDriver {
 public:
  ChromiumDriver(const BrowserOptions& options, fs::path folder)
      : options_(options), folder_(std::move(folder)) {}

  std::expected<void, std::string> prepare() override {
    auto pipe = make_message_pipe();
    if (!pipe) return std::unexpected(pipe.error().message() + ".");
    pipe_.emplace(std::move(*pipe));
    if (auto const allowed = allow_cookies_of_other_sites(folder_ / "profile"); !allowed) {
      return std::unexpected("its profile cannot be written: " + allowed.error().message() + ".");
    }
    if (options_.authority.empty()) return {};
    return make_trusting_database(folder_ / ".pki/nssdb", options_.authority);
  }

  void describe(GuardedProcess::Options& process) override {
    process.arguments = browser_flags(options_, folder_ / "profile");
    process.environment = browser_environment(folder_);
    process.input_fd = pipe_->browser_reads.get();
    process.output_fd = pipe_->browser_writes.get();
  }

  Result<std::unique_ptr<MessageStream>> connect(GuardedProcess&, TimePoint) override {
    // Only the browser's own ends keep the pipe open.
    auto pipe = std::make_unique<MessagePipe>(std::move(pipe_->ours));
    pipe_.reset();
    return pipe;
  }

  Result<std::string> greet(RemoteConnection& connection, TimePoint deadline) override {
    auto const hello = connection.call({}, "Browser.getVersion", {}, deadline);
    if (!hello) return fail(hello.error());
    return std::string(text_at(hello->result, "product"));
  }

  RemoteCommand install_command(const fs::path& folder) const override {
    return {{}, "Extensions.loadUnpacked", {{"path", folder.string()}}};
  }

  std::unique_ptr<PageSession> open_page(RemoteConnection& connection,
                                         const PageOptions& options) override {
    // A load has a browser of its own, and its page is a normal window, as users have it. Further
    // pages must not find what earlier ones left.
    using Context = DevtoolsSession::Context;
    auto const context = std::exchange(used_, true) ? Context::kPrivate : Context::kNormal;
    return std::make_unique<DevtoolsSession>(connection, options, context);
  }

 private:
  const BrowserOptions& options_;
  fs::path folder_;
  std::optional<MessagePipePair> pipe_;
  bool used_ = false;  // a page was opened
};

}  // namespace

std::unique_ptr<BrowserDriver> make_chromium_driver(const BrowserOptions& options,
                                                    const fs::path& folder) {
  return std::make_unique<ChromiumDriver>(options, folder);
}

}  // namespace reprise
