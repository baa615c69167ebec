#include <algorithm>
#include <set>
#include <utility>

#include "analysis/differences/builder.h"
#include "analysis/differences/content.h"
#include "analysis/differences/fields.h"
#include "analysis/differences/mentions.h"
#include "analysis/differences/permissions.h"
#include "base/http/media_type.h"
#include "base/http/url.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

bool is_redirect(std::uint16_t status) {
  return status >= 300 && status < 400 && status != 304;
}

std::string text_of_status(const RecordedExchange& of) {
  if (of.status == 0) return "no response";
  auto text = std::to_string(of.status);
  if (of.outcome != Outcome::kComplete) text += ", cut";
  auto const location = find_header(of.headers.list(), "location");
  return is_redirect(of.status) && location ? text + " to " + std::string(*location) : text;
}

std::string coding_of(const RecordedExchange& of) {
  auto const coding = find_header(of.headers.list(), "content-encoding").value_or("");
  return coding.empty() ? "no coding" : lower_case(coding);
}

std::string bytes_text(const RecordedExchange& a, const RecordedExchange& b) {
  if (a.size_bytes == b.size_bytes) return std::to_string(b.size_bytes) + " bytes as before";
  return std::to_string(b.size_bytes) + " bytes instead of " + std::to_string(a.size_bytes);
}

bool is_code(std::string_view type) {
  return is_of_kind(type, "script") || is_of_kind(type, "style") || is_of_kind(type, "json") ||
         type == "image/svg+xml" || type == "text/plain";
}

/// Whatever a server calls them, browsers run other types as scripts.
bool is_no_code(std::string_view type) {
  return type.starts_with("image/") || type.starts_with("font/") || type.starts_with("video/") ||
         type.starts_with("audio/");
}

/// Where a redirect leads: scheme, host and shape.
std::string place_of(const RecordedExchange& of, std::string_view location) {
  if (location.empty()) return {};
  auto const base = absolute_url(of.url());
  auto const url = base ? resolved_url(location, *base) : std::nullopt;
  if (url) return std::string(origin_of_url(*url)) + shape_of_target(*url);
  auto const parts = url_parts(location);  // of an app, or invalid
  return std::string(parts.scheme) + "://" + std::string(parts.host) + shape_of_target(location);
}

class Responses {
 public:
  Responses(DifferenceBuilder& builder, const PageBodies& bodies_of_a,
            const PageBodies& bodies_of_b)
      : builder_(builder), bodies_of_a_(bodies_of_a), bodies_of_b_(bodies_of_b) {}

  void compare(std::size_t pair) {
    auto const& a = builder_.a(pair);
    auto const& b = builder_.b(pair);
    bool const failed = (a.outcome == Outcome::kComplete) != (b.outcome == Outcome::kComplete);
    auto const kind = is_redirect(a.status) || is_redirect(b.status) ? DifferenceKind::kRedirect
                                                                     : DifferenceKind::kStatus;
    if (a.status != b.status || failed || redirects_elsewhere(a, b)) {
      return add(pair, kind, text_of_status(b) + " instead of " + text_of_status(a),
                 {.added = text_of_status(b), .removed = text_of_status(a), .same = {}});
    }
    // Browsers do not read the body of a redirect.
    if (a.digest != b.digest && !is_redirect(a.status)) compare_bodies(pair);
    for (auto const field_kind : kFieldKinds) compare_fields(pair, field_kind);
  }

 private:
  /// Of two redirects: not if only volatile parts of the place differ.
  static bool redirects_elsewhere(const RecordedExchange& a, const RecordedExchange& b) {
    if (!is_redirect(a.status)) return false;
    auto const to_a = find_header(a.headers.list(), "location").value_or("");
    auto const to_b = find_header(b.headers.list(), "location").value_or("");
    return to_a != to_b && place_of(a, to_a) != place_of(b, to_b);
  }

  void add(std::size_t pair, DifferenceKind kind, std::string what, DifferenceText text = {},
           std::vector<std::size_t> edits = {}) {
    auto const& of = builder_.b(pair);
    builder_.add({.kind = kind,
                  .where = of.url(),
                  .what = std::move(what),
                  .pair = pair,
                  .edits = std::move(edits),
                  .host = of.host},
                 std::move(text));
  }

  /// The decoded body, while there are bytes left for it. One that cannot be decoded can have cost
  /// as much as the largest.
  std::optional<std::string> affordable(const PlainBodyOf& plain_of, const RecordedExchange& of) {
    bool const whole = of.outcome == Outcome::kComplete && of.size_bytes <= kComparedBytesMax;
    if (!whole || compared_bytes_ >= kAllComparedBytesMax) return std::nullopt;
    auto plain = plain_of(of);
    compared_bytes_ += plain ? plain->size() : kComparedBytesMax;
    return plain;
  }

  /// Each way in which a page can name the body, as far as it can be digested.
  std::vector<std::string> digests_of_body(const PageBodies& bodies, const RecordedExchange& of,
                                           const std::optional<std::string>& plain) {
    if (plain) return digests_of(*plain);
    if (of.size_bytes > kAllComparedBytesMax - digested_bytes_) return {};
    auto digests = bodies.wire_digests(of);
    if (!digests.empty()) digested_bytes_ += of.size_bytes;
    return digests;
  }

