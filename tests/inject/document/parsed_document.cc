#include "tests/inject/document/parsed_document.h"

#include <gumbo.h>

#include <algorithm>

namespace reprise::inject {
namespace {

/// Walks a tree that gumbo made.
class Walk {
 public:
  Walk(std::string_view document, const std::function<bool(ParsedElement&)>& change)
      : document_(document), change_(change) {}

  std::string run() {
    GumboOptions options = kGumboDefaultOptions;
    options.max_errors = 0;
    GumboOutput* const output =
        gumbo_parse_with_options(&options, document_.data(), document_.size());
    children(output->document->v.document.children, 0);
    flush();
    gumbo_destroy_output(&options, output);
    return std::move(dump_);
  }

 private:
  void flush() {
    if (!text_.empty()) dump_ += std::string(text_depth_, ' ') + '"' + text_ + "\"\n";
    text_.clear();
  }

  void children(const GumboVector& all, std::size_t depth) {
    for (unsigned i = 0; i < all.length; ++i) {
      visit(static_cast<const GumboNode*>(all.data[i]), depth);
    }
  }

  void visit(const GumboNode* node, std::size_t depth) {
    if (node->type == GUMBO_NODE_ELEMENT || node->type == GUMBO_NODE_TEMPLATE) {
      return element(node->v.element, depth);
    }
    if (node->type == GUMBO_NODE_COMMENT) {
      flush();
      dump_ += std::string(depth, ' ') + "<!--" + node->v.text.text + "-->\n";
      return;
    }
    if (text_.empty()) text_depth_ = depth;
    text_ += node->v.text.text;
  }

  void element(const GumboElement& element, std::size_t depth) {
    ParsedElement parsed;
    parsed.in_template = templates_ > 0;
    parsed.foreign = element.tag_namespace != GUMBO_NAMESPACE_HTML;
    GumboStringPiece name = element.original_tag;
    bool const written = name.data != nullptr;
    if (written) {
      parsed.offset_bytes = static_cast<std::size_t>(name.data - document_.data());
      gumbo_tag_from_original_text(&name);
      parsed.name.assign(name.data, name.length);
      std::ranges::transform(parsed.name, parsed.name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
      });
    } else {
      parsed.name = gumbo_normalized_tagname(element.tag);
    }
    for (unsigned i = 0; i < element.attributes.length; ++i) {
      auto const* const one = static_cast<const GumboAttribute*>(element.attributes.data[i]);
      parsed.attributes.emplace(one->name, one->value);
    }
    for (unsigned i = 0; i < element.children.length; ++i) {
      auto const* const child = static_cast<const GumboNode*>(element.children.data[i]);
      if (child->type == GUMBO_NODE_TEXT || child->type == GUMBO_NODE_WHITESPACE) {
        parsed.text += child->v.text.text;
      }
    }
    if (change_ && written && !change_(parsed)) return;
    flush();
    dump_ += std::string(depth, ' ') + (parsed.foreign ? "foreign " : "") + '<' + parsed.name;
    for (const auto& [key, value] : parsed.attributes) dump_ += ' ' + key + "=\"" + value + '"';
    dump_ += ">\n";
    if (parsed.text_is_hidden) return;
    bool const is_template = element.tag == GUMBO_TAG_TEMPLATE && !parsed.foreign;
    templates_ += is_template ? 1 : 0;
    children(element.children, depth + 1);
    templates_ -= is_template ? 1 : 0;
    flush();
  }

  std::string_view document_;
  const std::function<bool(ParsedElement&)>& change_;
  std::string dump_;
  std::string text_;
  std::size_t text_depth_ = 0;
  int templates_ = 0;
};

}  // namespace

std::string parsed_tree(std::string_view document,
                        const std::function<bool(ParsedElement&)>& change) {
  return Walk(document, change).run();
}

std::vector<ParsedElement> parsed_elements(std::string_view document) {
  std::map<std::size_t, ParsedElement> found;
  parsed_tree(document, [&found](ParsedElement& element) {
    found.emplace(element.offset_bytes, element);
    return true;
  });
  std::vector<ParsedElement> elements;
  for (auto& [offset, element] : found) elements.push_back(std::move(element));
  return elements;
}

}  // namespace reprise::inject
