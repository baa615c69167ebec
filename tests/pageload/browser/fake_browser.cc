// Speaks the DevTools pipe as a browser would, or wrongly in one of several ways.
//
//   --fake=MODE     what to do, see below; "ok" when missing
//   --notes=FILE    where to write "PID PARENT ORPHAN FOLDER" once all of them are there

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>

namespace json = boost::json;

namespace {

std::string mode = "ok";
std::string held_back;  // a reply for later
pid_t worker = 0;       // of mode "starts": what the browser still does behind a new page

void send_text(std::string_view text) {
  std::string const message = std::string(text) + '\0';
  if (::write(4, message.data(), message.size()) < 0) std::exit(9);
}

void send_event(std::string_view method, json::object params) {
  send_text(json::serialize(
      json::object{{"method", method}, {"params", std::move(params)}, {"sessionId", "S"}}));
}

[[noreturn]] void wait_for_ever() {
  for (;;) ::pause();
}

void send_page_load() {
  send_event("Network.requestWillBeSent",
             {{"requestId", "L"},
              {"loaderId", "L"},
              {"frameId", "F"},
              {"type", "Document"},
              {"timestamp", 100.0},
              {"request", {{"url", "http://a.test/"}, {"method", "GET"}}}});
  send_event("Network.responseReceived",
             {{"requestId", "L"},
              {"timestamp", 100.01},
              {"response", {{"status", 200}, {"mimeType", "text/html"}}}});
  send_event("Page.frameNavigated",
             {{"frame", {{"id", "F"}, {"loaderId", "L"}, {"url", "http://a.test/"}}}});
  send_event("Network.loadingFinished",
             {{"requestId", "L"}, {"timestamp", 100.02}, {"encodedDataLength", 120}});
  send_event("Page.loadEventFired", {{"timestamp", 100.03}});
}

/// For that long on a processor.
void work(double seconds) {
  worker = ::fork();
  if (worker != 0) return;
  while (std::clock() < seconds * CLOCKS_PER_SEC) {
  }
  std::_Exit(0);
}

void on_navigate(const std::string& reply) {
  if (mode == "starts" && ::waitpid(worker, nullptr, WNOHANG) == 0) {
    ::kill(worker, SIGKILL);
    ::kill(::getpid(), SIGKILL);
  }
  if (mode == "dies") ::kill(::getpid(), SIGKILL);
  if (mode == "hangs") wait_for_ever();
  if (mode == "late") {
    held_back = reply;
    return;
  }
  send_text(reply);
  if (mode == "crashes") {
    send_event("Inspector.targetCrashed", {});
  } else {
    send_page_load();
  }
}

void on_command(const json::object& command) {
  auto const method = command.at("method").as_string();
  if (mode == "garbage") return send_text("<html>this is not the protocol</html>");
  json::object result;
  if (method == "Browser.getVersion") result["product"] = "Fake/1";
  if (method == "Target.createBrowserContext") result["browserContextId"] = "C";
  if (method == "Target.createTarget") result["targetId"] = "F";
  if (method == "Target.createTarget" && mode == "starts") work(.3);
  if (method == "Target.attachToTarget") result["sessionId"] = "S";
  if (method == "Runtime.evaluate") result["result"] = {{"value", "<html></html>"}};
  if (method == "Network.getResponseBody") result["body"] = "hello";
  auto const reply =
      json::serialize(json::object{{"id", command.at("id")}, {"result", std::move(result)}});
  if (method == "Target.createTarget" && mode == "closes") {
    ::close(3);
    ::close(4);
    wait_for_ever();
  }
  if (method == "Target.createTarget" && mode == "refuses") {
    return send_text(json::serialize(
        json::object{{"id", command.at("id")}, {"error", {{"message", "no more pages"}}}}));
  }
  if (method == "Extensions.loadUnpacked" && mode == "refuses-extensions") {
    return send_text(json::serialize(
        json::object{{"id", command.at("id")}, {"error", {{"message", "no manifest"}}}}));
  }
  if (method == "Extensions.loadUnpacked" && mode == "dies-of-extensions") {
    ::kill(::getpid(), SIGKILL);
  }
  if (method == "Page.navigate") return on_navigate(reply);
  bool const closes = method == "Target.closeTarget" || method == "Target.disposeBrowserContext";
  if (closes && !held_back.empty()) send_text(held_back);
  send_text(reply);
}

/// A process that tries to get away: its own session, its parent gone.
pid_t make_orphan() {
  int fds[2];
  if (::pipe(fds) != 0) std::exit(9);
  pid_t const middle = ::fork();
  if (middle == 0) {
    pid_t const orphan = ::fork();
    if (orphan == 0) {
      ::setsid();
      ::close(3);
      ::close(4);
      wait_for_ever();
    }
    if (::write(fds[1], &orphan, sizeof orphan) < 0) std::exit(9);
    std::_Exit(0);
  }
  pid_t orphan = 0;
  if (::read(fds[0], &orphan, sizeof orphan) < 0) std::exit(9);
  return orphan;
}

}  // namespace

int main(int argc, char** argv) {
  std::string notes;
  std::string folder;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument = argv[i];
    if (argument.starts_with("--fake=")) mode = argument.substr(7);
    if (argument.starts_with("--notes=")) notes = argument.substr(8);
    if (argument.starts_with("--user-data-dir=")) folder = argument.substr(16);
  }
  for (int const number : {SIGTERM, SIGINT, SIGHUP}) ::signal(number, SIG_IGN);
  if (!notes.empty()) {
    std::ofstream(notes) << ::getpid() << ' ' << ::getppid() << ' ' << make_orphan() << ' '
                         << folder << '\n';
  }
  if (mode == "exits") {
    std::fputs("first line\nno display, sorry\n", stderr);
    return 3;
  }
  if (mode == "silent") wait_for_ever();
  std::string text;
  char byte = 0;
  while (::read(3, &byte, 1) == 1) {
    if (byte != '\0') {
      text += byte;
      continue;
    }
    on_command(json::parse(text).as_object());
    text.clear();
  }
  return 0;
}
