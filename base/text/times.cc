#include "base/text/times.h"

#include <array>
#include <ctime>

namespace reprise {

std::string utc_time(std::chrono::system_clock::time_point time) {
  auto const seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 80> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace reprise
