#include "proxy/replay/response/stitched_parts.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "archive/match/request.h"

namespace reprise {
namespace {

constexpr std::uint64_t kTotalBytesMax = std::uint64_t{1} << 62;
constexpr std::size_t kRangesNamedMax = 8;

/// The place of a part in its file.
struct Place {
  ByteRange range;
  std::uint64_t total_bytes = 0;
};

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > kTotalBytesMax) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// RFC 9110 section 14.4, with a known length.
std::optional<Place> parse_content_range(std::string_view text) {
  if (text.size() < 6 || !equals_ignoring_case(text.substr(0, 6), "bytes ")) return std::nullopt;
  text.remove_prefix(6);
  auto const first = take_number(text);
  if (!first || !text.starts_with('-')) return std::nullopt;
  text.remove_prefix(1);
  auto const last = take_number(text);
  if (!last || !text.starts_with('/')) return std::nullopt;
  text.remove_prefix(1);
  auto const total = take_number(text);
  if (!total || !text.empty() || *first > *last || *last >= *total) return std::nullopt;
  return Place{.range = {.begin = *first, .end = *last + 1}, .total_bytes = *total};
}

/// The place of the bytes in `exchange`, if it is a part.
std::optional<Place> place_of(const Exchange& exchange) {
  auto const& reply = exchange.response;
  auto const fields = reply.headers.list();
  bool const whole = exchange.outcome == Outcome::kComplete;
  if (exchange.request.method != "GET" || reply.body.size_bytes == 0) return std::nullopt;
  std::optional<Place> place;
  if (reply.status == 206) {
    place = parse_content_range(find_header(fields, "Content-Range").value_or(""));
  } else if (reply.status == 200 && !whole) {
    auto length = find_header(fields, "Content-Length").value_or("");
    auto const total = take_number(length);
    if (total && length.empty()) place = Place{.range = {.end = *total}, .total_bytes = *total};
  }
  if (!place) return std::nullopt;
  auto const size = reply.body.size_bytes;
  if (whole ? size != place->range.size() : size > place->range.size()) return std::nullopt;
  place->range.end = place->range.begin + size;
  return place;
}

/// Identifies the version of a file; empty if nothing does.
std::string version_of(HeaderList fields) {
  auto const etag = find_header(fields, "ETag").value_or("");
  if (etag.starts_with('"')) return std::string(etag);
  return std::string(find_header(fields, "Last-Modified").value_or(""));
}

bool same_file(const Exchange& a, const Exchange& b) {
  auto const first = a.response.headers.list();
  auto const second = b.response.headers.list();
  auto const version = version_of(first);
  auto const coding = [](HeaderList fields) {
    return lower_case(find_header(fields, "Content-Encoding").value_or(""));
  };
  return !version.empty() && version == version_of(second) && coding(first) == coding(second);
}

/// Calls `visit` with each exchange that has the key and session of `like`, an exchange of that
/// `ordinal`, until it returns false. `cut_too`: also those that did not end well.
template <class Visit>
void visit_repeats(const ArchiveReader& archive, std::uint32_t ordinal, const Exchange& like,
                   bool cut_too, Visit&& visit) {
  auto const all = archive.find_key(archive.entries()[ordinal].key_hash);
  auto const first = static_cast<std::uint32_t>(all.data() - archive.entries().data());
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    bool const usable = all[i].outcome == Outcome::kComplete || cut_too;
    if (all[i].session != like.session || !usable) continue;
    auto exchange = archive.exchange(first + i);
    if (!exchange || exchange->request.target != like.request.target ||
        !same_place(key_of(exchange->request), key_of(like.request))) {
      continue;
    }
    if (!visit(first + i, *exchange)) return;
  }
}

}  // namespace

class StitchedParts::Body final : public PiecewiseBody {
 public:
  explicit Body(const StitchedParts& of) : of_(of) {}
  std::size_t pieces() const override { return of_.slices_.size(); }
  Result<Bytes> piece(std::size_t index) const override {
    auto const& slice = of_.slices_[index];
    // Never requested: have() has excluded it.
    if (slice.part == Slice::kGap) return fail(std::make_error_code(std::errc::no_message));
    auto const bytes = of_.sources_.archive.extent(of_.parts_[slice.part].body, slice.extent);
    if (!bytes) {
      of_.sources_.on_damage("the body's record: " + bytes.error().message());
      return fail(bytes.error());
    }
    if (bytes->size() < slice.offset + of_.slice_bytes_[index]) {
      return fail(archive_errc::corrupt);
    }
    return bytes->subspan(slice.offset, of_.slice_bytes_[index]);
  }

 private:
  const StitchedParts& of_;
};

StitchedParts::StitchedParts(Sources sources) : sources_(std::move(sources)) {}
StitchedParts::~StitchedParts() = default;

