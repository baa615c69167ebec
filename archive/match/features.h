#pragma once

// A request as numbers for fast comparison: MATCHING.md. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/match/counters.h"
#include "archive/match/parameters.h"
#include "archive/match/request.h"

namespace reprise {

/// One parameter as a number. From the top: 1 bit place (1 in the body), 19 bits of the name's
/// hash, 36 bits of the value's, 4 bits variety, 2 bits shape, 2 bits relevance. Stored in the
/// file: FORMAT.md.
/// lie in the file.
using Feature = std::uint64_t;

/// The form of a value that pages generate for each request.
enum class Shape : std::uint8_t { kPlain = 0, kTime = 1, kRandom = 2 };
/// How a parameter's value affects the response.
enum class Relevance : std::uint8_t { kOrdinary = 0, kVolatile = 1, kSelecting = 2 };

/// Place and name, 20 bits.
constexpr std::uint32_t name_of(Feature feature) {
  return static_cast<std::uint32_t>(feature >> 44);
}
/// Place, name and value.
constexpr std::uint64_t identity_of(Feature feature) {
  return feature >> 8;
}
/// Of a selecting parameter: the bit length of its number of values, at least 1.
constexpr unsigned variety_of(Feature feature) {
  return static_cast<unsigned>(feature >> 4 & 15);
}
constexpr Shape shape_of(Feature feature) {
  return static_cast<Shape>((feature >> 2) & 3);
}
constexpr Relevance relevance_of(Feature feature) {
  return static_cast<Relevance>(feature & 3);
}
constexpr Feature with_relevance(Feature feature, Relevance relevance, unsigned variety) {
  return (feature & ~Feature{0xf3}) | Feature{variety} << 4 | static_cast<Feature>(relevance);
}
/// The same parameter with a value that no other parameter has.
constexpr Feature with_other_value(Feature feature) {
  return feature ^ Feature { 1 } << 8;
}
constexpr bool is_in_body(Feature feature) {
  return feature >> 63 != 0;
}

inline constexpr std::size_t kFeaturesMax = 64;  ///< per request

Shape shape_of_value(std::string_view value);

/// Whether the name represents data that was not split: a body's digest or length, or parameters
/// folded together.
bool is_opaque(std::uint32_t name);

/// The parts of a request, sorted, at most kFeaturesMax, all ordinary. Parameters whose name
/// matches one of the globs are dropped. `counts`, if given, gets all of them.
std::vector<Feature> features_of(const AskedRequest& asked,
                                 std::span<const std::string> ignored_params = {},
                                 std::vector<Count>* counts = nullptr);

/// The four headers that select a representation, 16 bits each: a 15-bit hash of the value (0: no
/// such header), and in the top bit whether the response varies by it. From the lowest bits:
/// Accept, Accept-Language, Range, Content-Type (only its media type). FORMAT.md.
using Representation = std::uint64_t;
Representation representation_of(HeaderList request, HeaderList response);
/// The likeness of two of them, in points: MATCHING.md; kLikenessMax if they are equal.
inline constexpr unsigned kLikenessMax = 100;
unsigned likeness(Representation recorded, Representation asked);
constexpr bool same_representation(Representation a, Representation b) {
  constexpr Representation kValues = 0x7fff'7fff'7fff'7fff;
  return (a & kValues) == (b & kValues);
}

/// Identifies all exchanges of a method, scheme, host, port and path.
std::uint64_t family_hash(const MatchKey& key);
/// The same, within one recorded session.
std::uint64_t group_hash(std::uint64_t family, std::uint32_t session);
/// The key of a list of exchanges in a group that share a name and value.
std::uint64_t pair_hash(std::uint64_t group, std::uint64_t identity);

/// All non-volatile parameters, and the names of volatile ones: equal for requests that differ only
/// in volatile values. `features` have their relevance.
std::uint64_t steady_identity(std::span<const Feature> features);
/// The set of names.
std::uint64_t names_identity(std::span<const Feature> features);

/// Identifies a host and a scheme, in one recorded session.
std::uint64_t site_hash(std::uint32_t session, Scheme scheme, std::string_view host);

}  // namespace reprise
