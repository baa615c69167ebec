#pragma once

// Files of JSON values one after the other: one for the whole file, or one a line. Pure.

#include <boost/json/stream_parser.hpp>
#include <cstddef>
#include <string_view>

#include "base/text/white_space.h"

namespace reprise {

/// Calls `use(value)` for each value of an untrusted text. Where it is not JSON, the rest of the
/// line is passed over. Returns how many times that was so.
template <class Use>
std::size_t each_json_value(std::string_view text, const Use& use) {
  std::size_t broken = 0;
  while (!(text = trim(text)).empty()) {
    boost::json::stream_parser parser;
    boost::system::error_code error;
    auto const used = parser.write_some(text, error);
    if (!error && !parser.done()) parser.finish(error);
    if (!error) {
      use(parser.release());
      text.remove_prefix(used);
      continue;
    }
    ++broken;
    auto const line_end = text.find('\n');
    if (line_end == std::string_view::npos) break;
    text.remove_prefix(line_end);
  }
  return broken;
}

}  // namespace reprise
