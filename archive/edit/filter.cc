#include "archive/edit/filter.h"

#include <algorithm>

#include "archive/edit/filter_values.h"
#include "base/text/ascii.h"
#include "base/text/glob.h"
#include "base/text/white_space.h"

namespace reprise {

bool Filter::Node::takes(const FilterSubject& subject) const {
  auto const taken = [&](const Node& part) { return part.takes(subject); };
  switch (kind) {
    case Kind::kAll:
      return std::ranges::all_of(parts, taken);
    case Kind::kAny:
      return std::ranges::any_of(parts, taken);
    case Kind::kNot:
      return !taken(parts.front());
    case Kind::kCondition:
      break;
  }
  return std::ranges::any_of(
      values, [&](const FilterValue& value) { return allows(field, tag, value, subject); });
}

bool Filter::Node::tests(FilterField tested) const {
  if (kind == Kind::kCondition) return field == tested;
  return std::ranges::any_of(parts, [tested](const Node& part) { return part.tests(tested); });
}

namespace {

bool ends_word(char c) {
  return is_white_space(c) || c == '(' || c == ')' || c == '"';
}
bool is_tag(char c) {
  return is_digit(c) || c == '_' || c == '-' || c == '.';
}

/// Whether it is a regular expression, as mitmproxy takes them, by its characters.
bool is_expression(std::string_view text) {
  return text.find_first_of("^$|()[]\\") != std::string_view::npos || text.contains(".*");
}

/// mitmproxy's operators that take a value.
constexpr std::pair<char, FilterField> kLetters[] = {
    {'d', FilterField::kHost},   {'u', FilterField::kUrl},  {'m', FilterField::kMethod},
    {'c', FilterField::kStatus}, {'t', FilterField::kType},
};
/// The operators without a value, in this language.
constexpr std::pair<char, std::string_view> kShort[] = {
    {'a', "type=script,style,image,font"},
    {'e', "outcome!=complete"},
    {'q', "status=none"},
    {'s', "status!=none"},
};

}  // namespace

class FilterParser {
 public:
  using Node = Filter::Node;
  using Kind = Filter::Kind;
  template <class T>
  using Parsed = std::expected<T, FilterFault>;

  FilterParser(std::string_view text, const FilterVocabulary& vocabulary)
      : text_(text), vocabulary_(vocabulary) {}

  Parsed<Node> run() {
    if (text_.size() > Filter::kTextBytesMax) return fault(0, "the filter is longer than 64 KiB");
    skip_space();
    if (at_ == text_.size()) return Node{};
    auto node = any_of();
    if (node && at_ < text_.size()) return fault(at_, "this parenthesis was never opened");
    return node;
  }

 private:
  std::unexpected<FilterFault> fault(std::size_t position, std::string what) const {
    return std::unexpected(FilterFault{.position = position, .what = std::move(what)});
  }
  void skip_space() {
    while (at_ < text_.size() && is_white_space(text_[at_])) ++at_;
  }
  bool next_is(std::string_view expected) const { return text_.substr(at_).starts_with(expected); }

  /// Takes one of `words` if it is the next word.
  bool take_word(std::initializer_list<std::string_view> words) {
    auto const end =
        std::find_if(text_.begin() + static_cast<std::ptrdiff_t>(at_), text_.end(), ends_word);
    auto const length = static_cast<std::size_t>(end - text_.begin()) - at_;
    auto const word = lower_case(text_.substr(at_, length));
    if (std::ranges::find(words, word) == words.end()) return false;
    at_ += length;
    skip_space();
    return true;
  }

  Parsed<Node> any_of() {
    Node any{.kind = Kind::kAny, .parts = {}, .tag = {}, .values = {}};
    do {
      auto part = all_of();
      if (!part) return part;
      any.parts.push_back(std::move(*part));
    } while (take_word({"or", "|", "||"}));
    return any.parts.size() == 1 ? std::move(any.parts.front()) : std::move(any);
  }

  Parsed<Node> all_of() {
    Node all{.kind = Kind::kAll, .parts = {}, .tag = {}, .values = {}};
    while (true) {
      auto part = term();
      if (!part) return part;
      all.parts.push_back(std::move(*part));
      auto const before_or = at_;
      if (take_word({"or", "|", "||"})) {
        at_ = before_or;
        break;
      }
      bool const more = take_word({"and", "&", "&&"});
      if (!more && (at_ == text_.size() || text_[at_] == ')')) break;
    }
    return all.parts.size() == 1 ? std::move(all.parts.front()) : std::move(all);
  }

  Parsed<Node> term() {
    if (depth_ == Filter::kDepthMax) return fault(at_, "nested more than 64 levels deep");
    ++depth_;
    auto node = term_inside();
    --depth_;
    skip_space();
    return node;
  }

  Parsed<Node> term_inside() {
    auto const begin = at_;
    if (at_ == text_.size() || text_[at_] == ')') return fault(at_, "a condition is missing here");
    if (take_word({"or", "|", "||", "and", "&", "&&"})) {
      return fault(begin, "a condition is missing here");
    }
    bool const negated = next_is("!") || take_word({"not"});
    if (negated) {
      if (at_ == begin) ++at_;
      skip_space();
      auto inner = term();
      return inner ? negation(std::move(*inner)) : inner;
    }
    if (next_is("(")) return parenthesis();
    if (next_is("~")) return letter();
    return condition();
  }

  static Node negation(Node inner) {
    Node node{.kind = Kind::kNot, .parts = {}, .tag = {}, .values = {}};
    node.parts.push_back(std::move(inner));
    return node;
  }

