#include "archive/match/features.h"

#include <algorithm>
#include <array>

#include "archive/match/key_hasher.h"
#include "base/http/media_type.h"
#include "base/text/ascii.h"
#include "base/text/glob.h"

namespace reprise {
namespace {

constexpr std::uint64_t kValueMask = (std::uint64_t{1} << 36) - 1;
constexpr std::uint32_t kNameBits = 19;
// A name for parameters without one. (A real name has the same hash once in 2^19.)
constexpr std::uint32_t kFoldedMark = 1;
constexpr std::uint32_t kDigestMark = 2;
constexpr std::uint32_t kLengthMark = 3;
// Not the value of any feature either.
constexpr std::uint64_t kSteadyMark = std::uint64_t{1} << 62;
constexpr std::uint64_t kNamesMark = std::uint64_t{1} << 61;

constexpr std::uint32_t name_of_mark(std::uint32_t mark) {
  return std::uint32_t{1} << kNameBits |
         static_cast<std::uint32_t>(mixed(mark) >> (64 - kNameBits));
}

constexpr Feature feature_of(std::uint32_t name, std::uint64_t value, Shape shape) {
  return Feature{name} << 44 | (value & kValueMask) << 8 | static_cast<Feature>(shape) << 2;
}

std::uint64_t hash_of(std::string_view text) {
  KeyHasher hasher;
  hasher.add_text(text);
  return hasher.finish();
}

/// Place and name, as in name_of(). `name` is decoded.
std::uint32_t name_hash(bool in_body, std::string_view name) {
  return static_cast<std::uint32_t>(in_body) << kNameBits |
         static_cast<std::uint32_t>(hash_of(name) >> (64 - kNameBits));
}

bool all_of_kind(std::string_view text, bool (*is)(char)) {
  return std::ranges::all_of(text, is);
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_time(std::string_view digits) {
  if (digits.size() != 10 && digits.size() != 13 && digits.size() != 16) return false;
  // 1,000,000,000 s is in 2001, 2,000,000,000 s in 2033.
  return digits[0] == '1';
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    bool const dash = at == 8 || at == 13 || at == 18 || at == 23;
    if (dash ? text[at] != '-' : !is_hex(text[at])) return false;
  }
  return true;
}

std::uint64_t field_hash(HeaderList headers, std::string_view name) {
  auto const value = find_header(headers, name);
  if (!value) return 0;
  auto const compared = name == "Content-Type" ? media_type_of(*value) : *value;
  return std::max<std::uint64_t>(1, hash_of(compared) >> 49);
}

}  // namespace

Shape shape_of_value(std::string_view value) {
  if (value.size() < 9) return Shape::kPlain;
  if (all_of_kind(value, is_digit)) {
    return is_time(value) ? Shape::kTime : Shape::kRandom;
  }
  if (value.starts_with("0.")) {
    auto const fraction = value.substr(2);
    return fraction.size() >= 8 && all_of_kind(fraction, is_digit) ? Shape::kRandom : Shape::kPlain;
  }
  // "1700000000.123": seconds with a fraction.
  if (value.size() > 11 && value[10] == '.' && is_time(value.substr(0, 10)) &&
      all_of_kind(value.substr(0, 10), is_digit) && all_of_kind(value.substr(11), is_digit)) {
    return Shape::kTime;
  }
  if (is_uuid(value)) return Shape::kRandom;
  auto const has_digit = std::ranges::any_of(value, is_digit);
  if (value.size() >= 16 && has_digit && all_of_kind(value, is_hex)) return Shape::kRandom;
  auto const mixed_text = [](char c) {
    return is_digit(c) || is_letter(c) || c == '-' || c == '_' || c == '=' || c == '.';
  };
  return value.size() >= 20 && has_digit && std::ranges::any_of(value, is_letter) &&
                 std::ranges::all_of(value, mixed_text)
             ? Shape::kRandom
             : Shape::kPlain;
}

bool is_opaque(std::uint32_t name) {
  return name == name_of_mark(kFoldedMark) || name == name_of_mark(kDigestMark) ||
         name == name_of_mark(kLengthMark);
}

std::vector<Feature> features_of(const AskedRequest& asked,
                                 std::span<const std::string> ignored_params,
                                 std::vector<Count>* counts) {
  Parameters parameters;
  parameters.add_query(query_of(asked.key.target));
  bool const apart = parameters.add_body(asked.headers, asked.body);

  std::vector<Feature> features;
  features.reserve(parameters.list().size() + 2);
  std::string name;
  std::string value;
  for (const Parameter& each : parameters.list()) {
    auto const needs_decoding = [&each](std::string_view text) {
      return each.percent_encoded && text.find_first_of("%+") != std::string_view::npos;
    };
    auto name_text = each.name;
    if (needs_decoding(name_text)) name_text = name = decoded(name_text);
    auto const is_named = [&](const std::string& glob) { return fits_glob(glob, name_text); };
    if (std::ranges::any_of(ignored_params, is_named)) continue;
    auto value_text = each.value;
    if (needs_decoding(value_text)) value_text = value = decoded(value_text);
    auto const hash = name_hash(each.in_body, name_text);
    features.push_back(feature_of(hash, hash_of(value_text) >> 28, shape_of_value(value_text)));
    if (counts != nullptr) counts->push_back({.name = hash, .value = count_of(value_text)});
  }
  if (!apart && asked.body_bytes > 0) {
    std::uint64_t digest = 0;
    for (std::size_t i = 0; i < sizeof digest; ++i) {
      digest = digest << 8 | static_cast<std::uint8_t>(asked.key.body_digest[i]);
    }
    features.push_back(feature_of(name_of_mark(kDigestMark), mixed(digest) >> 28, Shape::kPlain));
    features.push_back(
        feature_of(name_of_mark(kLengthMark), mixed(asked.body_bytes) >> 28, Shape::kPlain));
  }
  std::ranges::sort(features);
  if (features.size() > kFeaturesMax) {
    std::uint64_t folded = 0;
    for (auto const rest : std::span(features).subspan(kFeaturesMax - 1)) folded += mixed(rest);
    features.resize(kFeaturesMax - 1);
    features.push_back(feature_of(name_of_mark(kFoldedMark), mixed(folded) >> 28, Shape::kPlain));
    std::ranges::sort(features);
  }
  return features;
}

Representation representation_of(HeaderList request, HeaderList response) {
  constexpr std::array<std::string_view, 4> kNames = {"Accept", "Accept-Language", "Range",
                                                      "Content-Type"};
  Representation all = 0;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    Representation field = field_hash(request, kNames[i]);
    if (header_has_token(response, "Vary", kNames[i])) field |= 0x8000;
    all |= field << (16 * i);
  }
  return all;
}

