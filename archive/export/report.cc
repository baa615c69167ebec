#include "archive/export/report.h"

namespace reprise::exporting {

std::span<const LossText, kLosses> loss_texts() {
  static constexpr std::array<LossText, kLosses> kTexts{{
      {"interim_responses", "interim response (1xx) is not written",
       "interim responses (1xx) are not written"},
      {"trailers", "message loses its trailers, which only chunked messages can have",
       "messages lose their trailers, which only chunked messages can have"},
      {"chunk_times", "response loses the arrival times of its body chunks",
       "responses lose the arrival times of their body chunks"},
      {"times", "exchange loses times that the format cannot hold",
       "exchanges lose times that the format cannot hold"},
      {"starts_assumed", "exchange has no known start; the session's start is written",
       "exchanges have no known start; the session's start is written"},
      {"streams", "exchange loses its client connection and stream ids",
       "exchanges lose their client connection and stream ids"},
      {"connections", "connection loses its times and the list of exchanges that shared it",
       "connections lose their times and the list of exchanges that shared them"},
      {"tls", "connection loses TLS details, such as the certificate names",
       "connections lose TLS details, such as the certificate names"},
      {"dns_answers", "DNS answer is not written", "DNS answers are not written"},
      {"pages", "start URL is not written", "start URLs are not written"},
      {"session_facts", "session detail is not written: seed, clock, command line",
       "session details are not written: seed, clock, command line"},
      {"bodies_decoded", "compressed body is written decoded",
       "compressed bodies are written decoded"},
      {"bodies_not_decoded", "body does not match its Content-Encoding and is written as stored",
       "bodies do not match their Content-Encoding and are written as stored"},
      {"failed", "exchange has no response; only the request is written",
       "exchanges have no response; only the request is written"},
      {"failed", "exchange has no response and is not written",
       "exchanges have no response and are not written"},
      {"cut", "exchange was cut and is not written, because readers would take it as complete",
       "exchanges were cut and are not written, because readers would take them as complete"},
      {"reasons", "exchange loses the reason why it is incomplete",
       "exchanges lose the reason why they are incomplete"},
      {"partial_request_bodies", "request loses the part of its body that was recorded",
       "requests lose the part of their body that was recorded"},
      {"text", "text contains bytes that the format cannot hold; they are replaced or dropped",
       "texts contain bytes that the format cannot hold; they are replaced or dropped"},
      {"versions",
       "message uses an HTTP version that the format cannot name; it is written as HTTP/1.1",
       "messages use an HTTP version that the format cannot name; they are written as HTTP/1.1"},
      {"targets", "request without a path (OPTIONS *) is written with the path /",
       "requests without a path (OPTIONS *) are written with the path /"},
      {"websocket_messages", "WebSocket message is not written",
       "WebSocket messages are not written"},
      {"unwritable", "exchange is not written: invalid method or host",
       "exchanges are not written: invalid method or host"},
  }};
  return kTexts;
}

}  // namespace reprise::exporting
