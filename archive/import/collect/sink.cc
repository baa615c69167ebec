#include "archive/import/collect/sink.h"

namespace reprise::importing {
namespace {

class ArchiveBody final : public BodySink {
 public:
  explicit ArchiveBody(ArchiveWriter& archive) : writer_(archive) {}
  Result<void> append(std::span<const std::byte> bytes) override { return writer_.append(bytes); }
  Result<StoredBody> finish() override { return writer_.finish(); }

 private:
  BodyWriter writer_;
};

}  // namespace

Result<void> ArchiveSink::begin_session(const SessionInfo& info) {
  auto const number = archive_.begin_session(info);
  return number ? Result<void>() : fail(number.error());
}

std::unique_ptr<BodySink> ArchiveSink::open_body() {
  return std::make_unique<ArchiveBody>(archive_);
}

Result<void> ArchiveSink::add_connection(ConnectionFacts facts) {
  return archive_.add_connection(std::move(facts));
}

Result<void> ArchiveSink::add_exchange(Exchange exchange) {
  return archive_.add_exchange(std::move(exchange));
}

Result<void> ArchiveSink::add_message(std::uint64_t sequence, const WebSocketMessage& message) {
  return archive_.add_message(sequence, message);
}

}  // namespace reprise::importing
