#include "base/system/machine_sample.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/clock.h"
#include "base/system/control_groups.h"
#include "base/system/kernel_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using Time = MachineSample::Time;

Time from_ticks(std::uint64_t ticks) {
  static auto const per_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return Time(static_cast<Time::rep>(ticks * (1'000'000'000 / per_second)));
}

using Ticks = std::vector<std::uint64_t>;

/// From the words after "cpu": user nice system idle iowait irq softirq steal ... (proc(5)).
void add_processor(const Ticks& ticks, MachineSample& sample) {
  if (ticks.size() < 7) return;
  sample.busy += from_ticks(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]);
  if (ticks.size() > 7) sample.steal = sample.steal.value_or(Time(0)) + from_ticks(ticks[7]);
}

/// Those of a list of the kernel: "0,2-3".
std::set<std::uint64_t> processors_in(std::string list) {
  constexpr std::uint64_t kProcessorsMax = 8192;  // that Linux can have
  std::ranges::replace(list, ',', ' ');
  std::set<std::uint64_t> out;
  std::istringstream ranges(list);
  for (std::string range; ranges >> range;) {  // "3" or "8-11"
    std::ranges::replace(range, '-', ' ');
    auto const ends = numbers_in(range);
    if (ends.empty() || ends.back() >= kProcessorsMax) continue;
    for (auto each = ends.front(); each <= ends.back(); ++each) out.insert(each);
  }
  return out;
}

/// The processors that this process may use; nothing where the kernel does not tell.
std::set<std::uint64_t> permitted_processors(const fs::path& proc) {
  auto const status = kernel_text(proc / "self/status");
  return processors_in(line_after(status, "Cpus_allowed_list:").value_or(""));
}

/// Returns whether these are all that are online.
bool read_processors(const fs::path& proc, MachineSample& sample) {
  auto const text = kernel_text(proc / "stat");
  auto const permitted = permitted_processors(proc);
  std::vector<Ticks> own;
  std::size_t online = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool const is_processor = line.starts_with("cpu") && !line.starts_with("cpu ");
    if (!is_processor) continue;
    ++online;
    auto ticks = numbers_in(std::string_view(line).substr(3));
    bool const is_own = !ticks.empty() && permitted.contains(ticks[0]);
    if (!is_own) continue;
    ticks.erase(ticks.begin());  // its number
    own.push_back(std::move(ticks));
  }
  if (own.empty() || own.size() == online) {
    add_processor(numbers_in(line_after(text, "cpu ").value_or("")), sample);
    sample.processors = static_cast<unsigned>(std::max<std::size_t>(1, online));
    return true;
  }
  for (const Ticks& each : own) add_processor(each, sample);
  sample.processors = static_cast<unsigned>(own.size());
  return false;
}

std::optional<Time> read_pressure(const fs::path& file) {
  auto const line = line_after(kernel_text(file), "some ");
  auto const at = line ? line->find("total=") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  auto const total = numbers_in(line->substr(at + 6));
  return total.empty() ? std::nullopt : std::optional(std::chrono::microseconds(total[0]));
}

/// "/autogroup-123 nice -19"; nothing where the kernel does not group processes by session.
std::optional<int> session_nice(const fs::path& proc) {
  std::istringstream words(kernel_text(proc / "self/autogroup"));
  std::string name, word;
  int nice = 0;
  if (!(words >> name >> word >> nice)) return std::nullopt;
  return nice;
}

/// Whether a control group runs on the processors alone that this process may use. Not so after
/// taskset(1): the group's other processes can run elsewhere, and its processor time is of all.
bool runs_beside_us_alone(const ControlGroups& groups, const fs::path& proc) {
  auto const of_group = processors_in(groups.weighed_processors);
  return !of_group.empty() && std::ranges::includes(permitted_processors(proc), of_group);
}

/// A session has a weight only outside of all groups that have one.
void read_groups(const fs::path& proc, const fs::path& sys, bool all_processors,
                 MachineSample& sample) {
  auto const groups = ControlGroups::read(proc, sys);
  sample.throttled = groups.throttled;
  sample.quota = groups.quota;
  sample.quota_busy = groups.quota_busy;
  sample.own_nice = ::getpriority(PRIO_PROCESS, 0);
  if (!groups.is_weighed) {
    sample.own_nice = std::max(sample.own_nice, session_nice(proc).value_or(sample.own_nice));
  } else if (groups.weighed_busy && (all_processors || runs_beside_us_alone(groups, proc))) {
    sample.group_busy = groups.weighed_busy;
  } else {
    sample.own_nice = std::max(sample.own_nice, 0);
  }
}

std::optional<double> read_frequency(const fs::path& sys) {
  double sum = 0;
  unsigned count = 0;
  std::error_code error;
  for (auto const& each : fs::directory_iterator(sys / "devices/system/cpu", error)) {
    auto const khz = numbers_in(kernel_text(each.path() / "cpufreq/scaling_cur_freq"));
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
  Time busy{0};           ///< its own
  Time children_busy{0};  ///< of those that have ended, and it has waited for
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
                 .busy = from_ticks(fields[11] + fields[12]),
                 .children_busy = from_ticks(fields[13] + fields[14])};
}

Time waiting_of(const fs::path& process) {
  Time sum{0};
  std::error_code error;
  for (auto const& task : fs::directory_iterator(process / "task", error)) {
    auto const fields = numbers_in(kernel_text(task.path() / "schedstat"));
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
    if (auto const process = parse_stat(kernel_text(each.path() / "stat"))) all[number] = *process;
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
    sample.own_busy += process.busy + process.children_busy;
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
    auto const process = parse_stat(kernel_text(proc / number / "stat"));
    if (i > 0 && process) all.push_back(*process);
    // Chromium starts others from its first thread alone.
    auto const children = numbers_in(kernel_text(proc / number / "task" / number / "children"));
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
  bool const all_processors = read_processors(proc, sample);
  read_groups(proc, sys, all_processors, sample);
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
  for (Process const& each : descendants(proc)) sum += each.busy + each.children_busy;
  return sum;
}

MachineSample::Time processor_time_of(pid_t process, const fs::path& proc) {
  auto const read = parse_stat(kernel_text(proc / std::to_string(process) / "stat"));
  return read ? read->busy : Time(0);
}

std::optional<std::chrono::nanoseconds> halt_poll_time(const fs::path& sys) {
  auto const driver = kernel_text(sys / "devices/system/cpu/cpuidle/current_driver");
  auto const time = numbers_in(kernel_text(sys / "module/haltpoll/parameters/guest_halt_poll_ns"));
  if (!driver.starts_with("haltpoll") || time.empty()) return std::nullopt;
  return std::chrono::nanoseconds(time[0]);
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
          .stopped = after.own_stopped,
          .began_ms = to_ms(before.monotonic),
          .group_ms = grown(before.group_busy, after.group_busy),
          .quota = after.quota,
          .quota_ms = grown(before.quota_busy, after.quota_busy)};
}

}  // namespace reprise
