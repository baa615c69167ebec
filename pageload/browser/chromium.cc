#include <algorithm>
#include <chrono>
#include <utility>

#include "base/system/private_file.h"
#include "base/text/json_fields.h"
#include "pageload/browser/devtools_session.h"
#include "pageload/browser/driver.h"
#include "pageload/browser/launch.h"
#include "pageload/browser/message_pipe.h"

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

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

constexpr auto kWorkTime = 30s;
/// Odd, so that one is the median.
constexpr int kSlowdownMeasurements = 7;

/// Some tens of ms on a usual machine. Its value is how long it took.
constexpr auto kPageWork = R"((() => {
  const begun = performance.now();
  for (let i = 0; i < 3; ++i) {
    document.body.innerHTML = '<div><p>a <b>b</b> c</p></div>'.repeat(600);
    document.body.offsetHeight;
  }
  return performance.now() - begun;
})())";

class EmptyPage {
 public:
  explicit EmptyPage(RemoteConnection& connection) : connection_(connection) {}
  ~EmptyPage() {
    if (!target_.empty()) connection_.post({}, "Target.closeTarget", {{"targetId", target_}});
  }
  EmptyPage(const EmptyPage&) = delete;
  EmptyPage& operator=(const EmptyPage&) = delete;

  Result<void> open() {
    // A page that was loaded before may have turned it on; this one must not wait for us.
    connection_.post({}, "Target.setAutoAttach",
                     {{"autoAttach", false}, {"waitForDebuggerOnStart", false}, {"flatten", true}});
    auto const target = ask({}, "Target.createTarget", {{"url", "about:blank"}});
    if (!target) return fail(target.error());
    target_ = text_at(*target, "targetId");
    auto const attached =
        ask({}, "Target.attachToTarget", {{"targetId", target_}, {"flatten", true}});
    if (!attached) return fail(attached.error());
    session_ = text_at(*attached, "sessionId");
    return {};
  }

  /// In ms.
  Result<double> work_at(double rate) {
    auto const set = ask(session_, "Emulation.setCPUThrottlingRate", {{"rate", rate}});
    if (!set) return fail(set.error());
    auto const done =
        ask(session_, "Runtime.evaluate", {{"expression", kPageWork}, {"returnByValue", true}});
    if (!done) return fail(done.error());
    auto const took_ms = number_at(object_at(*done, "result"), "value");
    if (!(took_ms > 0)) return fail(std::make_error_code(std::errc::not_supported));
    return took_ms;
  }

 private:
  Result<json::object> ask(std::string_view session, std::string_view method, json::object params) {
    auto reply = connection_.call(session, method, std::move(params),
                                  std::chrono::steady_clock::now() + kWorkTime);
    if (!reply) return fail(reply.error());
    if (!reply->error.empty()) return fail(std::make_error_code(std::errc::not_supported));
    return std::move(reply->result);
  }

  RemoteConnection& connection_;
  std::string target_, session_;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
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

  /// By the work of parsing, styles and layout, with and without, in turn.
  Result<double> slowdown(RemoteConnection& connection, double rate) override {
    EmptyPage page(connection);
    if (auto const opened = page.open(); !opened) return fail(opened.error());
    if (auto const first = page.work_at(1); !first) return first;  // compiles it
    std::vector<double> ratios;
    for (int i = 0; i < kSlowdownMeasurements; ++i) {
      auto const without_ms = page.work_at(1);
      if (!without_ms) return without_ms;
      auto const with_ms = page.work_at(rate);
      if (!with_ms) return with_ms;
      ratios.push_back(*with_ms / *without_ms);
    }
    return median(std::move(ratios));
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