  void compare_bodies(std::size_t pair) {
    auto const& a = builder_.a(pair);
    auto const& b = builder_.b(pair);
    auto const codings = coding_of(b) + " instead of " + coding_of(a);
    bool const other_coding = coding_of(a) != coding_of(b);
    auto const plain_a = affordable(bodies_of_a_.plain, a);
    auto const plain_b = affordable(bodies_of_b_.plain, b);
    auto const sizes = bytes_text(a, b);
    std::vector<std::string> digests;
    if (!is_no_code(b.media_type)) {
      digests = digests_of_body(bodies_of_a_, a, plain_a);
      std::ranges::move(digests_of_body(bodies_of_b_, b, plain_b), std::back_inserter(digests));
    }
    if (plain_a && plain_b && *plain_a == *plain_b) {
      return add(pair, DifferenceKind::kCoding,
                 (other_coding ? codings : "coded otherwise") + ", " + sizes,
                 {.added = {}, .removed = {}, .same = other_coding ? codings : std::string()});
    }
    if (!plain_a || !plain_b || (!a.is_document() && !is_code(b.media_type))) {
      return add(pair, DifferenceKind::kContent, sizes,
                 {.added = {}, .removed = {}, .same = {}, .digests = std::move(digests)});
    }
    auto compared = a.is_document() && b.is_document() ? compare_documents(*plain_a, *plain_b)
                                                       : compare_code(*plain_a, *plain_b);
    if (compared.edits.empty()) {
      compared.pieces.front().digests = std::move(digests);
      compared.pieces.front().fetches = true;
    }
    for (auto& piece : compared.pieces) {
      auto const what = compared.edits.empty() ? piece.what + " (" + sizes + ")" : piece.what;
      add(pair, DifferenceKind::kContent, what,
          {.added = std::move(piece.added),
           .removed = std::move(piece.removed),
           .same = {},
           .of_one_element = piece.of_one_element,
           .digests = std::move(piece.digests),
           .fetches = piece.fetches,
           .has_script = piece.has_script,
           .has_style = piece.has_style},
          std::move(piece.edits));
    }
    if (compared.edits.empty()) return;
    builder_.made.documents[pair] = std::move(compared.edits);
    if (other_coding) {
      add(pair, DifferenceKind::kCoding, codings + ", " + sizes,
          {.added = {}, .removed = {}, .same = codings});
    }
  }

  void compare_fields(std::size_t pair, DifferenceKind kind) {
    auto const& a = builder_.a(pair);
    auto const& b = builder_.b(pair);
    auto meaning_a = meaning_of_fields(a.headers.list(), kind);
    auto meaning_b = meaning_of_fields(b.headers.list(), kind);
    if (kind == DifferenceKind::kHints) {
      meaning_a += meaning_of_fields(a.hints.list(), kind);
      meaning_b += meaning_of_fields(b.hints.list(), kind);
    }
    if (meaning_a == meaning_b) return;
    auto const text = [](const std::string& meaning) {
      return meaning.empty() ? std::string("nothing") : "`" + meaning + "`";
    };
    auto const what = text(meaning_b) + " instead of " + text(meaning_a);
    add(pair, kind, what, {.added = meaning_b, .removed = meaning_a, .same = what});
  }

  DifferenceBuilder& builder_;
  const PageBodies& bodies_of_a_;
  const PageBodies& bodies_of_b_;
  std::uint64_t compared_bytes_ = 0;
  std::uint64_t digested_bytes_ = 0;  // as on the wire, at most kAllComparedBytesMax
};

/// The one of these exchanges that the text mentions, if there is exactly one: by the name of its
/// file, otherwise by the host if its file has no name. Much else comes from a host.
std::optional<std::size_t> one_mentioned(const RecordedPage& page,
                                         const std::vector<std::size_t>& among,
                                         std::string_view text) {
  Mentions mentions;
  mentions.add(text, 0);
  for (bool const by_host : {false, true}) {
    std::optional<std::size_t> found;
    for (auto const i : among) {
      auto const& of = page.exchanges[i];
      if (!(by_host ? mentions.of_nameless(of) : mentions.of_file(of))) continue;
      if (found) return std::nullopt;
      found = i;
    }
    if (found) return found;
  }
  return std::nullopt;
}

/// An element that names another resource now, of the same type: the same thing at the same place.
bool pair_by_place(DifferenceBuilder& builder, std::size_t difference) {
  auto const& text = builder.texts[difference];
  auto& alignment = builder.made.alignment;
  if (!text.of_one_element) return false;
  auto const a = one_mentioned(builder.made.a, alignment.only_a, text.removed);
  auto const b = one_mentioned(builder.made.b, alignment.only_b, text.added);
  if (!a || !b) return false;
  auto const& one = builder.made.a.exchanges[*a];
  auto const& other = builder.made.b.exchanges[*b];
  if (one.method != other.method || one.media_type != other.media_type) return false;
  if ((one.is_part() || other.is_part()) && one.range != other.range) return false;
  std::erase(alignment.only_a, *a);
  std::erase(alignment.only_b, *b);
  alignment.pairs.push_back({.a = *a, .b = *b});
  return true;
}

}  // namespace

void compare_responses(DifferenceBuilder& builder, const PageBodies& bodies_of_a,
                       const PageBodies& bodies_of_b) {
  Responses responses(builder, bodies_of_a, bodies_of_b);
  for (std::size_t pair = 0; pair < builder.made.alignment.pairs.size(); ++pair) {
    responses.compare(pair);
  }
  auto const known = builder.made.all.size();
  for (std::size_t i = 0; i < known; ++i) {
    if (pair_by_place(builder, i)) responses.compare(builder.made.alignment.pairs.size() - 1);
  }
}

}  // namespace reprise
