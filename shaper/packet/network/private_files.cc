#include "shaper/packet/network/private_files.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/system/descriptor.h"
#include "shaper/packet/network/topology.h"

namespace reprise {
namespace {

constexpr const char* kResolverSettings = "/etc/resolv.conf";
/// Folders that a file system can cover for a moment; the first existing one is used.
constexpr std::array kPlaces{"/tmp", "/run", "/mnt"};
/// Sockets of resolvers that the C library asks through the file system.
constexpr std::array kOtherWays{"/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve"};

bool write_whole(const std::string& path, std::string_view text, int flags) {
  Descriptor const file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0644));
  return file.is_open() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A full queue drops answers like other packets. The C library would ask again after 5 s;
/// browsers' own resolvers do after one or sooner.
constexpr const char* kResolverOptions = "options timeout:1 attempts:5\n";

std::string resolver_text(const std::string& more) {
  in_addr const address{.s_addr = htonl(kServerAddress)};
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address, text.data(), text.size());
  return std::string("nameserver ") + text.data() + "\n" + kResolverOptions + more;
}

}  // namespace

ShellResult<void> write_setting(const std::string& path, const std::string& value) {
  if (write_whole(path, value, 0)) return {};
  auto const reason = errno;
  std::string fix;
  if (reason == EROFS) fix = "in a container: --security-opt systempaths=unconfined, or privileged";
  return shell_failure(path + " cannot be set to " + value, fix, reason);
}

ShellResult<void> make_mounts_private() {
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return shell_failure("the mounts cannot be made private");
  }
  static_cast<void>(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr));
  return {};
}

ShellResult<void> mount_resolver_settings(const std::string& more) {
  const char* place = nullptr;
  for (const char* const candidate : kPlaces) {
    if (place == nullptr &&
        ::mount("none", candidate, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755") == 0) {
      place = candidate;
    }
  }
  if (place == nullptr) return shell_failure("a file system for resolv.conf cannot be mounted");
  auto const file = std::string(place) + "/resolv.conf";
  auto const made = write_whole(file, resolver_text(more), O_CREAT);
  auto const bound =
      made && ::mount(file.c_str(), kResolverSettings, nullptr, MS_BIND, nullptr) == 0;
  auto const reason = errno;
  ::umount2(place, MNT_DETACH);
  if (!bound) {
    return shell_failure(std::string(kResolverSettings) + " cannot be replaced", "create it",
                         reason);
  }
  for (const char* const way : kOtherWays) {
    static_cast<void>(::mount("/dev/null", way, nullptr, MS_BIND, nullptr));
  }
  return {};
}

}  // namespace reprise
