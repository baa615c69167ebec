#pragma once

#include <cstdint>
#include <string>

namespace reprise {

/// The computer that loads were made on. Empty or 0 where the system does not tell.
struct Machine {
  std::string cpu;  ///< its model
  unsigned cores = 0;
  std::string kernel;
  std::uint64_t memory_bytes = 0;
};

/// Of this system.
Machine this_machine();

}  // namespace reprise
