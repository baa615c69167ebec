#pragma once

#include <cstdint>

#include "proxy/http/handler.h"

namespace reprise {

/// Notices that a client leaves while an origin that reads nothing more holds up its upload. For
/// one upload, on one thread.
class UploadWatch {
 public:
  /// Borrows `client`.
  explicit UploadWatch(ResponseWriter& client) : client_(client) {}

  /// Runs `upload`, and cancels it if the client leaves. Errors: its own; connection_aborted.
  Task<void> run(Task<void> upload);
  /// The origin has accepted a piece of the content.
  void progressed() { ++pieces_; }
  /// The client gets the end of its response now. After that its stream may close in order, with
  /// content that is still on its way to the origin.
  void response_ends() { response_ends_ = true; }
  /// Whether run() was ended by the client.
  bool client_left() const { return client_left_; }

 private:
  awaitable<void> wait_until_left();

  ResponseWriter& client_;
  std::uint64_t pieces_ = 0;
  bool response_ends_ = false;
  bool client_left_ = false;
};

}  // namespace reprise
