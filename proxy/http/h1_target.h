#pragma once

#include <string>

#include "base/http/h1_parser.h"

namespace reprise {

/// The target of an HTTP/1.x request: scheme, authority and origin-form target (RFC 9112
/// section 3.2). Borrows from the request's head.
struct H1Target {
  /// Defaults for parts that the request does not contain.
  struct Defaults {
    Scheme scheme = Scheme::kHttp;
    std::string_view tunnel_host;  ///< of the CONNECT that it came through, otherwise empty
    std::uint16_t tunnel_port = 0;
    std::string_view server_name;  ///< SNI
  };

  /// Errors: bad_authority, bad_target, not_a_proxy.
  static Result<H1Target> of(const RequestLine& line, HeaderList headers, const Defaults& defaults);

  std::string_view path() const { return path_text_.empty() ? path_ : path_text_; }

  Scheme scheme = Scheme::kHttp;
  Authority authority;

 private:
  std::string_view path_;
  std::string path_text_;  // used instead of path_, unless empty
};

}  // namespace reprise
