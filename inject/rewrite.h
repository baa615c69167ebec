#pragma once

// A response, and the same response with a script in its document: for a replay, which rewrites a
// stored response once and keeps the result (rewrite()), and for a recorder, which passes on what
// is still coming (Rewriter). Pure; not thread-safe, but an InjectedScript may be shared.

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/coding/coding.h"
#include "inject/csp.h"
#include "inject/search.h"

namespace reprise::inject {

/// What goes into documents and workers. Immutable.
class InjectedScript {
 public:
  struct Texts {
    std::vector<std::string> document;  ///< each in an element of its own, in this order
    /// Stands before a worker's script, in the same line: whole statements. Empty: workers stay.
    std::string worker;
  };
  /// The texts must be able to stand in every document: ASCII without carriage returns and NUL,
  /// without "</script", "<!--" and "]]>". Errors: errc::unfit_script.
  static Result<InjectedScript> create(Texts texts);

  bool is_for_workers() const { return !texts_.worker.empty(); }
  /// Of all elements' texts, separated by spaces, as a policy lists them.
  const std::string& hash_sources() const { return hash_sources_; }
  /// What is inserted at `place`, in its form. `nonce` may be empty. XML gets the XHTML namespace
  /// and CDATA sections.
  std::string inserted(Markup markup, const Place& place, std::string_view nonce) const;

 private:
  explicit InjectedScript(Texts texts);

  Texts texts_;
  std::string hash_sources_;
};

/// What a client wants a response for.
enum class Destination : std::uint8_t {
  kData,      ///< anything that stays as it is, of whatever type: a fetch, an image, a script
  kDocument,  ///< in a window or a frame
  kWorker,    ///< a script of a worker or worklet, but for what importScripts() asks for
};

/// By Sec-Fetch-Dest; on http:// and where a client has no such field, by Accept and
/// X-Requested-With, which know no workers. A module worker's imports are kWorker, too: they run
/// before the module that imports them.
Destination destination_of(HeaderList request_headers);

/// What became of a response.
enum class Verdict : std::uint8_t {
  kRewritten,
  kNoDocument,  ///< data, another type, a redirect, a part, a download, no content
  kNoPlace,     ///< Search::place() says when
  kNoScripts,   ///< a sandbox keeps all scripts of the document from running
  kUndecoded,   ///< `error` says why its coding could not be taken off
};

/// For the report of a load: bytes are what a benchmark counts.
struct RewriteReport {
  Verdict verdict = Verdict::kNoDocument;
  std::error_code error;
  std::size_t element_bytes = 0;      ///< inserted, before any content coding
  std::int64_t added_wire_bytes = 0;  ///< by which the body grew as it is sent; may be negative
  std::size_t offset_bytes = 0;       ///< in the decoded document
  std::string charset_stated;         ///< added to Content-Type
  std::vector<PolicyChange> policy_changes;
  bool requires_trusted_types = false;
};

struct RewriteOptions {
  Destination destination = Destination::kDocument;
  /// For the first coding; the caller may have it from fit_effort(). Nothing: default_effort().
  std::optional<coding::Effort> effort;
  coding::DecodeLimits limits;
};

struct Rewritten {
  RewriteReport report;
  /// Of the new response, when the verdict is kRewritten; else both are empty, and the response is
  /// to be sent as it was. ETag, Content-Encoding and all else stay; Content-Length, Content-MD5,
  /// Digest, Repr-Digest and Content-Digest are right again (elements of unknown algorithms go);
  /// policies and Content-Type are changed as far as the report says.
  Headers headers;
  coding::Buffer body;
};

/// Rewrites a whole response. `body` is as on the wire, still content-coded.
Rewritten rewrite(const InjectedScript& script, std::uint16_t status, HeaderList headers,
                  std::span<const std::byte> body, const RewriteOptions& options);

/// Rewrites a response that is still coming.
class Rewriter {
 public:
  /// Copies `headers`; borrows `script`.
  Rewriter(const InjectedScript& script, std::uint16_t status, HeaderList headers,
           const RewriteOptions& options);

  /// Takes a piece of the body, appends to `out` what can be sent. Nothing comes out before the
  /// head is known (decided()): that takes kHeldBytesMax at most, and after a flush no more than a
  /// browser would wait for. After Until::kEnd everything has come out.
  /// Errors, once the new head is out: those of Decoder. The response must then be cut off.
  Result<void> write(std::span<const std::byte> coded, coding::Until until, coding::Buffer& out);

  bool decided() const { return state_ != State::kUndecided; }
  /// The head's fields, once decided(). No Content-Length where it is not known yet, and no digest:
  /// what Content-MD5 and its like state is known only at the end.
  const Headers& headers() const { return headers_; }
  /// Complete after Until::kEnd.
  const RewriteReport& report() const { return report_; }

  static constexpr std::size_t kHeldBytesMax = 128 * 1024;

 private:
  enum class State : std::uint8_t { kUndecided, kRewriting, kPassing };

  void pass(Verdict verdict, std::error_code error, coding::Buffer& out);
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
  coding::Buffer plain_;  // decoded: all while undecided, then of one call
};

}  // namespace reprise::inject
