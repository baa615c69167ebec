#include <linux/capability.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/system/descriptor.h"
#include "base/system/machine_sample.h"
#include "base/system/program.h"
#include "pageload/browser/launch.h"
#include "pageload/browser/nss_database.h"
#include "proxy/tls/certificate_authority.h"
#include "shaper/packet/packet_shell.h"
#include "tools/commands.h"
#include "tools/machine/quiet_checks.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr rlim_t kOpenFilesMin = 1024;

/// Browsers' start scripts may print warnings before the version.
std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \r\n") + 1);
  auto const end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

Check check_browser(const std::string& name, const std::vector<std::string>& programs,
                    const std::string& package, bool needed) {
  Check check{.name = name, .needed = needed};
  for (const std::string& program : programs) {
    auto const found = find_browser(program);
    if (!found) continue;
    auto const version = run_program(*found, {"--version"});
    check.ok = version && version->exit_code == 0;
    check.detail =
        found->string() + ": " + (version ? last_line(version->output) : version.error().message());
    if (check.ok) return check;
  }
  if (check.detail.empty()) check.detail = "not on PATH";
  check.fix = "sudo apt-get install " + package;
  return check;
}

/// Whether a process of this user can have a user namespace and rights in it. Some systems permit
/// the namespace and refuse the rights.
bool can_have_user_namespace() {
  auto const child = ::fork();
  if (child < 0) return false;
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER) == 0 && ::unshare(CLONE_NEWPID) == 0 ? 0 : 1);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The program with which Chromium makes its sandbox where users can have no namespaces, if it gets
/// the rights of root here. It is beside the browser, of which Debian has only a script on PATH.
std::optional<fs::path> setuid_sandbox() {
  bool const root_is_root = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 &&
                            ::prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1;
  if (!root_is_root) return std::nullopt;
  std::vector<fs::path> folders{"/usr/lib/chromium"};
  std::error_code ignored;
  if (auto const browser = find_browser({})) {
    folders.push_back(fs::canonical(*browser, ignored).parent_path());
  }
  for (const fs::path& folder : folders) {
    auto path = folder / "chrome-sandbox";
    struct stat file{};
    bool const found = ::stat(path.c_str(), &file) == 0;
    if (found && file.st_uid == 0 && (file.st_mode & S_ISUID) != 0) return path;
  }
  return std::nullopt;
}

/// Of Chromium, which starts without one only if it is told to; reprise does that for root.
std::optional<Check> check_sandbox() {
  if (::geteuid() == 0) return std::nullopt;
  Check check{.name = "sandbox", .ok = true, .needed = true};
  if (can_have_user_namespace()) {
    check.detail = "Chromium can make its own: user namespaces are permitted";
  } else if (auto const program = setuid_sandbox()) {
    check.detail = program->string();
  } else {
    check.ok = false;
    check.detail =
        "Chromium cannot start: it may not make user namespaces, and has no setuid "
        "chrome-sandbox";
    check.fix =
        "sudo apt-get install chromium-sandbox; in a container, docker run --security-opt "
        "seccomp=unconfined; or --chromium-flag=--no-sandbox of load and record";
  }
  return check;
}

/// Creates one, which takes some hundredths of a second.
Check check_packet_link() {
  Check check{.name = "packet link", .detail = "available (--link, reprise shape)"};
  auto const shell = PacketShell::start({});
  check.ok = shell.has_value();
  if (check.ok) return check;
  check.detail = shell.error().what + " (--link, reprise shape)";
  check.fix = shell.error().fix;
  return check;
}

/// Whether a listener could bind the default address.
Check check_port(const std::string& flag, std::uint16_t port, int type) {
  Check check{.name = "port " + std::to_string(port) + (type == SOCK_DGRAM ? "/udp" : "/tcp"),
              .needed = true,
              .detail = "free (" + flag + ")"};
  Descriptor const socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  int const on = 1;
  if (type == SOCK_STREAM) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  check.ok =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      (type == SOCK_DGRAM || ::listen(socket.get(), 1) == 0);
  if (check.ok) return check;
  check.detail = std::string(std::strerror(errno)) + " (" + flag + ")";
  check.fix = "stop the program that uses it (ss -lnp 'sport = :" + std::to_string(port) +
              "'), or use " + flag + " 127.0.0.1:0";
  return check;
}

Check check_authority(std::optional<std::string>& common_name) {
  auto const folder = CertificateAuthority::default_directory();
  Check check{.name = "ca", .needed = true};
  auto const authority = CertificateAuthority::open(folder);
  if (authority) {
    common_name = authority->common_name();
    check.ok = true;
    check.detail = *common_name + " in " + folder.string();
  } else if (authority.error() == std::errc::no_such_file_or_directory) {
    check.ok = true;
    check.detail = "none yet; created on first use in " + folder.string();
  } else {
    check.detail = folder.string();
    check.fix = authority.error().message();
  }
  return check;
}

Check check_certutil() {
  auto const program = find_certutil();
  return {.name = "certutil",
          .ok = program.has_value(),
          .detail = program ? program->string() : "not on PATH (reprise ca install)",
          .fix = program ? "" : "sudo apt-get install libnss3-tools"};
}

