#include "analysis/sources/request_call.h"

#include <algorithm>

namespace reprise {
namespace {

constexpr auto kUnknown = RequestTimes::kUnknown;

class Phases {
 public:
  Phases(CallTree& tree, std::uint32_t request)
      : tree_(tree),
        request_(request),
        now_us_(tree.calls[request].start_us),
        end_us_(tree.calls[request].end_us) {}

  /// The phase lasts until `time_us`, if that is known.
  void spend(std::string_view name, std::int64_t time_us) {
    if (time_us == kUnknown) return;
    auto const end = std::clamp(time_us, now_us_, std::max(now_us_, end_us_));
    Call& last = tree_.calls.back();
    if (last.parent == request_ && last.name == name) {
      last.end_us = end;
    } else if (end > now_us_) {
      tree_.calls.push_back({.kind = CallKind::kPhase,
                             .name = std::string(name),
                             .start_us = now_us_,
                             .end_us = end,
                             .parent = request_});
    }
    now_us_ = end;
  }

 private:
  CallTree& tree_;
  std::uint32_t request_;
  std::int64_t now_us_;
  std::int64_t end_us_;
};

std::int64_t either(std::int64_t time_us, std::int64_t otherwise_us) {
  return time_us == kUnknown ? otherwise_us : time_us;
}

bool any_known(const RequestTimes& times) {
  return std::ranges::any_of(
      std::initializer_list<std::int64_t>{times.dns_start, times.connect_start, times.send_start,
                                          times.send_end, times.first_byte},
      [](std::int64_t time) { return time != kUnknown; });
}

bool contains(std::string_view value, std::initializer_list<std::string_view> words) {
  auto const text = lower_case(value);
  return std::ranges::any_of(words, [&](std::string_view word) { return text.contains(word); });
}

}  // namespace

void add_request(CallTree& tree, Call request, const RequestTimes& times) {
  auto const end = request.end_us;
  tree.calls.push_back(std::move(request));
  if (!any_known(times)) return;
  Phases phases(tree, static_cast<std::uint32_t>(tree.calls.size() - 1));
  phases.spend("queued", times.dns_start);
  if (times.dns_start != kUnknown) phases.spend("dns", either(times.dns_end, times.connect_start));
  if (times.connect_start != kUnknown) {
    phases.spend("queued", times.connect_start);
    phases.spend("connect", either(times.tls_start, times.connect_end));
    if (times.tls_start != kUnknown) phases.spend("tls", times.connect_end);
  }
  phases.spend("queued", times.send_start);
  // If the start of sending is unknown, it is part of the next phase.
  if (times.send_start != kUnknown) {
    phases.spend("send", times.send_end);
  } else if (times.connect_end != kUnknown) {
    phases.spend("queued", times.send_end);
  }
  phases.spend("wait", times.first_byte);
  phases.spend(times.first_byte == kUnknown ? "wait" : "receive", end);
}

void set_if_any(Call& call, std::string_view name, std::string value) {
  if (!value.empty()) call.set(name, std::move(value));
}

void end_with_last_call(CallTree& tree) {
  for (Call const& call : tree.calls) tree.window_us = std::max(tree.window_us, call.end_us);
}

std::string cdn_answer(HeaderList headers) {
  bool seen = false;
  for (HeaderView const& field : headers) {
    auto const name = lower_case(field.name);
    if (name == "x-cache" || name == "cf-cache-status" || name == "cdn-cache" ||
        name == "x-vercel-cache" || name == "cache-status" || name == "x-cache-status") {
      if (contains(field.value, {"hit"})) return "hit";
      if (contains(field.value, {"miss", "expired", "dynamic", "bypass", "pass", "fwd="})) {
        return "miss";
      }
      seen = true;
    }
    seen =
        seen || name == "x-amz-cf-pop" || name == "x-served-by" || name == "cf-ray" ||
        name == "x-akamai-transformed" ||
        (name == "via" && contains(field.value, {"cloudfront", "varnish", "akamai", "fastly"})) ||
        (name == "server" && contains(field.value, {"cloudflare", "akamai", "netlify", "bunnycdn",
                                                    "keycdn", "fastly"}));
  }
  return seen ? "yes" : "";
}

}  // namespace reprise
