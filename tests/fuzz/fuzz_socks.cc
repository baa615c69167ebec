// SOCKS5 messages and the lines of standard input, which come from other programs.

#include <cstdlib>
#include <string_view>

#include "tools/tsproxy/settings.h"
#include "tools/tsproxy/socks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise::tsproxy;
  std::span const bytes(data, size);
  if (auto const greeting = read_greeting(bytes); greeting && *greeting > size) std::abort();
  if (auto const request = read_request(bytes)) {
    if (request->size > size || request->size > kSocksBytesMax) std::abort();
  }
  Settings settings;
  auto const before = settings.link();
  std::string_view const line(reinterpret_cast<const char*>(data), size);
  auto const done = run_command(line, settings);
  if (!done && settings.link() != before) std::abort();
  if (done && !check_link(settings)) std::abort();
  return 0;
}
