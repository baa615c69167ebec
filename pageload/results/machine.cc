#include "pageload/results/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

namespace reprise {
namespace {

/// The value of the first line `name : value` of a file under /proc.
std::string first_line_of(const std::filesystem::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    auto const at = line.find_first_not_of(" \t", line.find(':') + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return {};
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = first_line_of("/proc/cpuinfo", "model name");
  machine.cores = std::thread::hardware_concurrency();
  struct utsname system{};
  if (::uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release;
  auto const pages = ::sysconf(_SC_PHYS_PAGES);
  auto const page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    machine.memory_bytes =
        static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  return machine;
}

}  // namespace reprise
