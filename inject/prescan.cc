#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/http/headers.h"
#include "base/text/ascii.h"
#include "base/text/white_space.h"
#include "inject/charset.h"

namespace reprise::inject {
namespace {

/// The encoding that browsers use for the label in a meta element. The declaration itself was
/// readable as ASCII, so a label such as UTF-16 cannot be true.
std::optional<Declaration> declared(std::string_view label, std::size_t end_bytes) {
  auto const form = form_of_label(label);
  if (!form) return std::nullopt;
  if (*form == TextForm::kUtf16le || *form == TextForm::kUtf16be) {
    return Declaration{.label = "utf-8", .form = TextForm::kAscii, .end_bytes = end_bytes};
  }
  label = trim(label);
  if (equals_ignoring_case(label, "x-user-defined")) label = "windows-1252";
  return Declaration{.label = std::string(label), .form = *form, .end_bytes = end_bytes};
}

/// "extracting a character encoding from a meta element"
std::string_view charset_in_content(std::string_view content) {
  for (std::size_t at = 0; at + 7 <= content.size(); ++at) {
    if (!starts_with_ignoring_case(content.substr(at), "charset")) continue;
    auto rest = content.substr(at + 7);
    while (!rest.empty() && is_white_space(rest.front())) rest.remove_prefix(1);
    if (rest.empty() || rest.front() != '=') continue;
    rest.remove_prefix(1);
    while (!rest.empty() && is_white_space(rest.front())) rest.remove_prefix(1);
    if (rest.empty()) return {};
    if (char const quote = rest.front(); quote == '"' || quote == '\'') {
      rest.remove_prefix(1);
      auto const end = rest.find(quote);
      return end == rest.npos ? std::string_view() : rest.substr(0, end);
    }
    auto const end =
        std::ranges::find_if(rest, [](char c) { return is_white_space(c) || c == ';'; });
    return rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  }
  return {};
}

class Prescan {
 public:
  explicit Prescan(std::string_view text) : text_(text) {}

  std::optional<Declaration> run() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] != '<') continue;
      auto const rest = text_.substr(at_);
      if (rest.starts_with("<!--")) {
        skip_past("-->", at_ + 2);
      } else if (starts_with_ignoring_case(rest, "<meta") && rest.size() > 5 &&
                 (is_white_space(rest[5]) || rest[5] == '/')) {
        at_ += 5;
        if (auto found = meta()) return found;
      } else if (rest.size() > 1 && is_letter(rest[rest[1] == '/' && rest.size() > 2 ? 2 : 1])) {
        while (at_ < text_.size() && !is_white_space(text_[at_]) && text_[at_] != '>') ++at_;
        while (attribute()) continue;
      } else if (rest.size() > 1 && (rest[1] == '!' || rest[1] == '/' || rest[1] == '?')) {
        skip_past(">", at_);
      }
    }
    return std::nullopt;
  }

  std::size_t looked_at() const { return std::min(at_, text_.size()); }

 private:
  struct Attribute {
    std::string_view name;
    std::string_view value;
  };

  void skip_past(std::string_view end, std::size_t from) {
    auto const found = text_.find(end, from);
    at_ = found == text_.npos ? text_.size() : found + end.size() - 1;
  }

  bool over() const { return at_ >= text_.size(); }
  void skip_space() {
    while (!over() && is_white_space(text_[at_])) ++at_;
  }

  // "get an attribute"; nothing at the '>' of the tag, or at the end of the bytes.
  std::optional<Attribute> attribute() {
    while (!over() && (is_white_space(text_[at_]) || text_[at_] == '/')) ++at_;
    if (over() || text_[at_] == '>') return std::nullopt;
    auto const name_start = at_;
    do {
      ++at_;
    } while (!over() && !is_white_space(text_[at_]) &&
             !std::string_view("=/>").contains(text_[at_]));
    Attribute result{.name = text_.substr(name_start, at_ - name_start), .value = {}};
    skip_space();
    if (over()) return std::nullopt;
    if (text_[at_] != '=') return result;
    ++at_;
    skip_space();
    if (over()) return std::nullopt;
    if (char const quote = text_[at_]; quote == '"' || quote == '\'') {
      auto const end = text_.find(quote, at_ + 1);
      if (end == text_.npos) {
        at_ = text_.size();
        return std::nullopt;
      }
      result.value = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return result;
    }
    auto const value_start = at_;
    while (!over() && !is_white_space(text_[at_]) && text_[at_] != '>') ++at_;
    if (over()) return std::nullopt;
    result.value = text_.substr(value_start, at_ - value_start);
    return result;
  }

  std::optional<Declaration> meta() {
    std::optional<std::string_view> http_equiv, content, charset;
    while (auto const found = attribute()) {
      auto const keep = [&found](std::string_view name, auto& slot) {
        if (!slot && equals_ignoring_case(found->name, name)) slot = found->value;
      };
      keep("http-equiv", http_equiv);
      keep("content", content);
      keep("charset", charset);
    }
    if (over()) return std::nullopt;  // the tag is not complete
    if (charset) return declared(*charset, at_ + 1);
    if (!http_equiv || !content || !equals_ignoring_case(*http_equiv, "content-type")) {
      return std::nullopt;
    }
    return declared(charset_in_content(*content), at_ + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Declaration> prescan(std::span<const std::byte> document, std::uint64_t& steps) {
  auto const text = text_of(document);
  using namespace std::string_view_literals;
  if (text.starts_with("<\0?\0x\0"sv)) return Declaration{"utf-16le", TextForm::kUtf16le, 0};
  if (text.starts_with("\0<\0?\0x"sv)) return Declaration{"utf-16be", TextForm::kUtf16be, 0};
  Prescan scan(text);
  auto found = scan.run();
  steps += scan.looked_at();
  return found ? found : xml_declaration(document);
}

// "get an XML encoding", which HTML uses, too, if no meta element declares an encoding.
std::optional<Declaration> xml_declaration(std::span<const std::byte> document) {
  auto const text = text_of(document.first(std::min(document.size(), kPrescanBytes)));
  if (!text.starts_with("<?xml")) return std::nullopt;
  auto const end = text.find('>');
  if (end == text.npos) return std::nullopt;
  auto rest = text.substr(0, end);
  auto const name = rest.find("encoding");
  if (name == rest.npos) return std::nullopt;
  rest.remove_prefix(name + 8);
  auto const skip = [&rest] {
    while (!rest.empty() && static_cast<unsigned char>(rest.front()) <= 0x20) rest.remove_prefix(1);
  };
  skip();
  if (!rest.starts_with('=')) return std::nullopt;
  rest.remove_prefix(1);
  skip();
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return std::nullopt;
  auto const close = rest.find(rest.front(), 1);
  if (close == rest.npos) return std::nullopt;
  auto const label = rest.substr(1, close - 1);
  if (std::ranges::any_of(label, [](char c) { return static_cast<unsigned char>(c) <= 0x20; })) {
    return std::nullopt;
  }
  return declared(label, end + 1);
}

}  // namespace reprise::inject
