#include "archive/import/source/json_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text/white_space.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kNameBytesMax = 1024;
constexpr std::size_t kBareBytesMax = 64;

constexpr std::size_t kShortBytes = 256;
constexpr std::size_t kGatheredBytes = 16 << 10;

constexpr std::array<bool, 256> make_plain() {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < plain.size(); ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr auto kPlain = make_plain();

/// How many bytes of `text` need no unescaping in a string.
std::size_t plain_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && kPlain[static_cast<unsigned char>(text[length])]) ++length;
  return length;
}

bool is_high_surrogate(unsigned unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool is_low_surrogate(unsigned unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

void append_utf8(unsigned code, std::string& out) {
  if (is_high_surrogate(code) || is_low_surrogate(code)) code = 0xfffd;
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      out += static_cast<char>(0xe0 | code >> 12);
    } else {
      out += static_cast<char>(0xf0 | code >> 18);
      out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    }
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  out += static_cast<char>(0x80 | (code & 0x3f));
}

}  // namespace

std::size_t call_length(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  constexpr std::string_view kName =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.";
  auto const name = text.find_first_not_of(kSpace);
  auto const name_end = text.find_first_not_of(kName, name);
  auto const bracket = text.find_first_not_of(kSpace, name_end);
  bool const is_call = name < name_end && bracket != std::string_view::npos && text[bracket] == '(';
  return is_call ? bracket + 1 : 0;
}

JsonReader::JsonReader(ByteReader& from) : from_(from) {
  if (from_.fill(3).starts_with("\xef\xbb\xbf")) from_.consume(3);
  auto const call = call_length(from_.fill(kNameBytesMax).substr(0, kNameBytesMax));
  from_.consume(call);
  in_call_ = call > 0;
}

void JsonReader::bad(const char* what) {
  from_.fail("not JSON at byte " + std::to_string(from_.offset()) + ": " + what);
}

/// The next character that is not white space, without taking it; 0 at the end.
char JsonReader::next_char() {
  while (true) {
    auto const text = from_.some();
    if (text.empty()) return 0;
    std::size_t spaces = 0;
    while (spaces < text.size() && is_white_space(text[spaces])) ++spaces;
    from_.consume(spaces);
    if (spaces < text.size()) return text[spaces];
  }
}

void JsonReader::expect(char wanted) {
  if (auto const c = next_char(); c == wanted) {
    from_.consume(1);
  } else if (c == 0) {
    bad("the JSON text ends too early");
  } else {
    char const what[] = {'\'', wanted, '\'', ' ', 'i', 's', ' ', 'm',
                         'i',  's',    's',  'i', 'n', 'g', 0};
    bad(what);
  }
}

JsonKind JsonReader::peek() {
  auto const c = next_char();
  switch (c) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kString;
    case 't':
      return JsonKind::kTrue;
    case 'f':
      return JsonKind::kFalse;
    case 'n':
      return JsonKind::kNull;
    default:
      break;
  }
  if (c == '-' || (c >= '0' && c <= '9')) return JsonKind::kNumber;
  bad(c == 0 ? "the JSON text ends too early" : "a value is missing");
  return JsonKind::kBad;
}

bool JsonReader::enter(char open) {
  expect(open);
  if (++depth_ > kDepthMax) bad("nested too deeply");
  first_ = true;
  return !failed();
}

bool JsonReader::enter_object() {
  if (peek() == JsonKind::kObject) return enter('{');
  skip();
  return false;
}

bool JsonReader::enter_array() {
  if (peek() == JsonKind::kArray) return enter('[');
  skip();
  return false;
}

bool JsonReader::next(char close) {
  if (failed()) return false;
  auto const first = std::exchange(first_, false);
  if (next_char() == close) {
    from_.consume(1);
    --depth_;
    return false;
  }
  if (!first) expect(',');
  return !failed();
}

bool JsonReader::next_member(std::string& name) {
  name.clear();
  if (!next('}')) return false;
  if (next_char() != '"') {
    bad("a member's name is missing");
    return false;
  }
  read_string([&name](std::string_view piece) {
    name += piece.substr(0, kNameBytesMax - std::min(kNameBytesMax, name.size()));
  });
  expect(':');
  return !failed();
}

bool JsonReader::next_element() {
  return next(']');
}

