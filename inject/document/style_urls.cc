#include "inject/document/style_urls.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/http/headers.h"
#include "base/http/url.h"
#include "base/text/white_space.h"
#include "inject/document/references.h"

namespace reprise::inject {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

// Reads a style sheet token by token, and writes it with other URLs.
class StyleReader {
 public:
  StyleReader(std::string_view style, std::string_view base) : style_(style), base_(base) {}

  std::string run() {
    while (at_ < style_.size()) step();
    out_ += style_.substr(written_);
    return std::move(out_);
  }

 private:
  bool over() const { return at_ >= style_.size(); }
  char here() const { return style_[at_]; }

  void step() {
    auto const rest = style_.substr(at_);
    char const c = rest.front();
    if (rest.starts_with("/*")) {
      at_ = style_.find("*/", at_ + 2);
      at_ = at_ == style_.npos ? style_.size() : at_ + 2;
      return;
    }
    if (is_white_space(c)) {
      ++at_;
      return;
    }
    if (c == '"' || c == '\'') {
      auto const begin = at_;
      auto const text = read_string();
      if (text && (rule_ == "import" || (!sets_.empty() && sets_.back()))) put(begin, *text);
    } else if (c == '@') {
      ++at_;
      rule_ = read_name();
      return;
    } else if (c == '#') {
      ++at_;
      read_name();
    } else if (is_name_character(c) || c == '\\') {
      read_function();
    } else {
      if (c == '(') sets_.push_back(false);
      if (c == ')' && !sets_.empty()) sets_.pop_back();
      if (c == ';' || c == '{' || c == '}') rule_.clear();
      ++at_;
    }
    // The URL of an @import is its first token.
    if (rule_ == "import") rule_.clear();
  }

  // At a backslash.
  void read_escape(std::string& text) {
    ++at_;
    if (over()) return;
    auto const is_digit = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    auto const begin = at_;
    while (!over() && at_ - begin < 6 && is_digit(here())) ++at_;
    if (at_ == begin) {
      if (here() != '\n') text += here();  // a line end in a string is skipped
      ++at_;
      return;
    }
    text += attribute_value("&#x" + std::string(style_.substr(begin, at_ - begin)) + ";");
    if (!over() && is_white_space(here())) ++at_;
  }

  std::string read_name() {
    std::string name;
    while (!over() && (is_name_character(here()) || here() == '\\')) {
      if (here() == '\\') {
        read_escape(name);
      } else {
        name += here();
        ++at_;
      }
    }
    return lower_case(name);
  }

  // At a quote. Nothing if a line ends in it.
  std::optional<std::string> read_string() {
    char const quote = here();
    ++at_;
    std::string text;
    while (!over() && here() != quote) {
      if (here() == '\\') {
        read_escape(text);
      } else if (here() == '\n') {
        return std::nullopt;
      } else {
        text += here();
        ++at_;
      }
    }
    at_ = std::min(at_ + 1, style_.size());
    return text;
  }

  void skip_space() {
    while (!over() && is_white_space(here())) ++at_;
  }

  // A name, and the URL in it if it is the function url().
  void read_function() {
    auto const name = read_name();
    if (over() || here() != '(') return;
    ++at_;
    if (name != "url") {
      sets_.push_back(name == "image-set" || name == "-webkit-image-set");
      return;
    }
    skip_space();
    auto const begin = at_;
    bool const quoted = !over() && (here() == '"' || here() == '\'');
    if (auto const text = quoted ? read_string() : read_bare_url(); text && rule_ != "namespace") {
      put(begin, *text);
    }
    at_ = std::min(style_.find(')', at_), style_.size());
    if (!over()) ++at_;
  }

  // Up to the ')' or the space before it. Nothing if it is no URL.
  std::optional<std::string> read_bare_url() {
    std::string text;
    while (!over() && here() != ')' && !is_white_space(here())) {
      if (std::string_view("\"'(").contains(here())) return std::nullopt;
      if (here() == '\\') {
        read_escape(text);
      } else {
        text += here();
        ++at_;
      }
    }
    auto const end = at_;
    skip_space();
    if (!over() && here() != ')') return std::nullopt;
    at_ = end;
    return text;
  }

  // Writes `text`, which stands from `begin` up to here, as an absolute URL.
  void put(std::size_t begin, std::string_view text) {
    auto const trimmed = trim(text);
    if (trimmed.empty() || trimmed.starts_with('#') || absolute_url(trimmed)) return;
    auto const url = resolved_url(trimmed, base_);
    if (!url) return;
    out_ += style_.substr(written_, begin - written_);
    out_ += '"';
    for (char const c :
         *url + std::string(trimmed.substr(std::min(trimmed.find('#'), trimmed.size())))) {
      if (c == '"' || c == '\\') out_ += '\\';
      out_ += c == '\n' ? ' ' : c;
    }
    out_ += '"';
    written_ = at_;
  }

  std::string_view style_;
  std::string_view base_;
  std::size_t at_ = 0;
  std::size_t written_ = 0;  // up to here it is in out_
  std::string out_;
  std::string rule_;        // the at-rule whose prelude this is
  std::vector<bool> sets_;  // the open parentheses: whether of an image-set()
};

}  // namespace

std::string with_absolute_urls(std::string_view style, std::string_view base) {
  return StyleReader(style, base).run();
}

}  // namespace reprise::inject
