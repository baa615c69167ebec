#include "base/system/machine_sample.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/clock.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using Time = MachineSample::Time;

Time from_ticks(std::uint64_t ticks) {
  static auto const per_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return Time(static_cast<Time::rep>(ticks * (1'000'000'000 / per_second)));
}

/// A whole file, as /proc gives it; empty if it cannot be read.
std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

/// The whole numbers among the words of `line`; others count as 0.
std::vector<std::uint64_t> numbers_in(std::string_view line) {
  std::vector<std::uint64_t> out;
  std::istringstream words{std::string(line)};
  for (std::string word; words >> word;) {
    std::uint64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    out.push_back(value);
  }
  return out;
}

/// The first line that begins with `name`, without it.
std::optional<std::string> line_after(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return std::nullopt;
}

void read_processors(const fs::path& proc, MachineSample& sample) {
  auto const text = text_of_file(proc / "stat");
  // user nice system idle iowait irq softirq steal ... (proc(5))
  auto const all = numbers_in(line_after(text, "cpu ").value_or(""));
  if (all.size() < 7) return;
  sample.busy = from_ticks(all[0] + all[1] + all[2] + all[5] + all[6]);
  if (all.size() > 7) sample.steal = from_ticks(all[7]);
  unsigned processors = 0;
  for (auto at = text.find("\ncpu"); at != text.npos; at = text.find("\ncpu", at + 1)) ++processors;
  sample.processors = std::max(1U, processors);
}

std::optional<Time> read_pressure(const fs::path& file) {
  auto const line = line_after(text_of_file(file), "some ");
  auto const at = line ? line->find("total=") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  auto const total = numbers_in(line->substr(at + 6));
  return total.empty() ? std::nullopt : std::optional(std::chrono::microseconds(total[0]));
}

/// The sum over all groups from this process's up, in version 2 and in version 1 of cgroups(7).
std::optional<Time> read_throttled(const fs::path& proc, const fs::path& sys) {
  std::optional<Time> out;
  std::istringstream lines(text_of_file(proc / "self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    auto const first = line.find(':');
    auto const second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    auto const controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    bool const unified = controllers == ",,";
    if (!unified && controllers.find(",cpu,") == std::string::npos) continue;
    auto const root = unified ? sys / "fs/cgroup" : sys / "fs/cgroup/cpu";
    fs::path group(line.substr(second + 1));
    for (;; group = group.parent_path()) {
      auto const stat = text_of_file(root / group.relative_path() / "cpu.stat");
      auto const micro = line_after(stat, "throttled_usec ");
      auto const nano = line_after(stat, "throttled_time ");
      if (micro) out = out.value_or(Time(0)) + std::chrono::microseconds(numbers_in(*micro).at(0));
      if (nano) out = out.value_or(Time(0)) + Time(numbers_in(*nano).at(0));
      if (!group.has_relative_path()) break;
    }
  }
  return out;
}

std::optional<double> read_frequency(const fs::path& sys) {
  double sum = 0;
  unsigned count = 0;
  std::error_code error;
  for (auto const& each : fs::directory_iterator(sys / "devices/system/cpu", error)) {
    auto const khz = numbers_in(text_of_file(each.path() / "cpufreq/scaling_cur_freq"));
    if (khz.empty()) continue;
    sum += static_cast<double>(khz[0]) / 1000;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

struct Process {
  pid_t parent = 0;
  char state = 'R';
  std::uint64_t major_faults = 0;
  Time busy{0};
};

/// Of /proc/PID/stat, whose second field is a name that may have any character.
std::optional<Process> parse_stat(const std::string& text) {
  auto const name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return std::nullopt;
  auto const fields = numbers_in(std::string_view(text).substr(name_end + 2));  // from "state" on
  if (fields.size() < 15) return std::nullopt;
  return Process{.parent = static_cast<pid_t>(fields[1]),
                 .state = text[name_end + 2],
                 .major_faults = fields[9] + fields[10],
                 .busy = from_ticks(fields[11] + fields[12] + fields[13] + fields[14])};
}

Time waiting_of(const fs::path& process) {
  Time sum{0};
  std::error_code error;
  for (auto const& task : fs::directory_iterator(process / "task", error)) {
    auto const fields = numbers_in(text_of_file(task.path() / "schedstat"));
    if (fields.size() >= 2) sum += Time(fields[1]);
  }
  return sum;
}

/// The number that `proc` has for this process, which may be another namespace's.
pid_t own_number(const fs::path& proc) {
  std::error_code error;
  auto const link = fs::read_symlink(proc / "self", error).string();
  pid_t number = 0;
  std::from_chars(link.data(), link.data() + link.size(), number);
  return number;
}

void read_own(const fs::path& proc, pid_t root, MachineSample& sample) {
  std::map<pid_t, Process> all;
  std::error_code error;
  for (auto const& each : fs::directory_iterator(proc, error)) {
    auto const name = each.path().filename().string();
    pid_t number = 0;
    auto const parsed = std::from_chars(name.data(), name.data() + name.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    if (auto const process = parse_stat(text_of_file(each.path() / "stat"))) all[number] = *process;
  }
  auto const is_own = [&](pid_t number) {
    for (int depth = 0; depth < 64 && number != 0; ++depth) {
      if (number == root) return true;
      auto const at = all.find(number);
      if (at == all.end()) return false;
      number = at->second.parent;
    }
    return false;
  };
  for (auto const& [number, process] : all) {
    if (!is_own(number)) continue;
    sample.own_busy += process.busy;
    sample.own_major_faults += process.major_faults;
    sample.own_stopped = sample.own_stopped || process.state == 'T';
    sample.own_waiting += waiting_of(proc / std::to_string(number));
  }
}

/// The processes that descend from this one.
std::vector<Process> descendants(const fs::path& proc) {
  constexpr std::size_t kProcessesMax = 1000;
  std::vector<Process> all;
  std::vector<std::uint64_t> found{static_cast<std::uint64_t>(own_number(proc))};
  for (std::size_t i = 0; i < found.size() && found.size() < kProcessesMax; ++i) {
    auto const number = std::to_string(found[i]);
    auto const process = parse_stat(text_of_file(proc / number / "stat"));
    if (i > 0 && process) all.push_back(*process);
    // Chromium starts others from its first thread alone.
    auto const children = numbers_in(text_of_file(proc / number / "task" / number / "children"));
    found.insert(found.end(), children.begin(), children.end());
  }
  return all;
}

double to_ms(Time time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

double grown(Time before, Time after) {
  return std::max(0.0, to_ms(after - before));
}

std::optional<double> grown(std::optional<Time> before, std::optional<Time> after) {
  if (!before || !after) return std::nullopt;
  return grown(*before, *after);
}

}  // namespace

MachineSample MachineSample::take(pid_t root, const fs::path& proc, const fs::path& sys) {
  MachineSample sample;
  read_own(proc, root != 0 ? root : own_number(proc), sample);
  sample.own_nice = ::getpriority(PRIO_PROCESS, 0);
  read_processors(proc, sample);
  sample.throttled = read_throttled(proc, sys);
  sample.cpu_pressure = read_pressure(proc / "pressure/cpu");
  sample.io_pressure = read_pressure(proc / "pressure/io");
  sample.memory_pressure = read_pressure(proc / "pressure/memory");
  sample.frequency_mhz = read_frequency(sys);
  sample.monotonic = read_clock(CLOCK_MONOTONIC);
  sample.boot = read_clock(CLOCK_BOOTTIME);
  sample.wall = read_clock(CLOCK_REALTIME);
  return sample;
}

bool is_descendant_stopped(const fs::path& proc) {
  auto const all = descendants(proc);
  return std::ranges::any_of(all, [](const Process& each) { return each.state == 'T'; });
}

MachineSample::Time descendants_busy(const fs::path& proc) {
  Time sum{0};
  for (Process const& each : descendants(proc)) sum += each.busy;
  return sum;
}

std::optional<std::chrono::nanoseconds> halt_poll_time(const fs::path& sys) {
  auto const driver = text_of_file(sys / "devices/system/cpu/cpuidle/current_driver");
  auto const time = numbers_in(text_of_file(sys / "module/haltpoll/parameters/guest_halt_poll_ns"));
  if (!driver.starts_with("haltpoll") || time.empty()) return std::nullopt;
  return std::chrono::nanoseconds(time[0]);
}

double MachineActivity::others_share() const {
  auto const capacity = span_ms * processors;
  return capacity > 0 ? std::clamp((busy_ms - own_ms) / capacity, 0.0, 1.0) : 0;
}

MachineActivity activity_between(const MachineSample& before, const MachineSample& after) {
  auto const passed = after.monotonic - before.monotonic;
  return {.span_ms = std::max(0.0, to_ms(passed)),
          .processors = after.processors,
          .busy_ms = grown(before.busy, after.busy),
          .own_ms = grown(before.own_busy, after.own_busy),
          .own_nice = after.own_nice,
          .steal_ms = grown(before.steal, after.steal),
          .throttled_ms = grown(before.throttled, after.throttled),
          .cpu_pressure_ms = grown(before.cpu_pressure, after.cpu_pressure),
          .io_pressure_ms = grown(before.io_pressure, after.io_pressure),
          .memory_pressure_ms = grown(before.memory_pressure, after.memory_pressure),
          .frequency_mhz = after.frequency_mhz,
          .own_waiting_ms = grown(before.own_waiting, after.own_waiting),
          .own_major_faults =
              after.own_major_faults < before.own_major_faults
                  ? 0
                  : static_cast<double>(after.own_major_faults - before.own_major_faults),
          .suspended_ms = std::max(0.0, to_ms(after.boot - before.boot - passed)),
          .clock_step_ms = to_ms(after.wall - before.wall - (after.boot - before.boot)),
          .stopped = after.own_stopped};
}

}  // namespace reprise
