#include "proxy/record/recording.h"

#include <utility>

#include "proxy/record/recorder.h"

namespace reprise {

Recording::Recording(ArchiveWriter& archive, OriginDialer dialer,
                     std::chrono::steady_clock::time_point started,
                     std::function<void(std::error_code)> on_archive_error)
    : archive_(archive),
      dialer_(std::move(dialer)),
      started_(started),
      on_archive_error_(std::move(on_archive_error)) {}

std::unique_ptr<ConnectionHandler> Recording::open(const ConnectionInfo& connection) {
  return std::make_unique<Recorder>(*this, connection);
}

std::uint64_t Recording::keep(ConnectionFacts facts) {
  facts.id = ++origin_connections_;
  if (auto const added = archive_.add_connection(std::move(facts)); !added) {
    archive_failed(added.error());
  }
  return origin_connections_;
}

void Recording::archive_failed(std::error_code error) {
  if (std::exchange(archive_broken_, true)) return;
  on_archive_error_(error);
}

}  // namespace reprise
