#pragma once

#include "archive/edit/secrets.h"

namespace reprise {

/// The same key for the same seed.
inline Secrets::Key secrets_key(int seed) {
  Secrets::Key made{};
  made.fill(static_cast<std::byte>(seed));
  return made;
}

}  // namespace reprise
