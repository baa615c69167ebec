#include "proxy/failed_handshakes.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text/ascii.h"
#include "proxy/stream/tls_error.h"
#include "proxy/tls/client_hello.h"

namespace reprise {
namespace {

/// The peer's alert, if the error is one.
std::optional<int> alert_of(std::error_code error) {
  if (error.category() != tls_category() || error.value() == kTlsBrokenOff) return std::nullopt;
  auto const reason = ERR_GET_REASON(static_cast<unsigned>(error.value()));
  if (reason < SSL_AD_REASON_OFFSET) return std::nullopt;
  return reason - SSL_AD_REASON_OFFSET;
}

std::string name_of(int alert) {
  std::string name = SSL_alert_desc_string_long(alert);
  std::ranges::transform(name, name.begin(), [](char c) { return c == ' ' ? '_' : to_lower(c); });
  return name;
}

bool is_distrust(int alert) {
  constexpr std::array kAlerts{SSL_AD_BAD_CERTIFICATE, SSL_AD_UNSUPPORTED_CERTIFICATE,
                               SSL_AD_CERTIFICATE_UNKNOWN, SSL_AD_UNKNOWN_CA};
  return std::ranges::count(kAlerts, alert) > 0;
}

bool is_end(std::error_code error) {
  return (error.category() == tls_category() && error.value() == kTlsBrokenOff) ||
         error == std::errc::connection_reset || error == std::errc::broken_pipe;
}

bool is_malformed(std::error_code error) {
  return error.category() == make_error_code(client_hello_errc::malformed).category();
}

}  // namespace

void FailedHandshakes::add(std::error_code error, std::string_view server_name) {
  if (error == std::errc::operation_canceled) return;  // this side ended it
  auto const alert = alert_of(error);
  std::scoped_lock const lock(mutex_);
  if (alert) {
    ++counts_.alerts[name_of(*alert)];
    warn(*alert, server_name);
  } else if (is_end(error)) {
    ++counts_.closed;
  } else {
    ++(is_malformed(error) ? counts_.malformed : counts_.other);
    warn_other(error, server_name);
  }
}

void FailedHandshakes::add_alert(int alert, std::string_view server_name) {
  std::scoped_lock const lock(mutex_);
  ++counts_.alerts[name_of(alert)];
  warn(alert, server_name);
}

void FailedHandshakes::warn(int alert, std::string_view server_name) {
  if (!is_distrust(alert) || std::exchange(told_distrust_, true)) return;
  spdlog::warn(
      "a client refused the certificate for '{}' (TLS alert: {}): it does not trust the authority "
      "of this proxy. {}",
      server_name, name_of(alert), remedy_);
}

void FailedHandshakes::warn_other(std::error_code error, std::string_view server_name) {
  if (std::exchange(told_other_, true)) return;
  auto const whose = server_name.empty() ? "" : " for '" + std::string(server_name) + "'";
  spdlog::warn("a client's TLS handshake{} failed: {}. Later ones are only counted", whose,
               error.message());
}

FailedHandshakes::Counts FailedHandshakes::counts() const {
  std::scoped_lock const lock(mutex_);
  return counts_;
}

}  // namespace reprise
