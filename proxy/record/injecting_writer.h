#pragma once

#include <optional>
#include <string>

#include "inject/rewrite.h"
#include "proxy/http/handler.h"

namespace reprise {

/// Passes one final response on to the client of a recording, and puts the script into a document
/// or worker. Head and body are held back until the place for the script is known, for which a
/// browser would wait as well. Borrows everything.
class InjectingWriter {
 public:
  /// `script` null: everything passes unchanged.
  InjectingWriter(ResponseWriter& client, const inject::InjectedScript* script,
                  const RequestHead& request)
      : client_(client), script_(script), request_(request) {}

  /// Errors: those of `client`. A head that is held back is sent by write(), finish() or abandon().
  Task<void> send_head(const ResponseHead& head);
  /// Errors: those of `client`. A false content coding is reported by finish() alone, so that the
  /// recording continues.
  Task<void> write(Bytes bytes);
  /// Errors: also that of a content coding that turned out to be false after a part was sent: the
  /// client then sees a broken message, and would have seen broken content.
  Task<void> finish(HeaderList trailers);
  /// For a response that its origin breaks off: sends what is held back, as received. Errors: those
  /// of `client`.
  Task<void> abandon();

  /// The report about the document. Null if there was none; complete after finish().
  const inject::RewriteReport* report() const { return rewriter_ ? &rewriter_->report() : nullptr; }

 private:
  Task<void> pass(Bytes bytes, coding::Until until);
  Task<void> send_held_head();

  ResponseWriter& client_;
  const inject::InjectedScript* script_;
  const RequestHead& request_;
  std::optional<inject::Rewriter> rewriter_;
  ResponseHead head_;  // its texts are in the rewriter and in reason_
  std::string reason_;
  bool framed_by_length_ = false;
  bool head_held_ = false;
  Result<void> broken_;
};

}  // namespace reprise
