#include "proxy/record/request_rules.h"

#include <algorithm>

#include "archive/exchange.h"
#include "base/http/h1_parser.h"
#include "base/http/h1_syntax.h"
#include "base/http/resource_type.h"
#include "base/text/glob.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

constexpr FilterField kRequestFields[] = {
    FilterField::kHost,   FilterField::kPath,   FilterField::kQuery,   FilterField::kUrl,
    FilterField::kMethod, FilterField::kScheme, FilterField::kResource};

/// A word of `explain`; without one, the destination as the browser sends it. A track is media
/// here, so that a filter which blocks media blocks all parts of a video.
std::string_view resource_of(const RequestHead& request, std::string& buffer) {
  auto const type =
      request.protocol.empty() ? resource_type(request.headers, "") : ResourceType::kWebSocket;
  if (type == ResourceType::kOther) {
    return find_header(request.headers, "Sec-Fetch-Dest").value_or("");
  }
  bool const is_track = type == ResourceType::kTextTrack;
  return buffer = lower_case(devtools_name(is_track ? ResourceType::kMedia : type));
}

class RequestSubject final : public FilterSubject {
 public:
  explicit RequestSubject(const RequestHead& request) : request_(request) {}

  std::string_view text(FilterField field, std::string_view, std::string& buffer) const override {
    auto const target = request_.target;
    auto const query_at = std::min(target.find('?'), target.size());
    switch (field) {
      case FilterField::kHost:
        return request_.host;
      case FilterField::kPath:
        return target.substr(0, query_at);
      case FilterField::kQuery:
        return target.substr(std::min(query_at + 1, target.size()));
      case FilterField::kUrl:
        buffer = std::string(to_string(request_.scheme)) + "://";
        buffer += authority_of(request_.scheme, request_.host, request_.port);
        return buffer.append(target);
      case FilterField::kMethod:
        return buffer = lower_case(request_.method);
      case FilterField::kScheme:
        return to_string(request_.scheme);
      case FilterField::kResource:
        return resource_of(request_, buffer);
      default:
        return {};
    }
  }
  std::optional<std::int64_t> number(FilterField) const override { return std::nullopt; }

 private:
  const RequestHead& request_;
};

/// Those whose value belongs to the connection or frames the message.
bool is_framing(std::string_view name) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"connection", "content-length", "host", "keep-alive",
                                              "proxy-authorization", "transfer-encoding", "te",
                                              "upgrade"},
      [name](std::string_view each) { return equals_ignoring_case(each, name); });
}

}  // namespace

std::expected<AddedField, std::string> AddedField::parse(std::string_view text) {
  AddedField field;
  auto colon = text.find(':');
  if (auto const equals = text.find('='); equals < colon && colon != std::string_view::npos) {
    field.host = lower_case(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    colon = text.find(':');
  }
  field.name = text.substr(0, colon);
  if (colon == std::string_view::npos || !is_token(field.name) || field.host.empty()) {
    return std::unexpected("--header must be '[HOST=]NAME: VALUE'");
  }
  if (is_framing(field.name)) {
    return std::unexpected("--header cannot set " + field.name +
                           ", which belongs to the connection");
  }
  field.value = trim_blanks(text.substr(colon + 1));
  bool const valid = std::ranges::none_of(
      field.value, [](unsigned char c) { return c == 0x7f || (c < ' ' && c != '\t'); });
  if (!valid) return std::unexpected("the value of --header " + field.name + " is not valid");
  return field;
}

const FilterVocabulary& request_vocabulary() {
  static constexpr FilterVocabulary kVocabulary{.fields = kRequestFields};
  return kVocabulary;
}

const std::string* RequestRules::blocked_by(const RequestHead& request) const {
  RequestSubject const subject(request);
  auto const found = std::ranges::find_if(
      blocked, [&subject](const Blocked& each) { return each.filter.takes(subject); });
  return found == blocked.end() ? nullptr : &found->text;
}

std::string RequestRules::why_blocked(const RequestHead& request) const {
  auto const* const filter = blocked_by(request);
  return filter == nullptr ? "" : "blocked while recording (--block '" + *filter + "')";
}

void RequestRules::add_fields(const RequestHead& request, std::vector<HeaderView>& headers) const {
  for (const AddedField& field : fields) {
    if (!fits_glob(field.host, request.host)) continue;
    std::erase_if(headers, [&field](const HeaderView& each) {
      return equals_ignoring_case(each.name, field.name);
    });
    headers.push_back({.name = field.name, .value = field.value});
  }
}

}  // namespace reprise
