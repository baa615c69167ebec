#include "archive/match/json.h"

namespace reprise {
namespace {

using Leaf = std::function<bool(const std::string&, std::string_view)>;

class Walker {
 public:
  Walker(std::string_view text, std::size_t depth_max, const Leaf& leaf)
      : rest_(text), depth_max_(depth_max), leaf_(leaf) {}

  bool run() {
    skip_space();
    do {
      if (!rest_.starts_with('{') && !rest_.starts_with('[')) return false;
      if (!value(0)) return false;
      skip_space();
    } while (!rest_.empty());
    return true;
  }

 private:
  void skip_space() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void give(std::string_view text) {
    if (wanted_) wanted_ = leaf_(path_, text);
  }
  bool value(std::size_t depth);
  bool object(std::size_t depth);
  bool array(std::size_t depth);
  bool string(std::string_view& text);
  bool word();

  std::string_view rest_;
  std::size_t depth_max_;
  const Leaf& leaf_;
  std::string path_;
  bool wanted_ = true;
};

bool Walker::value(std::size_t depth) {
  skip_space();
  if (depth > depth_max_) return false;
  if (take('{')) return object(depth);
  if (take('[')) return array(depth);
  if (!rest_.starts_with('"')) return word();
  std::string_view text;
  if (!string(text)) return false;
  give(text);
  return true;
}

bool Walker::object(std::size_t depth) {
  if (take('}')) {
    give("{}");
    return true;
  }
  do {
    skip_space();
    std::string_view name;
    if (!string(name) || !take(':')) return false;
    auto const before = path_.size();
    path_.append("/").append(name);
    if (!value(depth + 1)) return false;
    path_.resize(before);
  } while (take(','));
  return take('}');
}

bool Walker::array(std::size_t depth) {
  if (take(']')) {
    give("[]");
    return true;
  }
  path_ += "[]";
  do {
    if (!value(depth + 1)) return false;
  } while (take(','));
  path_.resize(path_.size() - 2);
  return take(']');
}

bool Walker::string(std::string_view& text) {
  if (!rest_.starts_with('"')) return false;
  for (std::size_t at = 1; at < rest_.size(); ++at) {
    if (static_cast<unsigned char>(rest_[at]) < 0x20) return false;
    if (rest_[at] == '\\') {
      ++at;
    } else if (rest_[at] == '"') {
      text = rest_.substr(1, at - 1);
      rest_.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

/// A number, or one of the three names. Anything else is invalid.
bool Walker::word() {
  auto const text = rest_.substr(0, rest_.find_first_of(" \t\r\n,]}"));
  bool const number = !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) &&
                      text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  if (!number && text != "true" && text != "false" && text != "null") return false;
  rest_.remove_prefix(text.size());
  give(text);
  return true;
}

}  // namespace

bool walk_json(std::string_view text, std::size_t depth_max, const Leaf& leaf) {
  return Walker(text, depth_max, leaf).run();
}

}  // namespace reprise
