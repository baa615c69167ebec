// The stub's pure part on arbitrary queries: whatever it says is a well-formed response to what was
// asked, no larger than allowed; over UDP never more than the client said that it takes.

#include <algorithm>
#include <cstdlib>

#include "dns/responder.h"
#include "dns/wire.h"

using namespace reprise::dns;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

Responder responder_of_a_site() {
  namespace ip = boost::asio::ip;
  ZoneEntry entry{.host = "www.example.org", .chain = {"cdn.example.org"}, .ttl_s = 5};
  for (std::uint32_t i = 0; i < 40; ++i) entry.v4.push_back(ip::address_v4(0x7f120001 + i));
  entry.https = {{.priority = 1, .params = {{1, "\2h2"}}}};
  return Responder({.entries = {entry}}, {.chains = true});
}

void try_one(Responder& responder, std::span<const std::uint8_t> query,
             Responder::Transport transport, std::size_t limit) {
  static std::vector<std::uint8_t> out(kMessageMax);
  auto const [size, delay] = responder.respond(query, transport, out);
  check(delay == std::chrono::nanoseconds());
  check(size <= limit);
  if (size == 0) return check(query.size() < kHeaderBytes || (query[2] & 0x80) != 0);
  auto const reply = decode(std::span(out).first(size));
  check(reply && reply->response && reply->answers.size() <= 41);
  check(out[0] == query[0] && out[1] == query[1]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Responder responder = responder_of_a_site();
  std::span const query(data, size);
  std::size_t limit = Responder::kUdpMin;
  if (auto const read = decode(query); read && read->edns) {
    limit = std::clamp<std::size_t>(read->edns->udp_size_bytes, limit, Responder::kUdpMax);
  }
  try_one(responder, query, Responder::Transport::kUdp, limit);
  try_one(responder, query, Responder::Transport::kTcp, kMessageMax);
  check(responder.counts().missing_names.size() <= Responder::kMissingNamesMax);
  return 0;
}
