// Random pages: A against A has no differences, B against A mirrors A against B, and a document
// with all edits is B's.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/differences/content.h"
#include "tests/analysis/differences/made_page.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t most) { return random_() % most; }
  std::string word() {
    constexpr std::string_view kLetters = "abcdef0123";
    std::string text(1 + below(9), ' ');
    for (char& c : text) c = kLetters[below(kLetters.size())];
    return text;
  }
  std::string markup() {
    std::string text;
    for (auto left = 3 + below(12); left > 0; --left) {
      switch (below(5)) {
        case 0:
          text += "<script src=/" + word() + ".js></script>\n";
          break;
        case 1:
          text += "<img src=/" + word() + ".png>";
          break;
        case 2:
          text += "<p>" + word() + "</p>\n";
          break;
        case 3:
          text += "<script>" + word() + "(" + word() + ")</script>";
          break;
        default:
          text += "<div><b>" + word() + "</b></div>";
      }
    }
    return text;
  }

 private:
  std::mt19937_64 random_;
};

/// `page` and a page that was changed in some ways.
MadePage random_page(Chance& chance) {
  MadePage page;
  page.add("https://a.test/", "text/html", chance.markup());
  for (auto left = chance.below(12); left > 0; --left) {
    auto const host = "https://" + std::string(1, char('a' + chance.below(3))) + ".test/";
    page.add(host + chance.word() + "/" + chance.word() + ".js?" + chance.word(), "text/javascript",
             chance.word() + "(" + chance.word() + ");");
  }
  return page;
}

void change(MadePage& page, Chance& chance) {
  auto const urls = [&] {
    std::vector<std::string> all;
    for (auto const& each : page.page.exchanges) all.push_back(each.url());
    return all;
  }();
  page.set_body("https://a.test/", chance.markup());
  for (const std::string& url : urls) {
    if (url == "https://a.test/" || chance.below(2) == 0) continue;
    switch (chance.below(6)) {
      case 0:
        page.remove(url);
        break;
      case 1:
        page.set_body(url, chance.word() + "();");
        break;
      case 2:
        page.at(url).target += "&t=" + chance.word();
        break;
      case 3:
        page.at(url).think = std::chrono::milliseconds(chance.below(300));
        break;
      case 4:
        page.at(url).status = 404;
        break;
      default:
        page.page.hosts[page.at(url).host].chain_bytes += 3000;
    }
  }
  page.add("https://d.test/" + chance.word(), "image/png", chance.word());
}

DifferenceKind mirrored(DifferenceKind kind) {
  if (kind == DifferenceKind::kCame) return DifferenceKind::kWent;
  return kind == DifferenceKind::kWent ? DifferenceKind::kCame : kind;
}

TEST(Mirror, AgainstItselfAPageHasNoDifference) {
  for_seeds(200, [](std::uint64_t seed) {
    Chance chance(seed);
    auto const page = random_page(chance);
    EXPECT_TRUE(differences_of(page, page).all.empty());
  });
}

TEST(Mirror, BAgainstAIsTheMirrorOfAAgainstB) {
  for_seeds(200, [](std::uint64_t seed) {
    Chance chance(seed);
    auto const a = random_page(chance);
    auto b = a;
    change(b, chance);
    auto const there = differences_of(a, b);
    auto const back = differences_of(b, a);
    std::map<DifferenceKind, std::size_t> kinds;
    std::map<DifferenceKind, std::size_t> kinds_back;
    for (auto const& each : there.all) ++kinds[each.kind];
    for (auto const& each : back.all) ++kinds_back[mirrored(each.kind)];
    EXPECT_EQ(kinds, kinds_back);
    std::vector<AlignedPair> pairs;
    for (auto const& pair : back.alignment.pairs) pairs.push_back({.a = pair.b, .b = pair.a});
    auto expected = there.alignment.pairs;
    std::ranges::sort(pairs, {}, &AlignedPair::a);
    std::ranges::sort(expected, {}, &AlignedPair::a);
    EXPECT_EQ(pairs, expected);
  });
}

TEST(Mirror, ADocumentWithAllEditsIsTheOtherOne) {
  for_seeds(300, [](std::uint64_t seed) {
    Chance chance(seed);
    auto const a = chance.markup();
    auto const b = chance.markup();
    auto const compared = compare_documents(a, b);
    auto made = with_edits(a, compared.edits, std::vector<bool>(compared.edits.size(), true));
    auto expected = b;
    // White space between tokens is no edit.
    for (auto* const text : {&made, &expected}) std::erase(*text, '\n');
    EXPECT_EQ(made, expected);
    std::size_t in_pieces = 0;
    for (auto const& piece : compared.pieces) in_pieces += piece.edits.size();
    EXPECT_EQ(in_pieces, compared.edits.size());
  });
}

}  // namespace
}  // namespace reprise
