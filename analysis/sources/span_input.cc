#include "analysis/sources/span_input.h"

#include "analysis/spans/span_file.h"

namespace reprise {
namespace {

constexpr std::size_t kSpanFileBytesMax = std::size_t{1} << 30;

}  // namespace

std::expected<SpanSet, std::string> read_spans(importing::ByteSource& from) {
  importing::ByteReader reader(from);
  std::string text;
  for (std::string_view piece; !(piece = reader.some()).empty(); reader.consume(piece.size())) {
    if (text.size() + piece.size() > kSpanFileBytesMax) return std::unexpected("longer than 1 GiB");
    text += piece;
  }
  if (reader.failed()) return std::unexpected(reader.fault()->what);
  return read_span_file(text);
}

}  // namespace reprise
