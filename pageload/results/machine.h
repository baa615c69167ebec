#pragma once

#include <cstdint>
#include <string>

namespace reprise {

/// The computer that made the loads. Fields are empty or 0 if the system does not provide them.
struct Machine {
  std::string cpu;  ///< its model
  unsigned cores = 0;
  std::string kernel;
  std::uint64_t memory_bytes = 0;
};

/// The machine of this process.
Machine this_machine();

}  // namespace reprise
