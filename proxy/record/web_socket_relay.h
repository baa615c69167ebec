#pragma once

#include <vector>

#include "proxy/http/web_socket.h"
#include "proxy/record/origin_connection.h"
#include "proxy/record/record_session.h"

namespace reprise {

/// Watches one direction of a WebSocket, and archives each message before its last byte is passed
/// on. Passed on without being archived: bytes that are not valid WebSocket, and messages that come
/// after the session in which the WebSocket was opened (RecordSession::begin_again()).
class MessageTap {
 public:
  /// A longer message is archived in pieces of this size.
  static constexpr std::size_t kPieceBytes = 256 << 10;
  static_assert(kPieceBytes <= kMessageBytesMax);

  /// `opened_by`: the exchange that opened the WebSocket.
  MessageTap(RecordSession& session, MessageOwner opened_by, MessageSender sender)
      : session_(session), opened_by_(opened_by), sender_(sender), parser_(sender) {}

  /// Errors: the archive's.
  Result<void> see(Bytes bytes);
  /// The sender has ended the connection.
  Result<void> end();

 private:
  Result<void> take(const WebSocketParser::Piece& piece);
  Result<void> keep(MessageKind kind, bool fin, Bytes payload);

  RecordSession& session_;
  MessageOwner opened_by_;
  MessageSender sender_;
  WebSocketParser parser_;
  std::vector<std::byte> held_;  // of an unfinished message
  bool lost_ = false;            // it is not WebSocket
};

/// Relays a WebSocket, both directions at once, byte for byte, until either side ends it. Borrows
/// everything.
class WebSocketRelay {
 public:
  /// `closed` becomes true if this proxy ends it.
  WebSocketRelay(RecordSession& session, MessageOwner opened_by, BodyReader& client,
                 ResponseWriter& to_client, OriginExchange& origin, const bool& closed)
      : client_tap_(session, opened_by, MessageSender::kClient),
        origin_tap_(session, opened_by, MessageSender::kOrigin),
        client_(client),
        to_client_(to_client),
        origin_(origin),
        closed_(closed) {}

  Task<void> run();

 private:
  /// Whether the result means that the sender has ended the connection.
  bool is_end(const Result<Bytes>& read) const;
  Task<void> pass_to_origin();
  Task<void> pass_to_client();

  MessageTap client_tap_;
  MessageTap origin_tap_;
  BodyReader& client_;
  ResponseWriter& to_client_;
  OriginExchange& origin_;
  const bool& closed_;
};

}  // namespace reprise
