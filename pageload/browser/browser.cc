#include "pageload/browser/browser.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "base/system/guarded_process.h"
#include "base/system/private_folder.h"
#include "pageload/browser/driver.h"
#include "pageload/browser/launch.h"
#include "pageload/browser/nss_database.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace reprise {
namespace {

/// How long to wait for the end of a browser that closed its pipe.
constexpr auto kLastWordsTime = 2s;

/// The last line of a browser's standard error, for a message, or empty.
std::string last_line_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  auto const size = static_cast<std::streamoff>(file.tellg());
  file.seekg(std::max<std::streamoff>(0, size - 2048));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(text.find_last_not_of(" \r\n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

std::string describe(const std::error_code& error) {
  if (error == std::errc::message_size) return "it sent a message of more than 256 MiB";
  if (error == std::errc::bad_message) return "it sent an invalid message";
  if (error == std::errc::timed_out) return "it does not answer";
  return "it closed its connection";
}

}  // namespace

std::expected<void, std::string> make_trusting_database(const fs::path& folder,
                                                        const fs::path& file) {
  if (auto made = create_nss_database(folder); !made) return made;
  return trust_authority(folder, "reprise", file);
}

struct Browser::State {
  fs::path folder;
  BrowserOptions options;
  std::vector<std::string> flags;
  std::string version;
  bool usable = true;
  std::unique_ptr<BrowserDriver> driver;
  // In this order: the connection closes first, then the process ends.
  std::unique_ptr<GuardedProcess> process;
  std::unique_ptr<RemoteConnection> connection;

  fs::path error_file() const { return folder / "stderr"; }

  /// The browser's state after `error`, as a clause.
  std::string fate(const std::error_code& error) {
    std::string text = describe(error);
    if (error == std::errc::broken_pipe) {
      auto const status = process->wait_until(std::chrono::steady_clock::now() + kLastWordsTime);
      if (status) text = "it " + describe_wait_status(*status);
    }
    if (auto const line = last_line_of(error_file()); !line.empty()) {
      text += "; its last line on stderr was \"" + line + "\"";
    }
    return text;
  }
};

Browser::Browser(std::unique_ptr<State> state) : state_(std::move(state)) {}
Browser::~Browser() = default;

Result<std::unique_ptr<Browser>> Browser::start(const BrowserOptions& options,
                                                std::string* failure) {
  auto const failed = [failure](std::error_code error, std::string sentence) {
    if (failure != nullptr) *failure = std::move(sentence);
    return fail(error);
  };
  auto const program = find_browser(options.program);
  if (!program) {
    return failed(std::make_error_code(std::errc::no_such_file_or_directory),
                  check_browser(options.program));
  }
  auto folder = make_private_folder("reprise-browser-");
  if (!folder) {
    return failed(folder.error(), "Cannot create a folder for the browser's profile: " +
                                      folder.error().message() + ".");
  }
  auto state = std::make_unique<State>();
  state->folder = *folder;
  state->options = options;
  state->driver = is_firefox(*program) ? make_firefox_driver(state->options, *folder)
                                       : make_chromium_driver(state->options, *folder);
  auto const prepared = state->driver->prepare();
  GuardedProcess::Options process;
  process.program = *program;
  process.favoured = options.favoured;
  process.error_file = state->error_file();
  process.folder = *folder;
  if (!prepared) {
    std::error_code ignored;
    fs::remove_all(*folder, ignored);
    return failed(std::make_error_code(std::errc::no_such_process),
                  "Cannot create a browser profile: " + prepared.error());
  }
  state->driver->describe(process);
  state->flags = process.arguments;
  std::erase_if(state->flags,
                [&](const std::string& flag) { return flag.contains(folder->native()); });
  auto started = GuardedProcess::start(process);
  if (!started) {
    auto const error = started.error();
    return failed(error, program->string() + " could not be started: " + error.message() + ".");
  }
  state->process = std::move(*started);
  auto const deadline = std::chrono::steady_clock::now() + options.start_timeout;
  auto const unusable = [&](const std::error_code& error) {
    return failed(error, program->string() + " could not be used: " + state->fate(error) + ".");
  };
  auto stream = state->driver->connect(*state->process, deadline);
  if (!stream) return unusable(stream.error());
  state->connection = std::make_unique<RemoteConnection>(std::move(*stream));
  auto version = state->driver->greet(*state->connection, deadline);
  if (!version) return unusable(version.error());
  state->version = std::move(*version);
  bool const is_other = !options.program.empty() && !options.program.has_parent_path() &&
                        options.program != program->filename();
  if (is_other) state->version += " (" + program->filename().string() + ")";
  for (const fs::path& extension : options.extensions) {
    auto const reply = state->connection->call(state->driver->install_command(extension), deadline);
    if (!reply) {
      return failed(reply.error(), program->string() + " could not load the extension in " +
                                       extension.string() + ": " + state->fate(reply.error()) +
                                       ".");
    }
    if (!reply->error.empty()) {
      return failed(std::make_error_code(std::errc::not_supported),
                    "The browser does not take the extension in " + extension.string() + ": " +
                        reply->error + (reply->error.ends_with('.') ? "" : ".") +
                        " Correct the extension, or load without it.");
    }
  }
  return std::unique_ptr<Browser>(new Browser(std::move(state)));
}

PageLoad Browser::load(const std::string& url, const PageOptions& options) {
  PageLoad load;
  load.url = url;
  std::error_code error = std::make_error_code(std::errc::broken_pipe);
  if (state_->usable) {
    auto const page = state_->driver->open_page(*state_->connection, options);
    auto const done = page->run(url, state_->options.width, state_->options.height, load);
    if (done) return load;
    error = done.error();
  }
  load.url = url;
  bool const had_ended_anyway = load.outcome != LoadOutcome::kLoaded;
  bool const hangs = error == std::errc::timed_out;
  state_->usable = false;
  if (hangs && had_ended_anyway) return load;
  load.outcome = hangs ? LoadOutcome::kTimedOut : LoadOutcome::kBrowserDied;
  load.failure = "The browser failed: " + state_->fate(error) + ".";
  return load;
}

Result<double> Browser::slowdown(double cpu_throttle) {
  if (!state_->usable) return fail(std::make_error_code(std::errc::broken_pipe));
  auto measured = state_->driver->slowdown(*state_->connection, cpu_throttle);
  state_->usable = measured || measured.error() == std::errc::not_supported;
  return measured;
}

bool Browser::usable() const {
  return state_->usable;
}
std::string Browser::version() const {
  return state_->version;
}
const std::vector<std::string>& Browser::flags() const {
  return state_->flags;
}

}  // namespace reprise
