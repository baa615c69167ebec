#include "tools/archive_coding.h"

namespace reprise {

Result<PlainBody> decode_body(HeaderList headers, std::span<const std::byte> coded) {
  auto codings = inject::codings_of(headers);
  if (!codings) return fail(codings.error());
  PlainBody plain{.bytes = {}, .codings = std::move(*codings)};
  inject::Decoder decoder(plain.codings, {.bytes_max = kPlainBodyBytesMax});
  auto done = decoder.write(coded, plain.bytes);
  if (done) done = decoder.finish();
  if (!done) return fail(done.error());
  plain.codings = decoder.codings();
  return plain;
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
