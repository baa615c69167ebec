#pragma once

#include <random>
#include <string>

namespace reprise::inject {

/// A page of about `size` bytes that compresses as pages do, the same in every run.
inline std::string sample_page(std::size_t size) {
  static constexpr std::string_view kWords[] = {"time",  "year",    "people",  "way",    "day",
                                                "man",   "thing",   "woman",   "life",   "child",
                                                "world", "school",  "state",   "family", "student",
                                                "group", "country", "problem", "hand",   "part"};
  static constexpr std::string_view kTags[] = {"p",  "div class=\"story item\"", "li", "span",
                                               "h2", "a href=\"/articles/2026/"};
  std::mt19937 random(42);  // NOLINT: the same page in every run
  std::string page =
      "<!doctype html><html lang=\"en\"><head><title>A sample</title>\n"
      "<link rel=\"stylesheet\" href=\"/style.css\"></head><body>\n";
  while (page.size() < size) {
    auto const tag = kTags[random() % std::size(kTags)];
    page += '<';
    page += tag;
    if (tag.ends_with('/')) page += std::to_string(random() % 100'000) + "\" id=\"x\"";
    page += '>';
    for (auto words = random() % 20; words > 0; --words) {
      page += kWords[random() % std::size(kWords)];
      if (random() % 8 == 0) page += std::to_string(random() % 1000);
      page += ' ';
    }
    page += "</" + std::string(tag.substr(0, tag.find(' '))) + ">\n";
  }
  page.resize(size);
  return page;
}

}  // namespace reprise::inject
