#pragma once

// What the standard rules can tell requests of beacons apart by, in a few words. They are made and
// compared without branches, since no processor can guess which request comes next. Pure.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/beacons/beacon_view.h"
#include "base/text/byte_words.h"

namespace reprise {

/// Scheme and authority, up to the path; all of a URL that has another form.
std::string_view site_of(std::string_view url);
/// The text after the last dot of the path, or empty. It tells the type of some requests.
std::string_view suffix_of(std::string_view url);

/// The most frequent initiators that tell the type alone, each of another size.
inline constexpr std::array<std::string_view, 5> kTypedInitiators = {
    "img", "fetch", "script", "navigation", "xmlhttprequest"};

/// A page, and of a request the status, the site, the initiator, and the suffix unless the
/// initiator tells the type. A value; one from the default constructor is empty, and of no request.
class CallKey {
 public:
  CallKey() = default;
  /// Nothing unless the request is by HTTPS from a host of at most 31 bytes, and has an initiator
  /// of at most 15 bytes, or of at most 8 and a suffix of at most 7.
  static std::optional<CallKey> of(const BeaconRequest& request, std::uint32_t page);

  bool is_empty() const { return words_[0] == 0; }
  bool operator==(const CallKey& other) const {
    std::uint64_t differ = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) differ |= words_[i] ^ other.words_[i];
    return differ == 0;
  }
  /// Fast: whoever remembers keys bounds what a page can do with equal hashes.
  std::uint64_t hash() const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    auto const mixed = [this](std::size_t i) { return words_[i] ^ std::rotl(words_[i + 1], 21); };
    auto hash = (mixed(0) + mixed(kInitiator) * 3) * kOdd + mixed(kSite + 1) * (kOdd * 5) +
                words_[kSite + 3] * (kOdd * 7);
    hash = (hash ^ hash >> 32) * kOdd;
    return hash ^ hash >> 32;
  }

 private:
  static constexpr std::size_t kSite = 1, kSiteWords = 4;
  static constexpr std::size_t kInitiator = kSite + kSiteWords;
  static constexpr std::size_t kSuffix = kInitiator + 1;  ///< or the initiator's second word

  std::array<std::uint64_t, kSuffix + 1> words_ = {};
};

namespace call_key_parts {

constexpr std::string_view kHttps = "https://";
static_assert(kHttps.size() == kWordBytes);

using TwoWords = std::array<std::uint64_t, 2>;
constexpr std::size_t kInitiatorBytesMax = sizeof(TwoWords) - 1;

/// Of a text of less than 16 bytes, with zeros after it.
constexpr TwoWords two_words(std::string_view text) {
  TwoWords words = {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    words[i / kWordBytes] |= std::uint64_t{static_cast<unsigned char>(text[i])}
                             << 8 * (i % kWordBytes);
  }
  return words;
}

/// The same if 16 bytes are readable.
inline TwoWords two_words_padded(std::string_view text) {
  static constexpr std::array<std::uint64_t, 4> kOnesAndZeros = {~std::uint64_t{0},
                                                                 ~std::uint64_t{0}};
  // As many bytes before the zeros as the text has.
  const char* const mask = reinterpret_cast<const char*>(&kOnesAndZeros[2]) - text.size();
  return {word_at(text.data()) & word_at(mask),
          word_at(text.data() + kWordBytes) & word_at(mask + kWordBytes)};
}

/// The words of kTypedInitiators by size; other places have words of no text that is so short.
inline constexpr auto kTypedWords = [] {
  std::array<TwoWords, kInitiatorBytesMax + 1> words;
  words.fill({~std::uint64_t{0}, ~std::uint64_t{0}});
  for (auto const initiator : kTypedInitiators) words[initiator.size()] = two_words(initiator);
  return words;
}();

constexpr std::size_t kHostBytesMax = 31;

/// Of an HTTPS URL; more than kHostBytesMax of a longer host.
inline std::size_t host_bytes(const BeaconRequest& request) {
  auto const after_scheme = request.name.substr(kHttps.size());
  if (!request.has_padding) return std::min(after_scheme.find('/'), after_scheme.size());
  auto const slashes = std::uint64_t{places_in_32('/', after_scheme.data())};
  auto const end = std::uint64_t{1} << (kHostBytesMax + 1);
  return std::min(static_cast<std::size_t>(std::countr_zero(slashes | end)), after_scheme.size());
}

}  // namespace call_key_parts

// In line, since it is called for each request: 8 % of the time of all.
[[gnu::always_inline]] inline std::optional<CallKey> CallKey::of(const BeaconRequest& request,
                                                                 std::uint32_t page) {
  using namespace call_key_parts;
  auto const url = request.name;
  auto const initiator = request.initiator;
  if (!url.starts_with(kHttps)) return std::nullopt;
  auto const host = host_bytes(request);
  auto const status = static_cast<std::uint64_t>(request.status);
  if (host > kHostBytesMax || status >> 16 != 0 || initiator.size() > kInitiatorBytesMax) {
    return std::nullopt;
  }
  CallKey key;
  key.words_[0] = page | status << 32 | (host + 1) << 48 | initiator.size() << 56;
  // The site without `https://`; for a short host words overlap, so that all bytes are the site's.
  for (std::size_t i = 0; i < kSiteWords; ++i) {
    key.words_[kSite + i] = word_at(url.data() + std::min((i + 1) * kWordBytes, host));
  }
  auto const words = request.has_padding ? two_words_padded(initiator) : two_words(initiator);
  auto const& typed = kTypedWords[initiator.size()];
  key.words_[kInitiator] = words[0];
  key.words_[kSuffix] = words[1];
  if (((words[0] ^ typed[0]) | (words[1] ^ typed[1])) != 0) {
    auto const suffix = suffix_of(url);
    if (initiator.size() > kWordBytes || suffix.size() >= kWordBytes) return std::nullopt;
    key.words_[kSuffix] = two_words(suffix)[0] | (suffix.size() + 1) << 56;
  }
  return key;
}

}  // namespace reprise
