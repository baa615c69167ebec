#include "proxy/quic/quic_error.h"

#include <ngtcp2/ngtcp2.h>

#include <algorithm>
#include <string>

namespace reprise {
namespace {

/// RFC 9000 section 20.1: 0x100 and the TLS alert.
constexpr int kFirstAlert = 0x100;
constexpr int kLastAlert = 0x1ff;

class QuicCategory final : public std::error_category {
  const char* name() const noexcept override { return "quic"; }
  std::string message(int code) const override { return ngtcp2_strerror(code); }
};

/// The client's reasons.
class ClosedCategory final : public std::error_category {
  const char* name() const noexcept override { return "quic-closed"; }
  std::string message(int code) const override {
    if (code >= kFirstAlert && code <= kLastAlert) {
      return "the client closed with TLS alert " + std::to_string(code - kFirstAlert);
    }
    return "the client closed with transport error " + std::to_string(code);
  }
};

const std::error_category& closed_category() {
  static const ClosedCategory category;
  return category;
}

}  // namespace

std::error_code quic_error(int library_code) {
  static const QuicCategory category;
  return {library_code, category};
}

std::error_code quic_closed_with(std::uint64_t transport_code) {
  auto const code = std::min<std::uint64_t>(transport_code, std::numeric_limits<int>::max());
  return {static_cast<int>(code), closed_category()};
}

std::optional<int> client_alert_of(std::error_code error) {
  bool const is_alert = error.category() == closed_category() && error.value() >= kFirstAlert &&
                        error.value() <= kLastAlert;
  return is_alert ? std::optional(error.value() - kFirstAlert) : std::nullopt;
}

}  // namespace reprise
