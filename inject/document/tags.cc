#include "inject/document/tags.h"

#include <algorithm>

#include "base/http/headers.h"
#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {

bool ends_name(char c) {
  return is_white_space(c) || c == '/' || c == '>';
}

// Elements that can be in a <picture> and have no children that count.
bool is_in_pictures(std::string_view name) {
  return name == "source" || name == "img" || name == "image" || name == "template";
}

ByteSpan span_of(std::size_t begin, std::size_t end) {
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

}  // namespace

const TagAttribute* find_attribute(const StartTag& tag, std::string_view document,
                                   std::string_view name) {
  auto const found = std::ranges::find_if(tag.attributes, [&](const TagAttribute& one) {
    return equals_ignoring_case(one.name.in(document), name);
  });
  return found == tag.attributes.end() ? nullptr : &*found;
}

// The place of `what`, or the end.
std::size_t TagReader::find(std::string_view what, std::size_t from) {
  auto const found = std::min(document_.find(what, from), document_.size());
  steps_ += found - std::min(from, found) + 1;
  return found;
}

bool TagReader::is_tag_name_at(std::size_t at, std::string_view name) const {
  return document_.size() - at > name.size() &&
         equals_ignoring_case(document_.substr(at, name.size()), name) &&
         ends_name(document_[at + name.size()]);
}

bool TagReader::next(StartTag& tag) {
  while (true) {
    at_ = find("<", at_);
    if (at_ == document_.size()) return false;
    if (read_markup(tag)) return true;
  }
}

// At a '<'. True if a start tag was read.
bool TagReader::read_markup(StartTag& tag) {
  auto const begin = at_++;
  char const c = at_ < document_.size() ? document_[at_] : ' ';
  if (c == '!') {
    pass_declaration();
  } else if (c == '?') {
    at_ = find(">", at_);
  } else if (c == '/') {
    pass_end_tag();
  } else if (is_letter(c) && read_tag(tag, at_)) {
    tag.span = span_of(begin, at_);
    read_text_after(tag);
    follow_picture(tag);
    return true;
  }
  return false;
}

// At the '!' of "<!".
void TagReader::pass_declaration() {
  auto const rest = document_.substr(at_);
  if (rest.starts_with("!--")) {
    pass_comment();
  } else if (rest.starts_with("![CDATA[") && open_.is_foreign()) {
    at_ = find("]]>", at_);
  } else {
    at_ = find(">", at_);  // a doctype, or a bogus comment; quotes do not keep either open
  }
}

void TagReader::pass_comment() {
  at_ += 3;
  auto const rest = document_.substr(at_);
  if (rest.starts_with(">") || rest.starts_with("->")) return;
  while ((at_ = find("--", at_)) < document_.size()) {
    auto const after = document_.substr(at_ + 2);
    if (after.starts_with(">") || after.starts_with("!>")) return;
    ++at_;
  }
}

// At the '/' of "</".
void TagReader::pass_end_tag() {
  ++at_;
  if (at_ == document_.size()) return;
  if (!is_letter(document_[at_])) {
    at_ = find(">", at_);
  } else if (read_tag(end_tag_, at_)) {
    if (!open_.in_template() && !is_in_pictures(end_tag_.name)) in_picture_ = false;
    open_.end(end_tag_.name);
  }
}

// After an element of another name, what follows can be in that element. One whose text was read
// has ended, too.
void TagReader::follow_picture(StartTag& tag) {
  tag.in_picture = in_picture_ && !tag.in_template;
  if (tag.in_template) return;
  bool const stays = !tag.foreign && (is_in_pictures(tag.name) || tag.end_tag.size() > 0);
  in_picture_ = tag.is("picture") || (in_picture_ && stays);
}

// Reads the name and the attributes of a start or end tag, up to after the '>'. False if the
// document ends before: then it is no tag.
bool TagReader::read_tag(StartTag& tag, std::size_t name_begin) {
  tag.attributes.clear();
  tag.has_all_attributes = true;
  tag.name.clear();
  tag.text = tag.end_tag = {};
  while (at_ < document_.size() && !ends_name(document_[at_])) {
    tag.name += to_lower(document_[at_++]);
  }
  tag.name_span = span_of(name_begin, at_);
  while (read_attribute(tag)) continue;
  steps_ += at_ - name_begin;
  if (at_ == document_.size()) return false;
  ++at_;
  return true;
}

