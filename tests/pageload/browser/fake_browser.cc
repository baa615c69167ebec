// Speaks the DevTools pipe as a browser would, or wrongly in one of several ways.
//
//   --fake=MODE     what to do, see below; "ok" when missing
//   --notes=FILE    where to write "PID PARENT ORPHAN FOLDER" once all of them are there; mode
//                   "asks" writes to FILE.user, too

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
#include <vector>

namespace json = boost::json;

namespace {

std::string mode = "ok";
std::string notes;
std::string downloads;       // what the browser does with them, and their folder
std::string dialog;          // of mode "asks": what became of that of the user
std::string held_back;       // a reply for later
std::vector<pid_t> workers;  // of mode "starts": what the browser still does behind a new page
int left[2] = {-1, -1};      // of mode "leaves-late": has a byte once the page is left

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

void send_request(std::string_view id, std::string_view loader, std::string_view type,
                  double at_s) {
  send_event("Network.requestWillBeSent",
             {{"requestId", id},
              {"loaderId", loader},
              {"frameId", "F"},
              {"type", type},
              {"timestamp", at_s},
              {"request", {{"url", "http://a.test/"}, {"method", "GET"}}}});
}

void send_page_load(std::string_view id = "L", double at_s = 100) {
  send_request(id, id, "Document", at_s);
  send_event("Network.responseReceived",
             {{"requestId", id},
              {"timestamp", at_s + .01},
              {"response", {{"status", 200}, {"mimeType", "text/html"}}}});
  send_event("Page.frameNavigated",
             {{"frame", {{"id", "F"}, {"loaderId", id}, {"url", "http://a.test/"}}}});
  send_event("Network.loadingFinished",
             {{"requestId", id}, {"timestamp", at_s + .02}, {"encodedDataLength", 120}});
  send_event("Page.loadEventFired", {{"timestamp", at_s + .03}});
}

void send_empty_page() {
  send_event("Page.frameNavigated",
             {{"frame", {{"id", "F"}, {"loaderId", "B"}, {"url", "about:blank"}}}});
  send_event("Page.loadEventFired", {{"timestamp", 101.0}});
}

/// Meanwhile this process takes commands.
void leave_page_late() {
  if (::pipe2(left, O_NONBLOCK | O_CLOEXEC) != 0) std::exit(9);
  if (::fork() != 0) return;
  while (std::clock() < CLOCKS_PER_SEC / 10) {
  }
  if (::write(left[1], "x", 1) != 1) std::_Exit(9);
  send_empty_page();
  std::_Exit(0);
}

/// For that long on a processor, in processes enough to be seen beside those of a busy machine.
void work(double seconds) {
  constexpr int kWorkers = 8;
  for (int i = 0; i < kWorkers; ++i) {
    workers.push_back(::fork());
    if (workers.back() != 0) continue;
    while (std::clock() < seconds / kWorkers * CLOCKS_PER_SEC) {
    }
    std::_Exit(0);
  }
}

/// A page that goes on to another one after some work.
void send_two_pages() {
  send_request("I", "L", "Image", 100);  // keeps the first one from being quiet
  send_page_load();
  work(.3);
  for (pid_t const worker : workers) ::waitpid(worker, nullptr, 0);
  workers.clear();
  send_page_load("M", 100.4);
}

/// A page that logs forever; its browser does not answer any more.
[[noreturn]] void flood() {
  send_request("L", "L", "Document", 100);
  for (;;) {
    send_event("Runtime.consoleAPICalled", {{"type", "log"}});  // waits while the pipe is full
  }
}

void ask() {
  send_event("Page.javascriptDialogOpening", {{"type", "confirm"}});
}

/// Of mode "asks", after the reply: a dialog holds the page back until it is answered; another one
/// opens once the page is left to a user, and the browser ends once what follows was taken.
void go_on_asking(std::string_view method) {
  if (method == "Page.handleJavaScriptDialog") {
    if (dialog.empty()) return send_page_load();
    dialog = "answered";
  } else if (method == "Emulation.clearDeviceMetricsOverride") {
    dialog = "left";
    ask();
    send_event("Target.attachedToTarget", {{"sessionId", "W"},
                                           {"targetInfo", {{"type", "worker"}, {"targetId", "W"}}},
                                           {"waitingForDebugger", true}});
  } else if (method == "Runtime.runIfWaitingForDebugger") {
    std::ofstream(notes + ".user") << dialog << ' ' << downloads << '\n';
    std::exit(0);
  }
}

void on_navigate(const std::string& url, const std::string& reply) {
  char byte = 0;
  if (left[0] >= 0 && ::read(left[0], &byte, 1) != 1) ::kill(::getpid(), SIGKILL);
  std::erase_if(workers, [](pid_t worker) { return ::waitpid(worker, nullptr, WNOHANG) != 0; });
  if (!workers.empty()) {
    for (pid_t const worker : workers) ::kill(worker, SIGKILL);
    ::kill(::getpid(), SIGKILL);
  }
  if (mode == "dies") ::kill(::getpid(), SIGKILL);
  if (mode == "hangs") wait_for_ever();
  if (mode == "floods") flood();
  if (mode == "late") {
    held_back = reply;
    return;
  }
  send_text(reply);
  if (url == "about:blank") {
    return mode == "leaves-late" ? leave_page_late() : send_empty_page();
  }
  if (mode == "crashes") {
    send_event("Inspector.targetCrashed", {});
  } else if (mode == "goes-on") {
    send_two_pages();
  } else if (mode == "asks") {
    ask();
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
  if (method == "IO.read") result = {{"data", "{}"}, {"eof", true}};
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
  if (method == "Page.navigate") {
    return on_navigate(std::string(command.at("params").at("url").as_string()), reply);
  }
  bool const closes = method == "Target.closeTarget" || method == "Target.disposeBrowserContext";
  if (closes && !held_back.empty()) send_text(held_back);
  send_text(reply);
  if (method == "Browser.setDownloadBehavior") {
    auto const& how = command.at("params").as_object();
    downloads = std::string(how.at("behavior").as_string());
    if (how.contains("downloadPath")) {
      downloads += " " + std::string(how.at("downloadPath").as_string());
    }
  }
  if (mode == "asks") go_on_asking(std::string_view(method.data(), method.size()));
  if (method == "Tracing.end") {
    send_event("Tracing.tracingComplete",
               {{"stream", "T"}, {"dataLossOccurred", mode == "overflows"}});
  }
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