Check check_trust(const std::optional<std::string>& common_name) {
  Check check{.name = "ca trusted"};
  for (const auto& database : nss_databases()) {
    auto const names = trusted_authorities(database);
    if (!names || !common_name || std::ranges::find(*names, *common_name) == names->end()) continue;
    check.ok = true;
    check.detail = "by Chromium and Chrome (" + database.string() + ")";
    return check;
  }
  check.detail = "not by your own Chromium or Chrome; browsers started by reprise do not need it";
  check.fix = "reprise ca install";
  return check;
}

Check check_seccomp() {
  Check check{
      .name = "seccomp", .needed = true, .detail = "the kernel can deny a replay the network"};
  std::uint32_t const action = SECCOMP_RET_ERRNO;
  check.ok = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
  if (check.ok) return check;
  check.detail = std::strerror(errno);
  check.fix = "use a kernel with CONFIG_SECCOMP_FILTER (4.14 or later)";
  return check;
}

Check check_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  bool const ok = limit.rlim_cur >= kOpenFilesMin;
  return {.name = "open files",
          .ok = ok,
          .needed = true,
          .detail = "limit " + std::to_string(limit.rlim_cur),
          .fix = ok ? "" : "ulimit -n " + std::to_string(kOpenFilesMin)};
}

/// Of a virtual machine whose processors halt at once when they are idle: a busy host wakes them
/// late, and calls the wait steal. Linux's haltpoll watches for work a while before it halts.
std::optional<Check> check_idle_processors() {
  auto const time = halt_poll_time();
  if (!time) return std::nullopt;
  Check check{.name = "awake", .detail = "idle processors watch for work before they halt"};
  check.ok = *time >= std::chrono::milliseconds(5);
  if (check.ok) return check;
  check.detail =
      "this virtual machine's processors halt as soon as they are idle; a busy host wakes them "
      "late (steal), which disturbs loads";
  check.fix =
      "for measurements, echo 20000000 | sudo tee /sys/module/haltpoll/parameters/"
      "guest_halt_poll_ns (docs/noise.md)";
  return check;
}

std::vector<Check> run_checks() {
  std::optional<std::string> common_name;
  std::vector<Check> checks;
  // The one that `load` and `record` would use.
  checks.push_back(check_browser("chromium", {"chromium"}, "chromium", true));
  if (auto sandbox = check_sandbox()) checks.push_back(std::move(*sandbox));
  checks.push_back(check_browser("firefox", {"firefox", "firefox-esr"}, "firefox-esr", false));
  checks.push_back(check_port("--http", 8080, SOCK_STREAM));
  checks.push_back(check_port("--https", 8443, SOCK_STREAM));
  checks.push_back(check_port("--proxy", 8081, SOCK_STREAM));
  checks.push_back(check_port("--dns", 8053, SOCK_STREAM));
  checks.push_back(check_port("--dns", 8053, SOCK_DGRAM));
  checks.push_back(check_authority(common_name));
  checks.push_back(check_seccomp());
  checks.push_back(check_open_files());
  checks.push_back(check_certutil());
  checks.push_back(check_trust(common_name));
  checks.push_back(check_packet_link());
  checks.push_back(check_priority());
  checks.push_back(check_quota());
  if (auto awake = check_idle_processors()) checks.push_back(std::move(*awake));
  return checks;
}

void print_json(const std::vector<Check>& checks, bool ok) {
  json::array list;
  for (const Check& check : checks) {
    list.push_back(json::object{{"name", check.name},
                                {"ok", check.ok},
                                {"needed", check.needed},
                                {"detail", check.detail},
                                {"fix", check.fix}});
  }
  std::printf("%s\n", json::serialize(json::object{{"ok", ok}, {"checks", list}}).c_str());
}

void print_lines(const std::vector<Check>& checks, bool ok) {
  for (const Check& check : checks) {
    std::string line = check.ok ? "ok       " : check.needed ? "MISSING  " : "missing  ";
    line += check.name + std::string(14 - std::min<std::size_t>(13, check.name.size()), ' ');
    line += check.detail;
    if (!check.fix.empty()) line += "; fix: " + check.fix;
    std::printf("%s\n", line.c_str());
  }
  std::printf("%s\n", ok ? "Record and replay have everything they need."
                         : "Record and replay need the items marked MISSING.");
}

int examine(bool as_json) {
  auto const checks = run_checks();
  bool const ok = std::ranges::all_of(checks, [](const Check& c) { return c.ok || !c.needed; });
  as_json ? print_json(checks, ok) : print_lines(checks, ok);
  return ok ? kExitDone : kExitFailed;
}

}  // namespace

void add_doctor_command(CLI::App& app, int& exit_code) {
  auto const as_json = std::make_shared<bool>(false);
  auto* const doctor =
      add_command(app, "doctor",
                  "Check browsers, ports, trust, permissions and what disturbs loads, and print "
                  "fixes");
  doctor->add_flag("--json", *as_json, "Print the checks as JSON");
  doctor->callback([as_json, &exit_code] { exit_code = examine(*as_json); });
}

}  // namespace reprise