std::optional<std::uint32_t> StitchedParts::first_part(const ArchiveReader& archive,
                                                       std::uint32_t ordinal, bool cut_too) {
  auto const exchange = archive.exchange(ordinal);
  if (!exchange) return std::nullopt;
  if (place_of(*exchange)) return ordinal;
  std::optional<std::uint32_t> first;
  std::size_t examined = 0;
  visit_repeats(archive, ordinal, *exchange, cut_too,
                [&](std::uint32_t each, const Exchange& repeat) {
                  if (place_of(repeat)) first = each;
                  return !first && ++examined < kPartsMax;
                });
  return first;
}

std::unique_ptr<StitchedParts> StitchedParts::of(Sources sources, std::uint32_t chosen,
                                                 const StoredResponse& like) {
  auto exchange = sources.archive.exchange(chosen);
  if (!exchange) return nullptr;
  auto const place = place_of(*exchange);
  if (!place) return nullptr;
  std::unique_ptr<StitchedParts> made(new StitchedParts(std::move(sources)));
  made->total_bytes_ = place->total_bytes;
  made->ordinal_ = chosen;
  made->gather(*exchange);
  made->chosen_ = std::move(*exchange);
  made->lay_out(like);
  return made;
}

void StitchedParts::gather(const Exchange& chosen) {
  visit_repeats(
      sources_.archive, ordinal_, chosen, sources_.cut_too,
      [&](std::uint32_t each, Exchange& repeat) {
        auto const place = place_of(repeat);
        bool const belongs = place && place->total_bytes == total_bytes_ &&
                             (each == ordinal_ || same_file(chosen, repeat));
        if (belongs) {
          parts_.push_back({.range = place->range, .body = std::move(repeat.response.body)});
        }
        return parts_.size() < kPartsMax;
      });
  std::ranges::sort(parts_, {}, [](const Part& part) { return part.range.begin; });
}

void StitchedParts::lay_out(const StoredResponse& like) {
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto const& range = parts_[i].range;
    if (range.end <= at) continue;
    if (range.begin > at) {
      slices_.push_back({});
      slice_bytes_.push_back(range.begin - at);
      at = range.begin;
    }
    lay_out_part(i, at - range.begin);
    at = range.end;
  }
  if (at < total_bytes_) {
    slices_.push_back({});
    slice_bytes_.push_back(total_bytes_ - at);
  }
  length_ = std::to_string(total_bytes_);
  for (const HeaderView& field : like.parts().head.headers) {
    auto const is = [&field](std::string_view name) {
      return equals_ignoring_case(field.name, name);
    };
    if (is("Content-Range") || is("Content-Length") || is("Transfer-Encoding")) continue;
    fields_.push_back(field);
  }
  fields_.push_back({.name = "Content-Length", .value = length_});
  StoredResponse::Parts parts;
  parts.head = like.parts().head;
  parts.head.status = 200;
  parts.head.reason = reason_phrase(200);
  parts.head.headers = fields_;
  parts.pieces = std::make_unique<Body>(*this);
  response_ = std::make_shared<const StoredResponse>("GET", std::move(parts));
  whole_ =
      std::make_unique<WholeResponse>(WholeResponse{.response = response_,
                                                    .recorded = chosen_.response.headers.list(),
                                                    .size_bytes = total_bytes_,
                                                    .recorded_bytes = total_bytes_,
                                                    .piece_bytes = slice_bytes_});
}

void StitchedParts::lay_out_part(std::size_t part, std::uint64_t from) {
  auto const& extents = parts_[part].body.extents;
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    auto const end = begin + extents[i].size_bytes;
    if (end > from) {
      auto const offset = from > begin ? from - begin : 0;
      slices_.push_back({.part = part, .extent = i, .offset = offset});
      slice_bytes_.push_back(extents[i].size_bytes - offset);
    }
    begin = end;
  }
}

bool StitchedParts::covers(const ByteRange& range) const {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < slices_.size() && begin < range.end; ++i) {
    auto const end = begin + slice_bytes_[i];
    if (end > range.begin && slices_[i].part == Slice::kGap) return false;
    begin = end;
  }
  return begin >= range.end;
}

bool StitchedParts::have(const Selected& selected) const {
  if (selected.head_only) return true;
  switch (selected.kind) {
    case Selected::Kind::kAll:
      return covers({.begin = 0, .end = total_bytes_});
    case Selected::Kind::kParts:
      return std::ranges::all_of(selected.ranges,
                                 [this](const ByteRange& range) { return covers(range); });
    case Selected::Kind::kNotModified:
    case Selected::Kind::kPreconditionFailed:
    case Selected::Kind::kUnsatisfiable:
      return true;
  }
  return false;
}

std::string StitchedParts::coverage() const {
  std::string text = "bytes ";
  std::uint64_t begin = 0;
  std::uint64_t at = 0;
  std::size_t named = 0;
  auto const name = [&](std::uint64_t end) {
    if (end > begin && ++named <= kRangesNamedMax) {
      text += (named > 1 ? ", " : "") + std::to_string(begin) + "-" + std::to_string(end - 1);
    }
  };
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i].part == Slice::kGap) {
      name(at);
      begin = at + slice_bytes_[i];
    }
    at += slice_bytes_[i];
  }
  name(at);
  if (named > kRangesNamedMax) text += ", ...";
  return text + " of " + length_;
}

}  // namespace reprise