// False at the '>' of the tag, or at the end of the document.
bool TagReader::read_attribute(StartTag& tag) {
  auto const at_end = [this] { return at_ == document_.size(); };
  auto const skip_space = [&] {
    while (!at_end() && is_white_space(document_[at_])) ++at_;
  };
  while (!at_end() && (is_white_space(document_[at_]) || document_[at_] == '/')) ++at_;
  if (at_end() || document_[at_] == '>') return false;
  auto const begin = at_++;  // even '=' here
  while (!at_end() && !ends_name(document_[at_]) && document_[at_] != '=') ++at_;
  TagAttribute attribute{.name = span_of(begin, at_), .value = span_of(at_, at_), .whole = {}};
  auto end = at_;
  skip_space();
  if (!at_end() && document_[at_] == '=') {
    ++at_;
    skip_space();
    char const quote = at_end() ? ' ' : document_[at_];
    bool const quoted = quote == '"' || quote == '\'';
    auto const value_begin = quoted ? ++at_ : at_;
    if (quoted) {
      at_ = std::min(document_.find(quote, at_), document_.size());
      attribute.value = span_of(value_begin, at_);
      if (at_end()) return false;
      ++at_;
    } else {
      while (!at_end() && !is_white_space(document_[at_]) && document_[at_] != '>') ++at_;
      attribute.value = span_of(value_begin, at_);
    }
    end = at_;
  }
  attribute.whole = span_of(begin, end);
  tag.has_all_attributes = tag.attributes.size() < kTagAttributesMax;
  if (tag.has_all_attributes) tag.attributes.push_back(attribute);
  return true;
}

// What a tree builder does with the start tag, as far as it changes the reading.
void TagReader::read_text_after(StartTag& tag) {
  auto const has = [&](std::string_view name) {
    return find_attribute(tag, document_, name) != nullptr;
  };
  OpenForeign::Details details{.self_closing = document_[tag.span.end - 2] == '/'};
  if (details.self_closing && !tag.attributes.empty() && tag.has_all_attributes) {
    // The slash can be the end of a value without quotes.
    details.self_closing = tag.attributes.back().whole.end < tag.span.end - 1;
  }
  if (tag.name == "font") details.html_font = has("color") || has("face") || has("size");
  if (tag.name == "annotation-xml") {
    auto const* const encoding = find_attribute(tag, document_, "encoding");
    auto const value = encoding != nullptr ? encoding->value.in(document_) : std::string_view();
    details.html_annotation = equals_ignoring_case(value, "text/html") ||
                              equals_ignoring_case(value, "application/xhtml+xml");
  }
  tag.in_template = open_.in_template();
  tag.foreign = open_.start(tag.name, details);
  if (tag.foreign) return;
  static constexpr std::string_view kText[] = {"title",  "textarea", "style",   "xmp",
                                               "iframe", "noembed",  "noframes"};
  if (tag.name == "plaintext") {
    at_ = document_.size();
  } else if (tag.name == "script") {
    auto const begin = at_;
    pass_script();
    tag.text = span_of(begin, at_);
  } else if (std::ranges::find(kText, tag.name) != std::end(kText) ||
             (scripting_ && tag.name == "noscript")) {
    tag.text = pass_text(tag.name);
  } else {
    return;
  }
  if (at_ == document_.size()) return;
  auto const end_begin = at_;
  at_ += 2;
  if (read_tag(end_tag_, at_)) tag.end_tag = span_of(end_begin, at_);
}

// RCDATA and RAWTEXT: stops at the '<' of the end tag, or at the end.
ByteSpan TagReader::pass_text(std::string_view name) {
  auto const begin = at_;
  while ((at_ = find("</", at_)) < document_.size() && !is_tag_name_at(at_ + 2, name)) at_ += 2;
  return span_of(begin, at_);
}

// The text of a script, of which a part between "<!--" and "-->" can hold scripts in turn.
void TagReader::pass_script() {
  enum class Part { kPlain, kEscaped, kDoubleEscaped };
  auto part = Part::kPlain;
  auto const begin = at_;
  while (true) {
    auto const found = document_.find_first_of(part == Part::kPlain ? "<" : "<-", at_);
    at_ = std::min(found, document_.size());
    if (at_ == document_.size()) break;
    auto const rest = document_.substr(at_);
    if (rest.starts_with("-->")) {
      part = Part::kPlain;
    } else if (rest.starts_with("<!--") && part == Part::kPlain) {
      part = Part::kEscaped;
      ++at_;  // the dashes can be those of "-->"
    } else if (rest.starts_with("</") && is_tag_name_at(at_ + 2, "script")) {
      if (part != Part::kDoubleEscaped) break;
      part = Part::kEscaped;
    } else if (part == Part::kEscaped && rest.starts_with('<') &&
               is_tag_name_at(at_ + 1, "script")) {
      part = Part::kDoubleEscaped;
    }
    ++at_;
  }
  steps_ += at_ - begin;
}

}  // namespace reprise::inject
