#include <cstdio>

#include "archive/edit/reply.h"
#include "tools/archive/coding.h"
#include "tools/archive/messages.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

/// The caller prints an error if stdout cannot be written.
void put(std::span<const std::byte> bytes) {
  static_cast<void>(std::fwrite(bytes.data(), 1, bytes.size(), stdout));
}

int cat_head(const OpenArchive& archive, const StoredReply& reply, std::size_t number) {
  auto const text = head_text(reply);
  if (!text) {
    std::fprintf(
        stderr,
        "reprise: %s: a header field of exchange %zu cannot be written as text; `show` prints it\n",
        archive.path.c_str(), number);
    return kExitFailed;
  }
  put(std::as_bytes(std::span(*text)));
  return kExitDone;
}

int cat_plain(const OpenArchive& archive, HeaderList headers, const StoredBody& body,
              std::size_t number) {
  auto const plain = read_plain(*archive.reader, headers, body);
  if (plain) {
    put(plain->bytes);
    return kExitDone;
  }
  if (plain.error() == archive_errc::corrupt) {
    report_damaged(archive, number);
    return kExitArchive;
  }
  std::fprintf(stderr, "reprise: %s: the body of exchange %zu does not decode: %s\n",
               archive.path.c_str(), number, plain.error().message().c_str());
  return kExitFailed;
}

}  // namespace

int cat_part(const OpenArchive& archive, std::size_t number, const CatOptions& options) {
  auto const found = exchange_at(archive, number);
  if (!found) return found.error();
  const Exchange& exchange = found->exchange;
  if (options.messages) return cat_messages(archive, exchange, number);
  if (options.head) return cat_head(archive, exchange.response, number);
  auto const& body = options.of_request ? exchange.request.body : exchange.response.body;
  auto const& headers = options.of_request ? exchange.request.headers : exchange.response.headers;
  if (options.decoded) return cat_plain(archive, headers.list(), body, number);
  if (!archive.reader->check_body(body)) {
    report_damaged(archive, number);
    return kExitArchive;
  }
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = archive.reader->extent(body, i);
    if (!piece) break;
    put(*piece);
  }
  return kExitDone;
}

}  // namespace reprise
