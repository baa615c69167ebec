#pragma once

// A sink that keeps what it is given, for tests and fuzz targets.

#include <map>
#include <string>
#include <vector>

#include "archive/import/import.h"
#include "base/http/digest.h"
#include "base/invariant.h"

namespace reprise::importing {

class CollectingSink final : public ExchangeSink {
 public:
  Result<void> begin_session(const SessionInfo& info) override {
    invariant(exchanges.empty() && sessions.empty(), "a second session, or one too late");
    sessions.push_back(info);
    return {};
  }
  std::unique_ptr<BodySink> open_body() override { return std::make_unique<Body>(*this); }
  Result<void> add_connection(ConnectionFacts facts) override {
    invariant(!sessions.empty(), "a connection outside a session");
    connections.push_back(std::move(facts));
    return {};
  }
  Result<void> add_exchange(Exchange exchange) override {
    invariant(!sessions.empty(), "an exchange outside a session");
    exchanges.push_back(std::move(exchange));
    return {};
  }

  Result<void> add_message(std::uint64_t sequence, const WebSocketMessage& message) override {
    invariant(!exchanges.empty() && exchanges.back().sequence == sequence,
              "a message of no exchange");
    auto const& payload = message.payload;
    messages.push_back(std::string(to_string(message.sender)) + " " +
                       std::string(to_string(message.kind)) + " " +
                       std::string(reinterpret_cast<const char*>(payload.data()), payload.size()));
    message_times.push_back(message.time);
    return {};
  }

  std::string body_of(const StoredBody& body) const {
    auto const found = bodies.find(body.digest);
    return found == bodies.end() ? "" : found->second;
  }

  std::vector<SessionInfo> sessions;
  std::vector<ConnectionFacts> connections;
  std::vector<Exchange> exchanges;
  std::map<Sha256, std::string> bodies;
  std::uint64_t body_bytes = 0;       ///< of all bodies as they came, also of equal ones
  std::vector<std::string> messages;  ///< "client text hello"
  std::vector<SessionTime> message_times;

 private:
  class Body final : public BodySink {
   public:
    explicit Body(CollectingSink& to) : to_(to) {}
    Result<void> append(std::span<const std::byte> bytes) override {
      to_.body_bytes += bytes.size();
      text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return {};
    }
    Result<StoredBody> finish() override {
      if (text_.empty()) return StoredBody{};
      StoredBody const stored{.size_bytes = text_.size(),
                              .digest = sha256(std::as_bytes(std::span(text_))),
                              .extents = {}};
      to_.bodies.insert_or_assign(stored.digest, std::move(text_));
      return stored;
    }

   private:
    CollectingSink& to_;
    std::string text_;
  };
};

}  // namespace reprise::importing
