#include "tools/process/say.h"

#include <cstdio>

namespace reprise {

int say(int exit_code, const std::string& text) {
  std::fprintf(stderr, "reprise: %s\n", text.c_str());
  return exit_code;
}

}  // namespace reprise
