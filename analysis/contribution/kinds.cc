#include "analysis/contribution/kinds.h"

#include <algorithm>

#include "analysis/contribution/call_subject.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr FilterField kFields[] = {
    FilterField::kHost,      FilterField::kPath,    FilterField::kQuery,    FilterField::kUrl,
    FilterField::kMethod,    FilterField::kScheme,  FilterField::kType,     FilterField::kProtocol,
    FilterField::kKind,      FilterField::kName,    FilterField::kResource, FilterField::kPhase,
    FilterField::kParty,     FilterField::kEntity,  FilterField::kCategory, FilterField::kCdn,
    FilterField::kInitiator, FilterField::kService, FilterField::kStatus,   FilterField::kTime,
    FilterField::kSize};

constexpr std::string_view kGaps = "gaps";
constexpr std::string_view kFix = "fix";
constexpr const char* kTooMany = "there are more than 62 kinds";

}  // namespace

const FilterVocabulary& call_vocabulary() {
  static constexpr FilterVocabulary kVocabulary{.fields = kFields};
  return kVocabulary;
}

std::uint8_t KindRules::kind_called(std::string_view name) {
  auto const found = std::ranges::find(kinds_, name, &Kind::name);
  if (found == kinds_.end()) {
    kinds_.push_back({.name = std::string(name), .fix = {}});
    return static_cast<std::uint8_t>(kinds_.size() - 1);
  }
  return static_cast<std::uint8_t>(found - kinds_.begin());
}

/// The last two are for gaps and other.
bool KindRules::has_room_for(std::string_view name) const {
  if (kinds_.size() < kKindsMax - 2) return true;
  return std::ranges::find(kinds_, name, &Kind::name) != kinds_.end();
}

/// Empty if the line is good.
std::string KindRules::add_line(std::string_view line) {
  auto const colon = line.find(':');
  if (colon == std::string_view::npos) return "a kind, a colon and a filter are needed";
  auto name = trim(line.substr(0, colon));
  auto const rest = trim(line.substr(colon + 1));
  if (name == kGaps) {
    if (rest.empty()) return "the kind of gaps is missing";
    if (gap_kind_ != kUnset) return "the kind of gaps is given twice";
    if (!has_room_for(rest)) return kTooMany;
    gap_kind_ = kind_called(rest);
    return {};
  }
  bool const is_fix =
      name.starts_with(kFix) && name.size() > kFix.size() && is_white_space(name[kFix.size()]);
  if (is_fix) name = trim(name.substr(kFix.size()));
  if (name.empty()) return "a kind is missing before the colon";
  if (!has_room_for(name)) return kTooMany;
  auto const kind = kind_called(name);
  if (is_fix) {
    kinds_[kind].fix = rest;
    return {};
  }
  auto filter = Filter::parse(rest, call_vocabulary());
  if (!filter) return caret_text(rest, filter.error());
  rules_.push_back({.kind = kind, .filter = std::move(*filter)});
  return {};
}

std::expected<KindRules, std::string> KindRules::parse(std::string_view text) {
  if (text.size() > kTextBytesMax) return std::unexpected("it is larger than 1 MiB");
  KindRules rules;
  rules.gap_kind_ = kUnset;
  for (std::size_t number = 1; !text.empty(); ++number) {
    auto const end = std::min(text.find('\n'), text.size());
    auto const line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with('#')) continue;
    auto const wrong = rules.add_line(line);
    if (!wrong.empty()) return std::unexpected("line " + std::to_string(number) + ": " + wrong);
  }
  if (rules.gap_kind_ == kUnset) rules.gap_kind_ = rules.kind_called("gaps");
  rules.other_kind_ = rules.kind_called("other");
  return rules;
}

const KindRules& KindRules::standard() {
  static const KindRules kRules = parse(kStandardKinds).value();
  return kRules;
}

bool KindRules::test(FilterField field) const {
  return std::ranges::any_of(rules_,
                             [field](const Rule& rule) { return rule.filter.tests(field); });
}

std::vector<std::uint8_t> KindRules::classify(const CallTree& tree,
                                              const Entities& entities) const {
  PageHosts hosts(tree.page, entities);
  std::vector<const Call*> requests(tree.calls.size(), nullptr);
  std::vector<std::uint8_t> kinds(tree.calls.size(), other_kind_);
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.parent != kNoParent) requests[i] = requests[call.parent];
    if (call.kind == CallKind::kRequest) requests[i] = &call;
    CallSubject const subject(call, requests[i], hosts);
    auto const rule =
        std::ranges::find_if(rules_, [&](const Rule& each) { return each.filter.takes(subject); });
    if (rule != rules_.end()) kinds[i] = rule->kind;
  }
  return kinds;
}

}  // namespace reprise
