#include "tools/browser/figure_text.h"

#include <cstdio>

namespace reprise {

std::string size_text(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, bytes < 1'000'000 ? "%.1f kB" : "%.2f MB",
                static_cast<double>(bytes) / (bytes < 1'000'000 ? 1e3 : 1e6));
  return text;
}

std::string ms_text(double ms) {
  if (ms < 0) return "none";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", ms);
  return text;
}

}  // namespace reprise
