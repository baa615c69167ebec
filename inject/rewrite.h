#pragma once

// Puts a script into the document of a response: for a replay, which rewrites a stored response
// once and keeps the result (rewrite()), and for a recorder, which rewrites a response as it
// arrives (Rewriter). Pure; not thread-safe, but an InjectedScript can be shared.

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/coding/coding.h"
#include "inject/csp.h"
#include "inject/search.h"

namespace reprise::inject {

/// The texts to insert into documents and workers. Immutable.
class InjectedScript {
 public:
  struct Texts {
    /// Each in its own element, in this order. Empty: documents are not changed.
    std::vector<std::string> document;
    /// Put before a worker's script, on the same line: complete statements. Empty: workers are not
    /// changed.
    std::string worker;
  };
  /// The texts must be valid in every document: ASCII without carriage returns and NUL, without
  /// "</script", "<!--" and "]]>". Errors: errc::unfit_script.
  static Result<InjectedScript> create(Texts texts);

  bool is_for_documents() const { return !texts_.document.empty(); }
  bool is_for_workers() const { return !texts_.worker.empty(); }
  /// Those of all elements' texts, separated by spaces, as in a policy.
  const std::string& hash_sources() const { return hash_sources_; }
  /// The text to insert at `place`, in its form. `nonce` can be empty. XML gets the XHTML namespace
  /// and CDATA sections.
  std::string inserted(Markup markup, const Place& place, std::string_view nonce) const;

 private:
  explicit InjectedScript(Texts texts);

  Texts texts_;
  std::string hash_sources_;
};

/// What a client uses a response for.
enum class Destination : std::uint8_t {
  kData,      ///< not rewritten, whatever its type: a fetch, an image, a script
  kDocument,  ///< in a window or a frame
  kWorker,    ///< a script of a worker or worklet, except those of importScripts()
};

/// By Sec-Fetch-Dest, and by Sec-Fetch-Mode for documents that a service worker fetches; on http://
/// and for clients without these fields, by Accept and X-Requested-With, which do not distinguish
/// workers. Imports of a module worker are kWorker, too: they run before the module that imports
/// them.
Destination destination_of(HeaderList request_headers);

/// The result for a response.
enum class Verdict : std::uint8_t {
  kRewritten,
  kNoDocument,  ///< data, another type, a redirect, a part, a download, no content
  kNoPlace,     ///< see Search::place()
  kNoScripts,   ///< a sandbox blocks all scripts of the document
  kUndecoded,   ///< its coding could not be decoded, see `error`
};

/// For the report of a load: a benchmark counts bytes.
struct RewriteReport {
  Verdict verdict = Verdict::kNoDocument;
  std::error_code error;              ///< also of a rewritten body: coding::errc::truncated
  std::size_t element_bytes = 0;      ///< inserted, before any content coding
  std::int64_t added_wire_bytes = 0;  ///< growth of the body on the wire; can be negative
  std::size_t offset_bytes = 0;       ///< in the decoded document
  std::string charset_stated;         ///< added to Content-Type
  std::vector<PolicyChange> policy_changes;
  bool requires_trusted_types = false;
};

struct RewriteOptions {
  Destination destination = Destination::kDocument;
  /// For the first coding; a caller can get it from fit_effort(). Nothing: default_effort().
  std::optional<coding::Effort> effort;
  coding::DecodeLimits limits;
};

struct Rewritten {
  RewriteReport report;
  /// The new response's fields; empty, like the body, unless the verdict is kRewritten: then the
  /// response is sent unchanged. ETag, Content-Encoding and all other fields are kept;
  /// Content-Length, Content-MD5, Digest, Repr-Digest and Content-Digest are recomputed (elements
  /// of unknown algorithms are removed); policies and Content-Type change as the report says.
  Headers headers;
  coding::Buffer body;
};

/// Rewrites a whole response. `body` is as on the wire, content-coded. One that ends early in its
/// coding is rewritten as far as it goes.
Rewritten rewrite(const InjectedScript& script, std::uint16_t status, HeaderList headers,
                  std::span<const std::byte> body, const RewriteOptions& options);

/// Rewrites a response as it arrives.
class Rewriter {
 public:
  /// Copies `headers`; borrows `script`.
  Rewriter(const InjectedScript& script, std::uint16_t status, HeaderList headers,
           const RewriteOptions& options);

  /// Adds a piece of the body; appends to `out` what can be sent. Returns no bytes before the head
  /// is known (decided()): at most kHeldBytesMax are held, and after a flush no more than a browser
  /// would wait for. After Until::kEnd everything has been returned. Errors, after the new head was
  /// sent: those of Decoder::write(); `out` has the bytes before the error, and the response must
  /// then be cut off.
  Result<void> write(std::span<const std::byte> coded, coding::Until until, coding::Buffer& out);

  /// For a response that breaks off before decided(): appends to `out` what is held, as received,
  /// and decides to change nothing.
  void give_up(coding::Buffer& out);

  bool decided() const { return state_ != State::kUndecided; }
  /// The head's fields, once decided(). Without Content-Length if it is not known yet, and without
  /// digests: Content-MD5 and the like are known only at the end.
  const Headers& headers() const { return headers_; }
  /// Complete after Until::kEnd.
  const RewriteReport& report() const { return report_; }

  static constexpr std::size_t kHeldBytesMax = 128 * 1024;

 private:
  enum class State : std::uint8_t { kUndecided, kRewriting, kPassing };

  void pass(Verdict verdict, std::error_code error, coding::Buffer& out);
  Result<void> decode(std::span<const std::byte> coded, coding::Until until);
  Result<void> look(coding::Until until, coding::Buffer& out);
  void start(const Place& place, coding::Until until, coding::Buffer& out);

  const InjectedScript& script_;
  RewriteOptions options_;
  Headers headers_;
  State state_ = State::kUndecided;
  RewriteReport report_;
  std::uint64_t in_bytes_ = 0;
  std::uint64_t out_bytes_ = 0;
  std::optional<Markup> markup_;
  std::optional<Search> search_;
  std::optional<coding::Decoder> decoder_;
  std::optional<coding::Encoder> encoder_;
  ScriptAllowance allowance_;
  coding::Buffer held_;   // as received, while undecided
  coding::Buffer plain_;  // decoded: everything while undecided, then the bytes of one call
};

}  // namespace reprise::inject
