#include "archive/export/report.h"

namespace reprise::exporting {

std::span<const LossText, kLosses> loss_texts() {
  static constexpr std::array<LossText, kLosses> kTexts{{
      {"interim_responses", "interim responses (1xx) are not written"},
      {"trailers", "messages lose their trailers, which only chunked messages can have"},
      {"chunk_times", "responses lose the arrival times of their body chunks"},
      {"times", "exchanges lose times that the format cannot hold"},
      {"starts_assumed", "exchanges have no known start; the session's start is written"},
      {"streams", "exchanges lose their client connection and stream ids"},
      {"connections", "connections lose their times and the list of exchanges that shared them"},
      {"tls", "connections lose TLS details, such as the certificate names"},
      {"dns_answers", "DNS answers are not written"},
      {"pages", "start URLs are not written"},
      {"session_facts", "session details are not written: seed, clock, command line"},
      {"bodies_decoded", "compressed bodies are written decoded"},
      {"bodies_not_decoded",
       "bodies do not match their Content-Encoding and are written as stored"},
      {"failed", "exchanges have no response; only the request is written"},
      {"cut",
       "exchanges were cut and are not written, because readers would take them as complete"},
      {"reasons", "exchanges lose the reason why they are incomplete"},
      {"partial_request_bodies", "requests lose the part of their body that was recorded"},
      {"text", "texts contain bytes that the format cannot hold; they are replaced"},
      {"versions",
       "messages use an HTTP version that the format cannot name; they are written as HTTP/1.1"},
      {"targets", "requests without a path (OPTIONS *) are written with the path /"},
      {"websocket_messages", "WebSocket messages are not written"},
      {"unwritable", "exchanges are not written: invalid method or host"},
  }};
  return kTexts;
}

}  // namespace reprise::exporting
