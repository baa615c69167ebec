#include "inject/policy.h"

#include <algorithm>

#include "base/http/headers.h"
#include "base/text/ascii.h"
#include "base/text/white_space.h"

namespace reprise::inject {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!(text = trim(text)).empty()) {
    auto const end = std::ranges::find_if(text, is_white_space) - text.begin();
    result.push_back(text.substr(0, static_cast<std::size_t>(end)));
    text.remove_prefix(static_cast<std::size_t>(end));
  }
  return result;
}

// base64-value: letters, digits, "+/-_", then up to two "=".
bool is_base64(std::string_view text) {
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '-' || c == '_';
  });
}

// The text between "'prefix" (any case) and "'"; empty if `source` has another form.
std::string_view quoted_after(std::string_view prefix, std::string_view source) {
  if (!source.starts_with('\'') || source.size() < prefix.size() + 3) return {};
  if (!source.ends_with('\'')) return {};
  source = source.substr(1, source.size() - 2);
  if (!equals_ignoring_case(source.substr(0, prefix.size()), prefix)) return {};
  source.remove_prefix(prefix.size());
  return is_base64(source) ? source : std::string_view();
}

bool is_hash(std::string_view source) {
  return !quoted_after("sha256-", source).empty() || !quoted_after("sha384-", source).empty() ||
         !quoted_after("sha512-", source).empty();
}

// Compares hashes; the two alphabets of base64 are equivalent.
bool same_hash(std::string_view a, std::string_view b) {
  auto const plain = [](char c) { return c == '-' ? '+' : c == '_' ? '/' : c; };
  auto const x = quoted_after("sha256-", a), y = quoted_after("sha256-", b);
  return !x.empty() && std::ranges::equal(x, y, {}, plain, plain);
}

Directive read_directive(std::string_view token) {
  auto const end =
      static_cast<std::size_t>(std::ranges::find_if(token, is_white_space) - token.begin());
  Directive directive{.name = std::string(token.substr(0, end)),
                      .value = trim(token.substr(end)),
                      .sources = words(token.substr(end))};
  if (directive.value.empty()) directive.value = token.substr(end, 0);
  std::ranges::transform(directive.name, directive.name.begin(), to_lower);
  return directive;
}

}  // namespace

bool Directive::sources_are_none() const {
  return sources.empty() || (sources.size() == 1 && equals_ignoring_case(sources[0], "'none'"));
}

bool Directive::allows_all_inline() const {
  bool unsafe_inline = false;
  for (auto const source : sources) {
    if (!quoted_after("nonce-", source).empty() || is_hash(source) ||
        equals_ignoring_case(source, "'strict-dynamic'")) {
      return false;
    }
    unsafe_inline = unsafe_inline || equals_ignoring_case(source, "'unsafe-inline'");
  }
  return unsafe_inline;
}

std::string_view Directive::nonce() const {
  for (auto const source : sources) {
    if (auto const nonce = quoted_after("nonce-", source); !nonce.empty()) return nonce;
  }
  return {};
}

bool Directive::has_nonce(std::string_view nonce) const {
  return !nonce.empty() && std::ranges::any_of(sources, [nonce](std::string_view source) {
    return quoted_after("nonce-", source) == nonce;
  });
}

bool Directive::has_hash(std::string_view hash_source) const {
  return std::ranges::any_of(
      sources, [hash_source](std::string_view source) { return same_hash(source, hash_source); });
}

Policy::Policy(std::string_view text) : text_(text) {
  for (auto token : split(text, ';')) {
    token = trim(token);
    // A directive that is not ASCII is ignored (section 2.2.1).
    bool const ascii = std::ranges::all_of(token, [](char c) { return (c & 0x80) == 0; });
    if (token.empty() || !ascii) continue;
    auto directive = read_directive(token);
    if (find(directive.name) == nullptr) directives_.push_back(std::move(directive));
  }
}

const Directive* Policy::find(std::string_view name) const {
  auto const found = std::ranges::find(directives_, name, &Directive::name);
  return found == directives_.end() ? nullptr : &*found;
}

const Directive* Policy::governing_script_elements() const {
  for (auto const* const name : {"script-src-elem", "script-src", "default-src"}) {
    if (auto const* const directive = find(name)) return directive;
  }
  return nullptr;
}

bool Policy::sandboxes_scripts() const {
  auto const* const sandbox = find("sandbox");
  return sandbox != nullptr && std::ranges::none_of(sandbox->sources, [](std::string_view flag) {
           return equals_ignoring_case(flag, "allow-scripts");
         });
}

bool Policy::lets_run(std::string_view hash_source, std::string_view nonce) const {
  auto const* const governing = governing_script_elements();
  return governing == nullptr || governing->allows_all_inline() || governing->has_nonce(nonce) ||
         governing->has_hash(hash_source);
}

std::vector<std::string_view> split_policies(std::string_view field_value) {
  std::vector<std::string_view> policies;
  for (auto const text : split(field_value, ',')) {
    if (!trim(text).empty()) policies.push_back(text);
  }
  return policies;
}

}  // namespace reprise::inject
