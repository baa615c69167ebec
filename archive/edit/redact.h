#pragma once

// Copies an archive without its secrets.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/copy.h"
#include "archive/edit/secrets.h"
#include "archive/exchange.h"

namespace reprise {

struct RedactOptions {
  bool cookies = true;               ///< values in Cookie and Set-Cookie
  bool authorization = true;         ///< Authorization, Proxy-Authorization, without their scheme
  std::vector<std::string> headers;  ///< globs in lower case: values of these fields
  /// Globs: values in queries, form bodies (of responses, too), URLs in fields.
  std::vector<std::string> parameters;
  bool url_credentials = true;  ///< user:password@ in URLs
  bool bodies = false;          ///< search the bodies of all exchanges for secrets, too
};

/// Decodes and re-encodes bodies; implemented outside, because this folder cannot do it.
struct BodyCoder {
  /// On any error the body is searched in its encoded form.
  std::function<Result<std::string>(HeaderList headers, std::span<const std::byte> coded)> decode;
  /// `before`: the input of decode().
  std::function<std::vector<std::byte>(HeaderList headers, std::string_view plain,
                                       std::span<const std::byte> before)>
      encode;
};

struct RedactReport {
  std::map<std::string, Secrets::Count> counts;
  std::uint64_t exchanges_changed = 0;
  std::uint64_t bodies_changed = 0;
  std::uint64_t messages_changed = 0;             ///< of WebSockets
  std::uint64_t bodies_undecoded = 0;             ///< searched in encoded form
  std::uint64_t bodies_too_large = 0;             ///< over kSearchedBodyBytesMax: not searched
  std::vector<std::string> unmatched_headers;     ///< globs that fitted no field with a value
  std::vector<std::string> unmatched_parameters;  ///< the same for parameters
};
inline constexpr std::uint64_t kSearchedBodyBytesMax = 64 << 20;

/// Copies `from` and replaces each secret that `options` names by a stand-in (secrets.h): where it
/// belongs, and everywhere else in URLs, fields and pages, if it is long enough (and, for cookies,
/// not a plain word). Of the command line only the program's name is kept. Times, connections and
/// names are kept. Reads everything twice. Text messages of WebSockets are searched, too (messages
/// longer than kMessageBytesMax piece by piece), binary ones with `bodies`. Errors: corrupt;
/// too_large (more secrets than Secrets::kBytesMax); write(2)'s.
Result<RedactReport> redact_archive(const ArchiveReader& from, const RedactOptions& options,
                                    const BodyCoder& coder, const Secrets::Key& key,
                                    ArchiveWriter& to);

}  // namespace reprise
