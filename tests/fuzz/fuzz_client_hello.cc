// Any bytes as the first that a client sends. Besides memory errors, it looks for verdicts that
// depend on how the bytes were cut into reads.

#include <cstdlib>

#include "proxy/tls/client_hello.h"

namespace reprise {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_host_name(const std::string& name) {
  require(name.size() <= 255);
  for (char const c : name) require(c > ' ' && c < 0x7f && c != '/' && !(c >= 'A' && c <= 'Z'));
}

/// A verdict on the first bytes stays, whatever comes after them.
void check_prefix(std::span<const std::byte> stream, std::size_t count,
                  const Result<std::optional<ClientHello>>& whole) {
  auto const early = parse_client_hello(stream.first(count));
  if (!early) {
    require(!whole && whole.error() == early.error());
  } else if (*early) {
    require(whole && *whole && (*whole)->extensions == (*early)->extensions);
  }
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace reprise;
  std::span const stream(reinterpret_cast<const std::byte*>(data), size);
  auto const whole = parse_client_hello(stream);
  if (whole && *whole) check_host_name((*whole)->server_name);
  if (whole && !*whole) require(size < kClientHelloBytesMax);
  for (std::size_t const count : {size / 4, size / 2, size - size / 4}) {
    check_prefix(stream, count, whole);
  }
  return 0;
}
