#pragma once

#include <expected>
#include <string>
#include <vector>

namespace reprise {

/// Runs a program that takes over the terminal, and waits for it: what is typed there, SIGINT
/// included, is meant for it meanwhile. It is sent SIGTERM should this process end first. Returns
/// its exit status, 128 + N when signal N ended it; the error says why it did not start.
/// `program` is a path.
std::expected<int, std::string> run_in_foreground(const std::string& program,
                                                  const std::vector<std::string>& arguments);

}  // namespace reprise
