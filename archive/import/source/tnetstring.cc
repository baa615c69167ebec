#include "archive/import/source/tnetstring.h"

#include <charconv>

namespace reprise::importing {
namespace {

constexpr std::size_t kDigitsMax = 12;
constexpr std::size_t kKeyBytesMax = 1024;

/// Whether the payload is valid for that type; text always is.
bool is_of_type(std::string_view payload, char type) {
  double number = 0;
  switch (type) {
    case '#':
    case '^':
      return std::from_chars(payload.data(), payload.data() + payload.size(), number).ptr ==
             payload.data() + payload.size();
    case '!':
      return payload == "true" || payload == "false";
    case '~':
      return payload.empty();
    default:
      return true;
  }
}

}  // namespace

void TnetReader::bad(const char* what) {
  from_.fail("at byte " + std::to_string(from_.offset()) + ": " + what);
}

bool TnetReader::open() {
  if (from_.failed() || (!ends_.empty() && !more())) return false;
  auto const text = from_.fill(kDigitsMax + 1);
  std::uint64_t length = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < kDigitsMax && text[digits] >= '0' &&
         text[digits] <= '9') {
    length = length * 10 + static_cast<unsigned>(text[digits++] - '0');
  }
  if (digits == 0 || digits == text.size() || text[digits] != ':') {
    bad("malformed tnetstring length");
    return false;
  }
  auto const end = from_.offset() + digits + 1 + length;
  if (ends_.size() == kDepthMax || (!ends_.empty() && end + 1 > ends_.back())) {
    bad(ends_.size() == kDepthMax ? "nested too deeply" : "a value is longer than its container");
    return false;
  }
  from_.consume(digits + 1);
  ends_.push_back(end);
  return true;
}

char TnetReader::close() {
  read([](std::string_view) {});
  ends_.pop_back();
  auto const text = from_.some();
  if (text.empty()) {
    bad("the file ends inside a value");
    return 0;
  }
  auto const type = text.front();
  constexpr std::string_view kTypes = ",;#^!~}]";
  if (kTypes.find(type) == std::string_view::npos) {
    bad("a value has an unknown type");
    return 0;
  }
  from_.consume(1);
  return type;
}

std::optional<std::string> TnetReader::text_up_to(std::size_t limit, bool& is_cut) {
  if (!open()) return std::nullopt;
  std::string text;
  bool is_longer = false;
  read([&](std::string_view piece) {
    auto const room = limit - text.size();
    is_longer = is_longer || piece.size() > room;
    text += piece.substr(0, room);
  });
  auto const type = close();
  if (type != 0 && !is_longer && !is_of_type(text, type)) bad("a value does not match its type");
  is_cut = is_cut || is_longer;
  if (from_.failed() || type == '~') return std::nullopt;
  return text;
}

bool TnetReader::next_key(std::string& key) {
  if (!more()) return false;
  bool is_cut = false;  // a longer one is unknown
  key = text_up_to(kKeyBytesMax, is_cut).value_or("");
  if (!more()) bad("a key without a value");
  return !from_.failed();
}

bool TnetReader::close_dictionary() {
  bool const is_empty = !more();
  auto const type = close();
  if (type == '}') return true;
  if (type != 0 && (type != '~' || !is_empty)) bad("a dictionary is expected here");
  return false;
}

}  // namespace reprise::importing
