#include "base/text/formatted.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace reprise {

std::string formatted(const char* format, ...) {
  va_list values;
  va_list again;
  va_start(values, format);
  va_copy(again, values);
  auto const size = std::max(0, std::vsnprintf(nullptr, 0, format, values));
  std::string text(static_cast<std::size_t>(size), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(values);
  return text;
}

std::string ms_text(double ms, int decimals) {
  return formatted("%.*f ms", decimals, ms);
}

std::string duration_text(std::chrono::seconds time) {
  auto const s = time.count();
  if (s < 90) return std::to_string(s) + " s";
  auto const minutes = (s + 30) / 60;
  if (minutes < 90) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

}  // namespace reprise
