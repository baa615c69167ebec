#include "archive/edit/secrets.h"

#include <cstring>
#include <span>

#include "archive/error.h"
#include "base/http/digest.h"
#include "base/text/percent.h"

namespace reprise {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

/// As encodeURIComponent does.
std::string percent_encoded(std::string_view plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (char const c : plain) {
    if (is_digit(c) || is_lower(c) || is_upper(c) || std::string_view("-_.!~*'()").contains(c)) {
      text += c;
      continue;
    }
    auto const byte = static_cast<unsigned char>(c);
    text += '%';
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

/// A character of the same kind as `c`, selected by `chance`.
char alike(char c, std::byte chance) {
  auto const number = std::to_integer<unsigned>(chance);
  if (is_digit(c)) return static_cast<char>('0' + number % 10);
  if (is_upper(c)) return static_cast<char>('A' + number % 26);
  if (is_lower(c) || static_cast<unsigned char>(c) >= 0x80) {
    return static_cast<char>('a' + number % 26);
  }
  return c;
}

std::uint64_t beginning_of(std::string_view form) {
  std::uint64_t beginning = 0;
  std::memcpy(&beginning, form.data(), sizeof beginning);
  return beginning;
}

std::size_t first_bytes_of(std::string_view form) {
  return static_cast<unsigned char>(form[0]) * 256U + static_cast<unsigned char>(form[1]);
}

}  // namespace

std::string Secrets::stand_in_of(std::string_view plain) const {
  Digester keyed;
  keyed.update(key_);
  keyed.update(std::as_bytes(std::span(plain)));
  auto const seed = keyed.finish();
  std::string out(plain);
  Sha256 chance{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % chance.size() == 0) {
      auto const block = std::to_string(i / chance.size());
      Digester digester;
      digester.update(seed);
      digester.update(std::as_bytes(std::span(block)));
      chance = digester.finish();
    }
    out[i] = alike(out[i], chance[i % chance.size()]);
  }
  return out;
}

std::string Secrets::dressed(std::string_view value) const {
  if (!mark_.empty()) return mark_;
  auto const stand_in = stand_in_of(percent_decoded(value));
  std::string out;
  for (std::size_t i = 0; !value.empty(); ++i) {
    auto const unit = first_percent_unit(value);
    if (stand_in[i] == unit.plain) {
      out += value.substr(0, unit.bytes);  // in its form there
    } else {
      out += stand_in[i];
    }
    value.remove_prefix(unit.bytes);
  }
  return out;
}

void Secrets::search_for(std::string_view form, const std::string& name) {
  if (form.size() < kSearchedBytesMin) return;
  if (!forms_.try_emplace(std::string(form), name).second) return;
  bytes_ += form.size();
  beginnings_[beginning_of(form)].insert(form.size());
  first_bytes_.set(first_bytes_of(form));
}

Result<void> Secrets::add(std::string_view value, const std::string& name, bool searched) {
  if (value.empty()) return {};
  if (bytes_ + value.size() > kBytesMax) return fail(archive_errc::too_large);
  auto plain = percent_decoded(value);
  if (names_.try_emplace(plain, name).second) {
    bytes_ += plain.size() + name.size();
    ++counts_[name].values;
  }
  if (searched) {
    search_for(value, name);
    search_for(percent_encoded(plain), name);
    search_for(plain, name);
  }
  return {};
}

std::string Secrets::hide(std::string_view value, const std::string& name) {
  if (value.empty()) return {};
  ++counts_[name].places;
  return dressed(value);
}

bool Secrets::hide_all(std::string& text) {
  if (forms_.empty() || text.size() < kSearchedBytesMin) return false;
  std::string out;
  std::string_view const view = text;
  std::size_t copied = 0;
  for (std::size_t at = 0; at + kSearchedBytesMin <= view.size();) {
    if (!first_bytes_[first_bytes_of(view.substr(at))]) {
      ++at;
      continue;
    }
    auto const lengths = beginnings_.find(beginning_of(view.substr(at)));
    std::size_t found_bytes = 0;
    if (lengths != beginnings_.end()) {
      for (auto const length : lengths->second) {
        auto const found = forms_.find(view.substr(at, length));
        if (found == forms_.end()) continue;
        ++counts_[found->second].elsewhere;
        out.append(view, copied, at - copied).append(dressed(found->first));
        found_bytes = length;
        break;
      }
    }
    at += found_bytes > 0 ? found_bytes : 1;
    if (found_bytes > 0) copied = at;
  }
  if (copied == 0) return false;
  out.append(view, copied);
  text = std::move(out);
  return true;
}

}  // namespace reprise