  Parsed<Node> parenthesis() {
    auto const open = at_++;
    skip_space();
    auto inner = any_of();
    if (!inner) return inner;
    if (!next_is(")")) return fault(open, "this parenthesis is not closed");
    ++at_;
    return inner;
  }

  /// "~d example.org", as in mitmproxy.
  Parsed<Node> letter() {
    auto const begin = at_++;
    char const name = at_ < text_.size() ? text_[at_] : ' ';
    ++at_;
    bool const alone = at_ >= text_.size() || ends_word(text_[at_]);
    for (auto const& [known, meaning] : kShort) {
      if (alone && known == name) return FilterParser(meaning, vocabulary_).run();
    }
    for (auto const& [known, field] : kLetters) {
      if (!alone || known != name) continue;
      if (std::ranges::find(vocabulary_.fields, field) == vocabulary_.fields.end()) {
        return fault(begin,
                     "this letter is not known here; the fields are " + field_names(vocabulary_));
      }
      skip_space();
      auto const value_at = at_;
      auto value = word();
      if (!value) return std::unexpected(value.error());
      if (value->empty()) return fault(value_at, std::string("~") + name + " needs a value here");
      if (field != FilterField::kStatus && is_expression(*value)) {
        return fault(value_at,
                     "plain text, not a regular expression: use url=*...* or 'or' instead");
      }
      if (field != FilterField::kStatus) *value = "*" + *value + "*";
      return condition_of(field, "", {{value_at, std::move(*value)}});
    }
    return fault(begin, "unknown letter; the letters are ~d ~u ~m ~c ~t ~a ~e ~q ~s");
  }

  Parsed<Node> condition() {
    auto const begin = at_;
    auto end = at_;
    while (end < text_.size() &&
           (is_letter(text_[end]) || (vocabulary_.tags && is_tag(text_[end])))) {
      ++end;
    }
    auto const written = text_.substr(begin, end - begin);
    auto const name = lower_case(written);
    auto const field = field_called(name, vocabulary_);
    at_ = end;
    if (field) skip_space();
    auto const comparison = name.empty() ? std::string_view() : take_comparison();
    if (comparison.empty() || (comparison == ":" && next_is("//"))) {
      at_ = begin;
      return bare_word();
    }
    if (!field) {
      return fault(begin, "unknown field '" + name + "'; the fields are " +
                              field_names(vocabulary_) +
                              "; put a text to find in the URL in quotes");
    }
    skip_space();
    bool const differs = comparison == "!=";
    bool const orders = comparison.starts_with('<') || comparison.starts_with('>');
    auto node = values_of(*field, orders ? comparison : "");
    if (!node) return node;
    if (*field == FilterField::kTag) node->tag = written;
    return differs ? negation(std::move(*node)) : std::move(*node);
  }

  std::string_view take_comparison() {
    for (std::string_view const known : {"!=", "<=", ">=", "==", "<", ">", "=", ":"}) {
      if (!next_is(known)) continue;
      at_ += known.size();
      return known;
    }
    return {};
  }

  Parsed<Node> values_of(FilterField field, std::string_view comparison) {
    std::vector<std::pair<std::size_t, std::string>> texts;
    do {
      auto const value_at = at_;
      auto value = word(",");
      if (!value) return std::unexpected(value.error());
      if (value->empty()) return fault(value_at, "a value is missing here");
      texts.emplace_back(value_at, std::move(*value));
    } while (take(','));
    return condition_of(field, comparison, texts);
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Parsed<Node> condition_of(FilterField field, std::string_view comparison,
                            const std::vector<std::pair<std::size_t, std::string>>& texts) const {
    Node node{.kind = Kind::kCondition, .parts = {}, .field = field, .tag = {}, .values = {}};
    for (auto const& [position, text] : texts) {
      auto value = parse_value(field, comparison, text);
      if (!value) return fault(position, std::move(value.error()));
      node.values.push_back(std::move(*value));
    }
    return node;
  }

  Parsed<Node> bare_word() {
    auto const begin = at_;
    auto text = word();
    if (!text) return std::unexpected(text.error());
    return condition_of(FilterField::kUrl, "", {{begin, std::move(*text)}});
  }

  /// Up to a space, a parenthesis or one of `also_ends`; or the text in quotes, where \" and \\ are
  /// escapes.
  Parsed<std::string> word(std::string_view also_ends = "") {
    std::string out;
    if (!next_is("\"")) {
      while (at_ < text_.size() && !ends_word(text_[at_]) && !also_ends.contains(text_[at_])) {
        out += text_[at_++];
      }
      return out;
    }
    auto const open = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_++];
    }
    if (at_ == text_.size()) return fault(open, "this quote is not closed");
    ++at_;
    return out;
  }

  std::string_view text_;
  const FilterVocabulary& vocabulary_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

std::expected<Filter, FilterFault> Filter::parse(std::string_view text,
                                                 const FilterVocabulary& vocabulary) {
  auto root = FilterParser(text, vocabulary).run();
  if (!root) return std::unexpected(std::move(root.error()));
  Filter filter;
  filter.root_ = std::move(*root);
  return filter;
}

std::string caret_text(std::string_view filter, const FilterFault& fault) {
  // One column per byte before the caret, for any bytes.
  std::string line(filter.substr(0, Filter::kTextBytesMax));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return fault.what + "\n  " + line + "\n  " +
         std::string(std::min(fault.position, line.size()), ' ') + "^";
}

}  // namespace reprise
