#pragma once

// Runs small programs (certutil, chromium --version) and reads their output.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace reprise {

/// The program with this name on PATH.
std::optional<std::filesystem::path> find_program(std::string_view name);

/// Enough for what small programs print.
inline constexpr std::size_t kProgramOutputBytesMax = 1 << 20;

struct ProgramResult {
  int exit_code = 0;   ///< 128 + N if signal N ended it
  std::string output;  ///< standard output and error, as they were printed
};

/// Runs `program` without a shell, a terminal or input, and waits for it. After `timeout` it is
/// killed with its child processes. Errors: posix_spawn(3)'s; timed_out; message_size for
/// more than `output_bytes_max` of output.
Result<ProgramResult> run_program(const std::filesystem::path& program,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds timeout = std::chrono::seconds(10),
                                  std::size_t output_bytes_max = kProgramOutputBytesMax);

}  // namespace reprise
