#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/http/message.h"
#include "proxy/connection.h"

namespace reprise::wpr {

/// `--param-to-ignore-in-url-path URL::NAME`: requests for URLs that begin with URL come without
/// the query parameter NAME. Pure.
struct IgnoredParam {
  std::string url_prefix;
  std::string name;

  /// The error is a sentence.
  static std::expected<IgnoredParam, std::string> parse(std::string_view text);
  /// The target without it; nothing if the request has none, or is for another URL.
  std::optional<std::string> stripped(const RequestHead& head) const;
};

/// Passes requests on to `inner` without that parameter: it is neither matched nor recorded, nor
/// sent to the origin, as in Web Page Replay.
class WithoutParam final : public HandlerFactory {
 public:
  /// `inner` must outlive this.
  WithoutParam(HandlerFactory& inner, IgnoredParam param)
      : inner_(inner), param_(std::move(param)) {}
  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

 private:
  HandlerFactory& inner_;
  IgnoredParam const param_;
};

}  // namespace reprise::wpr
