#include "base/http/h1_syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/http/h1_parser.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (const char c :
       {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}
constexpr std::array<bool, 256> kTokenTable = make_token_table();

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return kTokenTable[static_cast<unsigned char>(c)];
  });
}

std::string_view take_line(std::string_view& rest) {
  auto const end = rest.find('\n');
  auto line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

std::optional<HttpVersion> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return HttpVersion::kHttp11;
  if (text == "HTTP/1.0") return HttpVersion::kHttp10;
  return std::nullopt;
}

std::optional<std::uint64_t> parse_length(std::string_view text) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() ||
      value > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return value;
}

bool ends_chunked(std::string_view codings) {
  while (true) {
    auto const comma = codings.find(',');
    bool const chunked = equals_ignoring_case(trim_blanks(codings.substr(0, comma)), "chunked");
    if (chunked || comma == std::string_view::npos)
      return chunked && comma == std::string_view::npos;
    codings.remove_prefix(comma + 1);
  }
}

std::string_view one_line(std::string_view text) {
  return text.substr(0, text.find_first_of(std::string_view("\r\n\0", 3)));
}

bool is_sendable(const HeaderView& field) {
  return is_token(field.name) && one_line(field.value).size() == field.value.size();
}

Result<void> parse_fields_strictly(std::string_view rest, std::vector<HeaderView>& fields) {
  while (!rest.empty()) {
    auto const line = take_line(rest);
    if (line.empty()) break;
    auto const colon = line.find(':');
    if (colon == std::string_view::npos) return fail(h1_errc::bad_header);
    auto const name = line.substr(0, colon);
    auto const value = trim_blanks(line.substr(colon + 1));
    if (!is_token(name) || value.find('\0') != std::string_view::npos ||
        value.find('\r') != std::string_view::npos) {
      return fail(h1_errc::bad_header);
    }
    if (fields.size() == kHeadFieldsMax) return fail(h1_errc::head_too_long);
    fields.push_back({.name = name, .value = value});
  }
  return {};
}

Result<void> parse_fields_as_browsers(std::span<char> rest, std::vector<HeaderView>& fields) {
  auto const text = text_of(rest);
  bool continues = false;  // whether a folded line belongs to the last field
  for (std::size_t at = 0; at < text.size();) {
    auto const end = std::min(text.find_first_of("\r\n", at), text.size());
    auto const line = text.substr(at, end - at);
    if (continues && !line.empty() && is_blank(line.front())) {
      auto& value = fields.back().value;
      auto const begin = static_cast<std::size_t>(value.data() - text.data());
      std::ranges::fill(rest.subspan(begin + value.size(), at - begin - value.size()), ' ');
      value = trim_blanks(text.substr(begin, end - begin));
    } else if (auto const colon = line.find(':'); !line.empty()) {
      auto const name = trim_blanks(line.substr(0, colon));
      continues = colon != std::string_view::npos && !name.empty() && !is_blank(line.front());
      if (continues) {
        if (fields.size() == kHeadFieldsMax) return fail(h1_errc::head_too_long);
        fields.push_back({.name = name, .value = trim_blanks(line.substr(colon + 1))});
      }
    }
    at = end + 1;
  }
  return {};
}

}  // namespace reprise
