#include "tests/inject/gumbo_tree.h"

#include <gumbo.h>

#include <algorithm>
#include <map>

namespace reprise::inject {
namespace {

class Dumper {
 public:
  Dumper(Tree& tree, std::string_view own) : tree_(tree), own_(own) {}

  void dump(const GumboNode* node, int depth) {
    switch (node->type) {
      case GUMBO_NODE_ELEMENT:
      case GUMBO_NODE_TEMPLATE:
        return element(node, depth);
      case GUMBO_NODE_COMMENT:
        return line(depth, std::string("<!--") + node->v.text.text + "-->");
      case GUMBO_NODE_DOCUMENT:
        return document(node);
      default:
        // Text on both sides of what is left out is one text.
        if (text_.empty()) text_depth_ = depth;
        text_ += node->v.text.text;
    }
  }

  void flush() {
    if (!text_.empty()) tree_.dump += std::string(text_depth_, ' ') + '"' + text_ + "\"\n";
    text_.clear();
  }

 private:
  void line(int depth, const std::string& what) {
    flush();
    tree_.dump += std::string(depth, ' ') + what + '\n';
  }

  void document(const GumboNode* node) {
    const GumboDocument& document = node->v.document;
    if (document.has_doctype) {
      line(0, std::string("<!DOCTYPE ") + document.name + ' ' + document.public_identifier + ' ' +
                  document.system_identifier + '>');
    }
    line(0, "mode " + std::to_string(document.doc_type_quirks_mode));
    children(document.children, 0);
    flush();
  }

  void children(const GumboVector& all, int depth) {
    for (unsigned i = 0; i < all.length; ++i) {
      dump(static_cast<const GumboNode*>(all.data[i]), depth);
    }
  }

  static std::string name_of(const GumboElement& element) {
    if (element.tag != GUMBO_TAG_UNKNOWN) return gumbo_normalized_tagname(element.tag);
    GumboStringPiece piece = element.original_tag;
    gumbo_tag_from_original_text(&piece);
    return std::string(piece.data, piece.length);
  }

  void element(const GumboNode* node, int depth) {
    const GumboElement& element = node->v.element;
    if (element.tag == GUMBO_TAG_SCRIPT) {
      std::string text;
      for (unsigned i = 0; i < element.children.length; ++i) {
        text += static_cast<const GumboNode*>(element.children.data[i])->v.text.text;
      }
      tree_.scripts.push_back(text);
      if (text == own_) {
        ++tree_.found;
        tree_.parent = name_of(node->parent->v.element);
        return;
      }
    }
    std::map<std::string, std::string> attributes;
    for (unsigned i = 0; i < element.attributes.length; ++i) {
      auto const* const one = static_cast<const GumboAttribute*>(element.attributes.data[i]);
      attributes.emplace(one->name, one->value);
    }
    std::string start = std::to_string(element.tag_namespace) + '<' + name_of(element);
    for (const auto& [name, value] : attributes) start += ' ' + name + "=\"" + value + '"';
    line(depth, start + '>');
    children(element.children, depth + 1);
    flush();
  }

  Tree& tree_;
  std::string_view own_;
  std::string text_;
  int text_depth_ = 0;
};

}  // namespace

Tree tree_of(std::string_view html, std::string_view own) {
  GumboOptions options = kGumboDefaultOptions;
  options.max_errors = 0;
  if (html.starts_with("\xEF\xBB\xBF")) html.remove_prefix(3);  // a decoder's work
  GumboOutput* const output = gumbo_parse_with_options(&options, html.data(), html.size());
  Tree tree;
  Dumper(tree, own).dump(output->document, 0);
  gumbo_destroy_output(&options, output);
  return tree;
}

}  // namespace reprise::inject
