#include "archive/export/text.h"

namespace reprise::exporting {
namespace {

/// The start of `text` that is UTF-8, up to a broken character.
std::size_t good_prefix(std::string_view text) {
  Utf8Check check;
  std::size_t good = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    check.append(text.substr(i, 1));
    if (!check.good()) break;
    if (check.finish()) good = i + 1;
  }
  return good;
}

}  // namespace

void JsonWriter::comma() {
  if (!first_ && !after_key_) to_.write(",");
  first_ = false;
  after_key_ = false;
}

void JsonWriter::open(char bracket) {
  comma();
  to_.write({&bracket, 1});
  first_ = true;
}

void JsonWriter::close(char bracket) {
  to_.write({&bracket, 1});
  first_ = false;
}

void JsonWriter::key(std::string_view name) {
  text(name);
  to_.write(":");
  after_key_ = true;
}

void JsonWriter::raw(std::string_view json) {
  comma();
  to_.write(json);
}

void JsonWriter::number(std::int64_t number) {
  raw(std::to_string(number));
}

void JsonWriter::begin_text() {
  comma();
  to_.write("\"");
}

void JsonWriter::piece(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  escaped_.clear();
  std::size_t plain_from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto const c = text[i];
    auto const byte = static_cast<unsigned char>(c);
    bool const is_markup = as_go_ && (c == '<' || c == '>' || c == '&');
    if (byte >= 0x20 && c != '"' && c != '\\' && !is_markup) continue;
    escaped_ += text.substr(plain_from, i - plain_from);
    plain_from = i + 1;
    if (c == '"' || c == '\\') {
      escaped_.append({'\\', c});
    } else if (c == '\n') {
      escaped_ += "\\n";
    } else if (c == '\r') {
      escaped_ += "\\r";
    } else if (c == '\t') {
      escaped_ += "\\t";
    } else {
      escaped_.append({'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  escaped_ += text.substr(plain_from);
  to_.write(escaped_);
}

bool JsonWriter::text(std::string_view text) {
  begin_text();
  bool any_bad = false;
  while (!text.empty()) {
    auto const good = is_utf8(text) ? text.size() : good_prefix(text);
    piece(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    any_bad = true;
    piece("\xef\xbf\xbd");
    text.remove_prefix(1);
  }
  end_text();
  return !any_bad;
}

}  // namespace reprise::exporting
