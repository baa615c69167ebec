#include "base/text/glob.h"

namespace reprise {

bool fits_glob(std::string_view glob, std::string_view text) {
  std::size_t in_glob = 0;
  std::size_t in_text = 0;
  auto star = std::string_view::npos;  // the last '*', and the end of the text that it has matched
  std::size_t taken = 0;
  while (in_text < text.size()) {
    if (in_glob < glob.size() && glob[in_glob] == '*') {
      star = in_glob++;
      taken = in_text;
    } else if (in_glob < glob.size() && glob[in_glob] == text[in_text]) {
      ++in_glob;
      ++in_text;
    } else if (star != std::string_view::npos) {
      in_glob = star + 1;
      in_text = ++taken;
    } else {
      return false;
    }
  }
  while (in_glob < glob.size() && glob[in_glob] == '*') ++in_glob;
  return in_glob == glob.size();
}

}  // namespace reprise
