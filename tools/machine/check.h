#pragma once

#include <string>

namespace reprise {

/// The result of one check of `reprise doctor`.
struct Check {
  std::string name;
  bool ok = false;
  bool needed = false;  ///< by record and replay; otherwise optional
  std::string detail;   ///< what was found, or its purpose
  std::string fix;      ///< empty if ok, or if no remedy is known
};

}  // namespace reprise
