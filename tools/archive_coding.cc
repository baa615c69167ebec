#include "tools/archive_coding.h"

namespace reprise {

Result<PlainBody> decode_body(HeaderList headers, std::span<const std::byte> coded) {
  auto codings = inject::codings_of(headers);
  if (!codings) return fail(codings.error());
  auto plain = inject::decode_whole(*codings, coded, {.bytes_max = kPlainBodyBytesMax});
  if (!plain) return fail(plain.error());
  return PlainBody{.bytes = std::move(*plain), .codings = std::move(*codings)};
}

Result<PlainBody> read_plain(const ArchiveReader& from, HeaderList headers,
                             const StoredBody& body) {
  auto const coded = from.read_body(body, kPlainBodyBytesMax);
  if (!coded) return fail(coded.error());
  return decode_body(headers, *coded);
}

inject::Buffer encode_body(std::span<const inject::Coding> codings,
                           std::span<const std::byte> plain, std::span<const std::byte> before) {
  if (codings.empty()) return {plain.begin(), plain.end()};
  auto effort = inject::default_effort(codings.front());
  if (!before.empty()) {
    if (auto const fitting = inject::fit_effort(codings, before)) effort = *fitting;
  }
  inject::Buffer coded;
  inject::Encoder(codings, effort).write(plain, inject::Until::kEnd, coded);
  return coded;
}

}  // namespace reprise
