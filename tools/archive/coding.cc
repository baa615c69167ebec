#include "tools/archive/coding.h"

namespace reprise {

Result<PlainBody> decode_body(HeaderList headers, std::span<const std::byte> coded) {
  auto codings = coding::codings_of(headers);
  if (!codings) return fail(codings.error());
  auto plain = coding::decode_whole(*codings, coded, {.bytes_max = kPlainBodyBytesMax});
  if (!plain) return fail(plain.error());
  return PlainBody{.bytes = std::move(*plain), .codings = std::move(*codings)};
}

Result<PlainBody> read_plain(const ArchiveReader& from, HeaderList headers,
                             const StoredBody& body) {
  auto const coded = from.read_body(body, kPlainBodyBytesMax);
  if (!coded) return fail(coded.error());
  return decode_body(headers, *coded);
}

coding::Buffer encode_body(std::span<const coding::Coding> codings,
                           std::span<const std::byte> plain, std::span<const std::byte> before) {
  if (codings.empty()) return {plain.begin(), plain.end()};
  auto effort = coding::default_effort(codings.front());
  if (!before.empty()) {
    if (auto const fitting = coding::fit_effort(codings, before)) effort = *fitting;
  }
  coding::Buffer coded;
  coding::Encoder(codings, effort).write(plain, coding::Until::kEnd, coded);
  return coded;
}

}  // namespace reprise
