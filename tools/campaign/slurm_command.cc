#include "tools/campaign/slurm_command.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <thread>
#include <utility>

#include "base/system/program.h"
#include "base/text/counted.h"
#include "base/text/white_space.h"
#include "tools/campaign/campaign_folder.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPollTime(2);
constexpr std::chrono::seconds kPollTimeMax(60);
/// A long queue is much work for the controller, which has all users to serve.
constexpr std::size_t kTasksPerSecond = 500;
constexpr std::chrono::minutes kPatience(10);
/// squeue prints some 80 bytes for each of up to a million tasks.
constexpr std::size_t kOutputBytesMax = 128 << 20;

/// The output, or what is wrong.
std::expected<std::string, std::string> run_once(const std::string& program,
                                                 const std::vector<std::string>& arguments) {
  auto const found = find_program(program);
  if (!found) {
    return std::unexpected(program +
                           " is not on PATH: install slurm-client, or use --engine local");
  }
  auto done = run_program(*found, arguments, std::chrono::seconds(60), kOutputBytesMax);
  if (done && done->exit_code == 0) return std::move(done->output);
  return std::unexpected(program + ": " +
                         (done ? std::string(trim(done->output)) : done.error().message()));
}

}  // namespace

std::optional<std::string> run_slurm(const std::string& program,
                                     const std::vector<std::string>& arguments, bool is_patient) {
  auto const ends = Clock::now() + kPatience;
  for (bool is_first = true;; is_first = false) {
    auto output = run_once(program, arguments);
    if (output) return std::move(*output);
    if (!is_patient || Clock::now() >= ends) {
      say_of_campaign(0, output.error());
      return std::nullopt;
    }
    if (is_first) {
      say_of_campaign(0, output.error() + ". Trying again for " +
                             counted(std::uint64_t{kPatience.count()}, "minute"));
    }
    sleep_between_polls();
    if (Interruption::was_asked()) return std::nullopt;
  }
}

void sleep_between_polls(std::size_t tasks) {
  auto const time =
      std::clamp(std::chrono::seconds(tasks / kTasksPerSecond), kPollTime, kPollTimeMax);
  auto const ends = Clock::now() + time;
  while (!Interruption::was_asked() && Clock::now() < ends) {
    std::this_thread::sleep_for(kPollTime);
  }
}

}  // namespace reprise
