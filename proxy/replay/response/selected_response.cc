#include "proxy/replay/response/selected_response.h"

#include <algorithm>
#include <initializer_list>

#include "base/http/digest.h"

namespace reprise {
namespace {

/// Fields of the stored head that do not describe the part being sent.
std::vector<HeaderView> without(HeaderList headers, std::initializer_list<std::string_view> names) {
  std::vector<HeaderView> kept;
  std::ranges::copy_if(headers, std::back_inserter(kept), [names](const HeaderView& field) {
    return std::ranges::none_of(
        names, [&field](std::string_view name) { return equals_ignoring_case(field.name, name); });
  });
  return kept;
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
  return "bytes " + std::to_string(range.begin) + '-' + std::to_string(range.end - 1) + '/' +
         std::to_string(size);
}

Task<void> send_interim(const StoredResponse& stored, ResponseWriter& writer) {
  for (const ResponseHead& interim : stored.parts().interim) {
    if (auto const sent = co_await writer.send_head(interim); !sent) co_return sent;
  }
  co_return Result<void>{};
}

/// The stored head with another status and other fields.
Task<void> send_head_as(const StoredResponse& stored, std::uint16_t status, HeaderList headers,
                        ResponseWriter& writer) {
  ResponseHead head = stored.parts().head;
  head.status = status;
  head.reason = reason_phrase(status);
  head.headers = headers;
  co_return co_await writer.send_head(head);
}

/// The same, and no content.
Task<void> send_bare(const StoredResponse& stored, std::uint16_t status, HeaderList headers,
                     ResponseWriter& writer) {
  auto const sent = co_await send_head_as(stored, status, headers, writer);
  if (!sent) co_return sent;
  co_return co_await writer.finish({});
}

Task<void> send_one_part(const WholeResponse& whole, const Selected& selected,
                         ResponseWriter& writer) {
  auto const range = selected.ranges.front();
  auto const position = content_range(range, whole.size_bytes);
  auto const length = std::to_string(range.size());
  auto fields =
      without(whole.response->parts().head.headers, {"content-length", "transfer-encoding"});
  fields.push_back({.name = "Content-Range", .value = position});
  fields.push_back({.name = "Content-Length", .value = length});
  auto const begun = co_await send_head_as(*whole.response, 206, fields, writer);
  if (!begun) co_return begun;
  if (selected.head_only) co_return co_await writer.finish({});
  if (auto const sent = co_await write_range(whole, range, writer); !sent) co_return sent;
  co_return co_await writer.finish({});
}

/// Does not occur in content by chance, and is the same for the same request.
std::string boundary_of(const std::vector<ByteRange>& ranges) {
  auto const digest = sha256(std::as_bytes(std::span(ranges)));
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "reprise-";
  for (std::size_t i = 0; i < 12; ++i) {
    auto const value = std::to_integer<unsigned>(digest[i]);
    text += {kDigits[value >> 4], kDigits[value & 15]};
  }
  return text;
}

/// RFC 9110 section 14.6.
Task<void> send_parts(const WholeResponse& whole, const Selected& selected,
                      ResponseWriter& writer) {
  auto const& ranges = selected.ranges;
  auto const boundary = boundary_of(ranges);
  auto const stored = whole.response->parts().head.headers;
  auto const media_type = find_header(stored, "content-type");
  std::vector<std::string> openings;
  std::string const closing = "\r\n--" + boundary + "--\r\n";
  std::uint64_t size = closing.size();
  for (const ByteRange& range : ranges) {
    auto& opening = openings.emplace_back("\r\n--" + boundary + "\r\n");
    if (media_type) opening.append("Content-Type: ").append(*media_type).append("\r\n");
    opening += "Content-Range: " + content_range(range, whole.size_bytes) + "\r\n\r\n";
    size += opening.size() + range.size();
  }
  auto const length = std::to_string(size);
  auto const type = "multipart/byteranges; boundary=" + boundary;
  auto fields = without(stored, {"content-length", "transfer-encoding", "content-type"});
  fields.push_back({.name = "Content-Type", .value = type});
  fields.push_back({.name = "Content-Length", .value = length});
  auto const begun = co_await send_head_as(*whole.response, 206, fields, writer);
  if (!begun) co_return begun;
  if (selected.head_only) co_return co_await writer.finish({});
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (auto const sent = co_await writer.write(bytes_of(openings[i])); !sent) co_return sent;
    if (auto const sent = co_await write_range(whole, ranges[i], writer); !sent) co_return sent;
  }
  if (auto const sent = co_await writer.write(bytes_of(closing)); !sent) co_return sent;
  co_return co_await writer.finish({});
}

Task<void> send_unsatisfiable(const WholeResponse& whole, ResponseWriter& writer) {
  auto const size = "bytes */" + std::to_string(whole.size_bytes);
  auto fields = without(whole.response->parts().head.headers,
                        {"content-length", "transfer-encoding", "content-type", "content-encoding",
                         "accept-ranges", "etag", "last-modified"});
  fields.push_back({.name = "Content-Range", .value = size});
  fields.push_back({.name = "Content-Length", .value = "0"});
  co_return co_await send_bare(*whole.response, 416, fields, writer);
}

}  // namespace

