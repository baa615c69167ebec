#include "proxy/replay/response/synthesis.h"

#include <algorithm>

#include "base/http/h1_parser.h"
#include "base/http/message.h"
#include "proxy/http/h2_fields.h"
#include "proxy/http/handler.h"

namespace reprise {
namespace {

constexpr std::array kMembers{&Synthesised::served_as_h2,
                              &Synthesised::served_as_h1,
                              &Synthesised::connection_fields_removed,
                              &Synthesised::reason_phrase_added,
                              &Synthesised::framing_added,
                              &Synthesised::trailers_removed};

}  // namespace

Synthesised synthesised(const StoredRequest& request, const StoredReply& reply,
                        HttpVersion version) {
  Synthesised made;
  bool const as_h1 = is_http1(version);
  if (reply.version == version || (as_h1 && is_http1(reply.version))) return made;
  auto const headers = reply.headers.list();
  if (!as_h1) {
    made.served_as_h2 = 1;
    made.connection_fields_removed =
        static_cast<std::uint64_t>(std::ranges::count_if(headers, is_connection_field));
    return made;
  }
  made.served_as_h1 = 1;
  bool const has_length = find_header(headers, "Content-Length").has_value();
  bool const has_chunks = header_has_token(headers, "Transfer-Encoding", "chunked");
  made.reason_phrase_added = reply.reason.empty() && !reason_phrase(reply.status).empty();
  made.framing_added = !has_length && !has_chunks && may_have_body(request.method, reply.status);
  bool const chunked = has_chunks || (!has_length && reply.body.extents.size() > 1);
  made.trailers_removed = !reply.trailers.list().empty() && !chunked;
  return made;
}

void SynthesisCounter::add(const Synthesised& one) {
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    if (auto const count = one.*kMembers[i]; count > 0) {
      sums_[i].fetch_add(count, std::memory_order_relaxed);
    }
  }
}

Synthesised SynthesisCounter::total() const {
  Synthesised total;
  for (std::size_t i = 0; i < kMembers.size(); ++i) total.*kMembers[i] = sums_[i].load();
  return total;
}

void SynthesisCounter::reset() {
  for (auto& sum : sums_) sum = 0;
}

}  // namespace reprise
