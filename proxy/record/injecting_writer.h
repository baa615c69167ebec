#pragma once

#include <optional>
#include <string>

#include "inject/rewrite.h"
#include "proxy/http/handler.h"

namespace reprise {

/// Passes one final response on to the client of a recording, with the script in it where it is a
/// document or a worker. Until it is known where the script goes, which a browser would wait for as
/// well, head and body are held back. Borrows all.
class InjectingWriter {
 public:
  /// `script` null: everything passes as it is.
  InjectingWriter(ResponseWriter& client, const inject::InjectedScript* script,
                  const RequestHead& request)
      : client_(client), script_(script), request_(request) {}

  Task<void> send_head(const ResponseHead& head);
  Task<void> write(Bytes bytes);
  /// Errors: also that of a content coding that turned out to be a lie after a part was sent: the
  /// client sees a broken message then, and would have seen broken content.
  Task<void> finish(HeaderList trailers);

  /// What became of the document. Nothing when there was none; complete after finish().
  const inject::RewriteReport* report() const { return rewriter_ ? &rewriter_->report() : nullptr; }

 private:
  Task<void> pass(Bytes bytes, coding::Until until);
  Task<void> send_held_head();

  ResponseWriter& client_;
  const inject::InjectedScript* script_;
  const RequestHead& request_;
  std::optional<inject::Rewriter> rewriter_;
  ResponseHead head_;  // of which the texts are in the rewriter and in reason_
  std::string reason_;
  bool framed_by_length_ = false;
  bool head_held_ = false;
  Result<void> broken_;
};

}  // namespace reprise
