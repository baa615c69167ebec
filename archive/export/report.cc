#include "archive/export/report.h"

namespace reprise::exporting {

std::span<const LossText, kLosses> loss_texts() {
  static constexpr std::array<LossText, kLosses> kTexts{{
      {"interim_responses", "interim responses (1xx) are left out"},
      {"trailers", "messages lose their trailers: they have no place without chunks"},
      {"chunk_times", "responses lose the times at which their pieces came"},
      {"times", "exchanges lose times that the format has no place for"},
      {"starts_assumed", "exchanges have no known start: the session's is written"},
      {"streams", "exchanges lose the numbers of their client connection and stream"},
      {"connections", "connections lose their times, and which exchanges shared them"},
      {"tls", "connections lose facts of TLS, such as the names in the certificate"},
      {"dns_answers", "DNS answers are left out"},
      {"pages", "start URLs are left out"},
      {"session_facts", "facts of the session are left out: its seed, clock, command line"},
      {"bodies_decoded", "coded bodies are written decoded"},
      {"bodies_not_decoded", "bodies are not coded as they say: written as they are"},
      {"failed", "exchanges have no response: only their request is written"},
      {"cut", "exchanges were cut and are left out: they would pass for whole"},
      {"reasons", "exchanges lose the reason why they are not whole"},
      {"partial_request_bodies", "requests lose the part of their body that was recorded"},
      {"text", "texts hold bytes that the format cannot: replaced"},
      {"versions", "messages of an HTTP version that the format cannot say: written as HTTP/1.1"},
      {"targets", "requests for no path (OPTIONS *) are written as for /"},
      {"websocket_messages", "WebSocket messages are left out"},
      {"unwritable", "exchanges have a method or host that no URL or message can hold: left out"},
  }};
  return kTexts;
}

}  // namespace reprise::exporting
