#include "analysis/partials/call_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/beacons/beacon_reader.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

/// A request in a text of its own, with what other texts would have after it.
struct Made {
  std::string text;
  BeaconRequest request;

  Made(const std::string& url, const std::string& initiator, std::int64_t status,
       bool has_padding) {
    text = url + initiator;
    text.resize(text.size() + (has_padding ? BeaconReader::kPaddingBytes : 0), '/');
    text.shrink_to_fit();
    request.name = std::string_view(text).substr(0, url.size());
    request.initiator = std::string_view(text).substr(url.size(), initiator.size());
    request.status = status;
    request.has_padding = has_padding;
  }
  Made(const Made&) = delete;
};

/// A number that stands for the key; two keys with the same one are the same.
class Numbers {
 public:
  std::size_t of(const CallKey& key) {
    std::size_t i = 0;
    while (i < keys_.size() && !(keys_[i] == key)) ++i;
    if (i == keys_.size()) keys_.push_back(key);
    return i;
  }

 private:
  std::vector<CallKey> keys_;
};

TEST(CallKey, IsTheSameForTheSameRequestsAlone) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  auto const any = [&random](std::initializer_list<const char*> texts) {
    return std::string(texts.begin()[random() % texts.size()]);
  };
  using Parts = std::tuple<std::string, std::string, std::string, std::int64_t, std::uint32_t>;
  std::map<Parts, std::size_t> known;
  Numbers numbers;
  std::size_t made_keys = 0;
  constexpr int kRounds = rounds_of(20'000);
  for (int i = 0; i < kRounds; ++i) {
    // Hosts of 0 to 40 bytes that differ in one byte, if at all.
    std::string host(random() % 41, 'h');
    if (!host.empty() && random() % 2 > 0) host[random() % host.size()] = 'i';
    auto const url = "https://" + host +
                     any({"", "/", "/a.js", "/a.b/c", "/x.css?y=/z.js", "/.png#a",
                          "/a.longer-than-all", "/very/long/path/to/a.woff2"});
    auto const initiator =
        any({"img", "link", "fetch", "script", "xmlhttprequest", "navigation", "", "imh", "fetcj",
             "iframe", "a-long-one", "longer-than-all-of-them"});
    auto const status = std::int64_t{i % 7 == 0 ? 302 : 0};
    auto const page = static_cast<std::uint32_t>(i % 2);
    Made const plain(url, initiator, status, false), padded(url, initiator, status, true);
    auto const key = CallKey::of(plain.request, page);
    auto const same = CallKey::of(padded.request, page);
    ASSERT_EQ(key.has_value(), same.has_value()) << url << ' ' << initiator;
    if (host.size() > 31 || initiator.size() > 15) ASSERT_FALSE(key) << url << ' ' << initiator;
    if (!key) continue;
    ++made_keys;
    ASSERT_TRUE(*key == *same) << url << ' ' << initiator;
    ASSERT_EQ(key->hash(), same->hash());
    ASSERT_FALSE(key->is_empty());
    bool const is_typed = std::ranges::find(kTypedInitiators, initiator) != kTypedInitiators.end();
    Parts const parts(site_of(url), initiator, is_typed ? "typed" : suffix_of(url), status, page);
    auto const number = numbers.of(*key);
    ASSERT_EQ(known.try_emplace(parts, number).first->second, number) << url << ' ' << initiator;
  }
  // As many keys as there are different parts.
  std::map<std::size_t, Parts> by_number;
  for (auto const& [parts, number] : known) {
    ASSERT_TRUE(by_number.try_emplace(number, parts).second) << std::get<0>(parts);
  }
  EXPECT_GT(made_keys, std::size_t{kRounds / 4});
}

TEST(CallKey, IsOfHttpsAlone) {
  for (auto const* const url : {"", "http://a.test/", "https:/", "data:image/png;base64,AAAA"}) {
    Made const made(url, "img", 0, true);
    EXPECT_FALSE(CallKey::of(made.request, 0)) << url;
  }
  EXPECT_TRUE(CallKey().is_empty());
}

TEST(CallKey, HasNoStatusThatDoesNotFit) {
  Made const fits("https://a.test/", "img", 65'535, true),
      large("https://a.test/", "img", 65'536, true);
  EXPECT_TRUE(CallKey::of(fits.request, 0));
  EXPECT_FALSE(CallKey::of(large.request, 0));
}

}  // namespace
}  // namespace reprise