Task<void> write_range(const WholeResponse& whole, const ByteRange& range, ResponseWriter& writer) {
  // A write without bytes would wait until the client has everything.
  if (range.begin >= range.end) co_return Result<void>{};
  auto const& parts = whole.response->parts();
  if (parts.pieces == nullptr) {
    co_return co_await writer.write(parts.body.bytes.subspan(range.begin, range.size()));
  }
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < whole.piece_bytes.size() && begin < range.end; ++i) {
    auto const end = begin + whole.piece_bytes[i];
    if (range.begin < end && begin < end) {
      auto const piece = parts.pieces->piece(i);
      if (!piece) co_return fail(piece.error());
      auto const from = std::max(begin, range.begin) - begin;
      auto const to = std::min(end, range.end) - begin;
      auto const sent = co_await writer.write(piece->subspan(from, to - from));
      if (!sent) co_return sent;
    }
    begin = end;
  }
  co_return Result<void>{};
}

Selected select(std::string_view method, HeaderList headers, const WholeResponse& whole,
                std::chrono::seconds date_shift) {
  using enum Selected::Kind;
  Selected selected{.head_only = method == "HEAD"};
  auto const precondition = check_preconditions(headers, whole.recorded, date_shift);
  if (precondition != Precondition::kHolds) {
    selected.kind = precondition == Precondition::kFailed ? kPreconditionFailed : kNotModified;
    return selected;
  }
  auto selection = select_ranges(headers, whole.recorded, whole.size_bytes, date_shift);
  if (selection.kind == Selection::Kind::kUnsatisfiable) selected.kind = kUnsatisfiable;
  if (selection.kind == Selection::Kind::kParts) {
    selected.kind = kParts;
    selected.ranges = std::move(selection.ranges);
  }
  return selected;
}

Task<void> send_selected(const Selected& selected, const WholeResponse& whole,
                         ResponseWriter& writer) {
  using enum Selected::Kind;
  const StoredResponse& stored = *whole.response;
  auto const headers = stored.parts().head.headers;
  if (selected.kind == kAll && !selected.head_only)
    co_return co_await writer.send_stored(whole.response);
  if (auto const sent = co_await send_interim(stored, writer); !sent) co_return sent;
  switch (selected.kind) {
    case kAll:
      co_return co_await send_bare(stored, 200, headers, writer);
    case kPreconditionFailed:
      co_return co_await send_text(writer, 412, "reprise: the precondition does not hold\n");
    case kNotModified: {
      auto const fields = without(headers, {"content-length", "transfer-encoding", "content-type",
                                            "content-encoding", "accept-ranges", "trailer"});
      co_return co_await send_bare(stored, 304, fields, writer);
    }
    case kUnsatisfiable:
      co_return co_await send_unsatisfiable(whole, writer);
    case kParts:
      break;
  }
  if (selected.ranges.size() == 1) {
    co_return co_await send_one_part(whole, selected, writer);
  }
  co_return co_await send_parts(whole, selected, writer);
}

}  // namespace reprise
