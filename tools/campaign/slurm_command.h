#pragma once

// Runs the commands of Slurm.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace reprise {

/// The output of a command; nothing after an error, which is printed. With patience, what fails is
/// run again for ten minutes, or until the user interrupts: a controller restarts within minutes.
std::optional<std::string> run_slurm(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     bool is_patient = false);

/// Sleeps until squeue should be asked again about a queue of so many tasks, 2 s to one minute;
/// less if the user interrupts.
void sleep_between_polls(std::size_t tasks = 0);

}  // namespace reprise