unsigned likeness(Representation recorded, Representation asked) {
  constexpr std::array<unsigned, 4> kPoints = {1, 1, 8, 4};
  if (same_representation(recorded, asked)) return kLikenessMax;
  unsigned sum = 0;
  for (std::size_t i = 0; i < kPoints.size(); ++i, recorded >>= 16, asked >>= 16) {
    if ((recorded & 0x7fff) != (asked & 0x7fff)) continue;
    bool const varies = (recorded & 0x8000) != 0 && i < 2;
    sum += varies ? 2 : kPoints[i];
  }
  return sum;
}

std::uint64_t family_hash(const MatchKey& key) {
  KeyHasher hasher;
  hasher.add_text(key.method);
  hasher.add_byte(static_cast<std::uint8_t>(key.scheme));
  hasher.add_text(key.host);
  hasher.add_number(key.port);
  hasher.add_text(key.target.substr(0, key.target.find('?')));
  return hasher.finish();
}

std::uint64_t group_hash(std::uint64_t family, std::uint32_t session) {
  return mixed(family + session);
}

std::uint64_t pair_hash(std::uint64_t group, std::uint64_t identity) {
  return mixed(group ^ mixed(identity));
}

std::uint64_t steady_identity(std::span<const Feature> features) {
  std::uint64_t sum = 0;
  for (auto const feature : features) {
    auto const what = relevance_of(feature) == Relevance::kVolatile
                          ? std::uint64_t{name_of(feature)}
                          : identity_of(feature);
    sum = mixed(sum ^ what);
  }
  return sum | kSteadyMark;
}

std::uint64_t names_identity(std::span<const Feature> features) {
  std::uint64_t sum = 0;
  for (auto const feature : features) sum = mixed(sum ^ name_of(feature));
  return (sum & ~kSteadyMark) | kNamesMark;
}

std::uint64_t site_hash(std::uint32_t session, Scheme scheme, std::string_view host) {
  KeyHasher hasher;
  hasher.add_number(session);
  hasher.add_byte(static_cast<std::uint8_t>(scheme));
  hasher.add_text(host);
  return hasher.finish();
}

}  // namespace reprise