/// Long pieces are passed straight from the buffer, short ones are joined: text with many line ends
/// has an escape every few bytes.
template <class Take>
void JsonReader::read_string(Take&& take) {
  expect('"');
  std::string gathered;
  auto const hand_over = [&] {
    if (!gathered.empty()) take(std::string_view(gathered));
    gathered.clear();
  };
  while (!failed()) {
    auto const text = from_.some();
    if (text.empty()) return bad("the JSON text ends inside a string");
    auto const plain = plain_length(text);
    if (plain >= kShortBytes || gathered.size() >= kGatheredBytes) hand_over();
    if (plain >= kShortBytes) {
      take(text.substr(0, plain));
    } else {
      gathered += text.substr(0, plain);
    }
    auto const stop = plain < text.size() ? text[plain] : 0;
    from_.consume(plain);
    if (plain == text.size()) continue;
    if (stop == '"') {
      hand_over();
      return from_.consume(1);
    }
    if (stop != '\\') return bad("a control character in a string");
    read_escape(gathered);
  }
}

/// Starts at a backslash.
void JsonReader::read_escape(std::string& out) {
  auto const text = from_.fill(2);
  if (text.size() < 2) return bad("the JSON text ends inside a string");
  auto const c = text[1];
  from_.consume(2);
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (auto const at = kNames.find(c); at != std::string_view::npos) {
    out += kMeanings[at];
    return;
  }
  if (c != 'u') return bad("an unknown escape");
  auto const unit = read_hex();
  if (!is_high_surrogate(unit) || !from_.fill(6).starts_with("\\u")) return append_utf8(unit, out);
  from_.consume(2);
  auto const second = read_hex();
  if (is_low_surrogate(second)) {
    return append_utf8(0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00), out);
  }
  append_utf8(unit, out);
  append_utf8(second, out);
}

unsigned JsonReader::read_hex() {
  unsigned unit = 0;
  auto const digits = from_.fill(4).substr(0, 4);
  auto const read = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16);
  if (digits.size() < 4 || read.ptr != digits.data() + 4) {
    bad("an escape without four digits");
    return 0;
  }
  from_.consume(4);
  return unit;
}

/// A number or a literal.
std::string JsonReader::read_bare() {
  next_char();
  auto const text = from_.fill(kBareBytesMax);
  constexpr std::string_view kBare = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
  std::string bare(text.substr(0, std::min(text.find_first_not_of(kBare), kBareBytesMax)));
  double value = 0;
  auto const* const end = bare.data() + bare.size();
  auto const is_number = std::from_chars(bare.data(), end, value).ptr == end && !bare.empty();
  if (!is_number && bare != "true" && bare != "false" && bare != "null") {
    bad("neither a number nor true, false or null");
    return {};
  }
  from_.consume(bare.size());
  return bare;
}

std::string JsonReader::text_up_to(std::size_t limit, bool& is_cut) {
  std::string text;
  switch (peek()) {
    case JsonKind::kString:
      read_string([&](std::string_view piece) {
        auto const room = limit - text.size();
        if (piece.size() > room) is_cut = true;
        text += piece.substr(0, room);
      });
      return text;
    case JsonKind::kNull:
    case JsonKind::kObject:
    case JsonKind::kArray:
      skip();
      return {};
    case JsonKind::kBad:
      return {};
    default:
      return read_bare();
  }
}

std::optional<double> JsonReader::number() {
  if (peek() != JsonKind::kNumber && peek() != JsonKind::kString) {
    skip();
    return std::nullopt;
  }
  // Some tools write numbers as strings.
  bool is_cut = false;
  auto const written = text_up_to(kNameBytesMax, is_cut);
  double value = 0;
  auto const* const end = written.data() + written.size();
  bool const is_number =
      !is_cut && !written.empty() && std::from_chars(written.data(), end, value).ptr == end;
  if (!is_number) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void JsonReader::skip() {
  std::string name;
  switch (peek()) {
    case JsonKind::kObject:
      enter('{');
      while (next_member(name)) skip();
      return;
    case JsonKind::kArray:
      enter('[');
      while (next_element()) skip();
      return;
    case JsonKind::kString:
      return read_string([](std::string_view) {});
    case JsonKind::kBad:
      return;
    default:
      read_bare();
  }
}

bool JsonReader::string_pieces(const std::function<void(std::string_view)>& take) {
  if (peek() != JsonKind::kString) {
    skip();
    return false;
  }
  read_string(take);
  return !failed();
}

void JsonReader::end() {
  if (in_call_) {
    expect(')');
    if (next_char() == ';') from_.consume(1);
  }
  if (!failed() && next_char() != 0) bad("data follows the end of the JSON text");
}

}  // namespace reprise::importing
