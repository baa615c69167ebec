#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::inject {

/// An element as gumbo has it.
struct ParsedElement {
  std::size_t offset_bytes = 0;  ///< of its start tag; those without one are not listed
  std::string name;
  bool foreign = false;
  bool in_template = false;
  std::map<std::string, std::string> attributes;
  std::string text;             ///< of its text nodes
  bool text_is_hidden = false;  ///< set by a change: its content is not shown
};

/// The elements of a document in UTF-8 that have a start tag, by their places, each once.
std::vector<ParsedElement> parsed_elements(std::string_view document);

/// The tree, one node per line, with changes: `change` gets each element that has a start tag of
/// its own, and says whether it stays.
std::string parsed_tree(std::string_view document,
                        const std::function<bool(ParsedElement&)>& change = {});

}  // namespace reprise::inject
