// Boomerang's beacons: form-encoded parameters. `restiming` is a trie of URLs; its leaves code the
// times of each request in base 36 (BEACONS.md has the grammar).

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/beacons/beacon_json.h"
#include "archive/match/parameters.h"

namespace reprise {
namespace {

using simdjson::error_code;

constexpr std::size_t kParametersMax = 1'024;
constexpr std::size_t kTrieDepthMax = 512;
constexpr std::size_t kUrlBytesMax = 8'192;

/// By the character of a leaf, from 0 to m.
constexpr std::string_view kInitiators[] = {
    "other",      "img",         "link",        "script", "css",    "xmlhttprequest",
    "navigation", "image",       "beacon",      "fetch",  "iframe", "body",
    "input",      "object",      "video",       "audio",  "source", "track",
    "embed",      "eventsource", "early-hints", "ping",   "font"};

/// The number of one digit in base 36; beyond all initiators if it is not one.
std::size_t digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::size_t>(c - '0');
  return c >= 'a' && c <= 'z' ? static_cast<std::size_t>(c - 'a' + 10) : 99;
}

/// Empty if it is missing.
std::string_view value_of(std::span<const BeaconParameter> parameters, std::string_view name) {
  auto const found = std::ranges::find(parameters, name, &BeaconParameter::first);
  return found == parameters.end() ? std::string_view() : found->second;
}

/// 0 if it is no number; "inf" and "nan" are none.
double number_in(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::isfinite(number) ? number : 0;
}

/// Of a text in base 36; 0 if it is not one.
std::int64_t base36(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, 36);
  return number;
}

/// Calls `use(place, piece)` for each piece of `text`.
template <class Use>
void each_piece(std::string_view text, char separator, const Use& use) {
  for (std::size_t place = 0;; ++place) {
    auto const end = text.find(separator);
    use(place, text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void BoomerangReader::forget() {
  texts_.clear();
  parameters_.clear();
}

std::span<const BeaconParameter> BoomerangReader::split(std::string_view form) {
  forget();
  each_piece(form, '&', [this](std::size_t place, std::string_view piece) {
    if (place >= kParametersMax) return;
    auto const equals = piece.find('=');
    auto const value = equals == std::string_view::npos ? "" : piece.substr(equals + 1);
    auto const name = keep(decoded(piece.substr(0, equals)));
    parameters_.emplace_back(name, keep(decoded(value)));
  });
  return parameters_;
}

std::string_view BoomerangReader::read(std::span<const BeaconParameter> parameters,
                                       BeaconView& view) {
  auto const value = [parameters](std::string_view name) { return value_of(parameters, name); };
  auto const trie = value("restiming");
  auto const navigation_start = number_in(value("nt_nav_st"));
  auto const start = number_in(value("rt.tstart"));
  if (trie.empty() && navigation_start <= 0) {
    return value("rt.tstart").empty() && value("rt.end").empty() && value("rt.quit").empty()
               ? "not a beacon: neither entries nor requests nor restiming"
               : kNoTimes;
  }
  auto const view_start = start > 0 ? start : navigation_start;
  view.start_at(view_start);
  // Of a later view of the same document (XMLHttpRequest, soft navigation).
  auto const document_start = number_in(value("rt.nstart"));
  shift_us_ = document_start > 0 ? beacon_time(view_start - document_start, 1000) : 0;
  auto const load = number_in(value("nt_load_st"));
  view.load_us = load > 0 && navigation_start > 0 ? beacon_time(load - navigation_start, 1000)
                                                  : beacon_time(number_in(value("t_done")), 1000);
  view.page = value("u");
  for (auto const& [name, parameter] :
       {BeaconParameter{"network", "mob.etype"}, BeaconParameter{"page-group", "h.pg"},
        BeaconParameter{"ab-test", "h.ab"}, BeaconParameter{"platform", "ua.plt"},
        BeaconParameter{"initiator", "http.initiator"}}) {
    auto const tag = value(parameter);
    if (!tag.empty()) view.add_tag(name, tag);
  }

  has_navigation_ = false;
  leaves_ = 0;
  server_names_.clear();
  if (auto const names = value("servertiming"); !names.empty()) {
    if (read_server_names(names, view) != simdjson::SUCCESS) {
      server_names_.clear();
      view.lose("servertiming parameters that are not JSON");
    }
  }
  if (!trie.empty()) {
    url_.clear();
    simdjson::padded_string const padded(trie);
    ondemand::document document;
    ondemand::object root;
    if (parser_.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_object().get(root) != simdjson::SUCCESS ||
        read_trie(root, 0, view) != simdjson::SUCCESS) {
      return "restiming is not a trie in JSON";
    }
  }
  if (!has_navigation_ && navigation_start > 0 && value("http.initiator").empty()) {
    add_navigation(parameters, view);
  }
  return {};
}

void BoomerangReader::add_navigation(std::span<const BeaconParameter> parameters,
                                     BeaconView& view) {
  auto const origin = number_in(value_of(parameters, "nt_nav_st"));
  auto const time = [&](std::string_view name) {
    auto const at = number_in(value_of(parameters, name));
    return at > 0 ? beacon_time(at - origin, 1000) : 0;
  };
  BeaconRequest request{.name = view.page, .initiator = "navigation"};
  request.end_us = time("nt_res_end");
  request.moments_us = {time("nt_red_st"),  time("nt_red_end"), time("nt_dns_st"),
                        time("nt_dns_end"), time("nt_con_st"),  time("nt_ssl_st"),
                        time("nt_con_end"), time("nt_req_st"),  time("nt_res_st")};
  request.has_moments = time("nt_req_st") > 0;
  view.requests.push_back(request);
}

error_code BoomerangReader::read_trie(ondemand::object node, std::size_t depth, BeaconView& view) {
  if (depth > kTrieDepthMax) return simdjson::DEPTH_ERROR;
  auto const length = url_.size();
  for (auto field : node) {
    std::string_view key;
    ondemand::value value;
    if (auto const error = beacon_field(field, key, value)) return error;
    if (key.ends_with('|')) key.remove_suffix(1);  // where a URL is the beginning of others
    url_.resize(length);
    for (char const c : key) {
      if (c != '\n') url_ += c;  // put in to break words such as "href"
    }
    if (url_.size() > kUrlBytesMax) return simdjson::CAPACITY;
    ondemand::json_type type{};
    if (auto const error = value.type().get(type)) return error;
    if (type == ondemand::json_type::object) {
      ondemand::object inner;
      if (auto const error = value.get_object().get(inner)) return error;
      if (auto const error = read_trie(inner, depth + 1, view)) return error;
    } else if (leaves_ == kBeaconCallsMax || view.requests.size() == kBeaconCallsMax) {
      view.lose(kTooMany);
    } else {
      ++leaves_;
      // A text that cannot be decoded is part of what is parsed, which does not last.
      add_leaf(keep(std::string(beacon_text(value, view))), view);
    }
  }
  return simdjson::SUCCESS;
}

void BoomerangReader::add_leaf(std::string_view leaf, BeaconView& view) {
  std::string_view url;  // a copy for each leaf without a request would be far more than the line
  each_piece(leaf, '|', [&](std::size_t, std::string_view timing) {
    if (timing.empty() || timing.front() == '*') return;
    if (url.data() == nullptr) url = keep(url_);
    add_request(url, timing, view);
  });
}

void BoomerangReader::add_request(std::string_view url, std::string_view timing, BeaconView& view) {
  if (view.requests.size() == kBeaconCallsMax) return view.lose(kTooMany);
  BeaconRequest request{.name = url};
  auto const initiator = digit(timing.front());
  if (initiator < std::size(kInitiators)) request.initiator = kInitiators[initiator];
  has_navigation_ |= request.initiator == "navigation";
  // Start, then since it: the end, and the moments from the last one to the first.
  std::array<std::int64_t, kBeaconMoments + 2> times = {};
  each_piece(timing, '*', [&](std::size_t place, std::string_view piece) {
    if (place == 0) {
      each_piece(piece.substr(1), ',', [&](std::size_t i, std::string_view number) {
        if (i < times.size()) times[i] = base36(number);
      });
    } else if (piece.starts_with('1')) {
      // The coded body; what the head adds, or _ for no bytes on the wire; what decoding adds. The
      // head alone came with a 304: then it takes the body away again.
      constexpr std::int64_t kMost = std::int64_t{1} << 50;
      std::array<std::int64_t, 3> sizes = {};
      bool is_cached = false;
      each_piece(piece.substr(1), ',', [&](std::size_t i, std::string_view number) {
        if (i < sizes.size()) sizes[i] = std::clamp(base36(number), i == 0 ? 0 : -kMost, kMost);
        if (i == 1) is_cached = number == "_";
      });
      request.bytes = is_cached ? 0 : std::max<std::int64_t>(sizes[0] + sizes[1], 0);
      request.decoded_bytes = std::max<std::int64_t>(sizes[0] + sizes[2], 0);
    } else if (piece.starts_with('3')) {
      add_server_times(piece.substr(1), view);
    } else if (piece.starts_with('7')) {
      auto const protocol = piece.substr(1);
      request.protocol = protocol == "h1.1"   ? "http/1.1"
                         : protocol == "h1.0" ? "http/1.0"
                                              : protocol;
    }
  });
  auto const start_us = beacon_time(static_cast<double>(times[0]), 1000) - shift_us_;
  auto const at = [start_us](std::int64_t offset) {
    return start_us + beacon_time(static_cast<double>(offset), 1000);
  };
  request.start_us = start_us;
  request.end_us = at(times[1]);
  for (std::size_t i = 0; i < kBeaconMoments; ++i) {
    auto const offset = times[times.size() - 1 - i];
    request.has_moments |= offset != 0;
    request.moments_us[i] = at(offset);
  }
  auto const moment = [&request](BeaconMoment which) -> std::int64_t& {
    return request.moments_us[static_cast<std::size_t>(which)];
  };
  // An empty offset is 0 or a moment that did not come.
  if (moment(BeaconMoment::kTlsStart) == start_us) {
    moment(BeaconMoment::kTlsStart) = moment(BeaconMoment::kConnectEnd);
  }
  view.requests.push_back(request);
}

/// "31.5:2,12:3.1": durations in ms, each with the places of its name and description.
void BoomerangReader::add_server_times(std::string_view coded, BeaconView& view) {
  each_piece(coded, ',', [&](std::size_t, std::string_view piece) {
    auto const colon = piece.find(':');
    auto const places = colon == std::string_view::npos ? "" : piece.substr(colon + 1);
    auto const dot = places.find('.');
    auto const place_of = [](std::string_view text) {
      std::size_t place = 0;
      std::from_chars(text.data(), text.data() + text.size(), place);
      return place;
    };
    auto const name = place_of(places.substr(0, dot));
    if (name >= server_names_.size() || view.server_times.size() >= kBeaconCallsMax) {
      return view.lose("server timings without a name");
    }
    auto const& names = server_names_[name];
    auto const description = dot == std::string_view::npos ? 0 : place_of(places.substr(dot + 1));
    view.server_times.push_back(
        {.request = static_cast<std::uint32_t>(view.requests.size()),
         .name = names.front(),
         .description = description + 1 < names.size() ? std::string_view(names[description + 1])
                                                       : std::string_view(),
         .duration_us = beacon_time(number_in(piece.substr(0, colon)), 1000)});
  });
}

/// `["name", ["name", "description", ...], ...]`
error_code BoomerangReader::read_server_names(std::string_view json, BeaconView& view) {
  simdjson::padded_string const padded(json);
  ondemand::document document;
  ondemand::array list;
  if (auto const error = parser_.iterate(padded).get(document)) return error;
  if (auto const error = document.get_array().get(list)) return error;
  for (auto element : list) {
    ondemand::value value;
    ondemand::json_type type{};
    if (auto const error = std::move(element).get(value)) return error;
    if (auto const error = value.type().get(type)) return error;
    std::vector<std::string>& names = server_names_.emplace_back();
    if (type != ondemand::json_type::array) {
      names.emplace_back(beacon_text(value, view));
      continue;
    }
    ondemand::array inner;
    if (auto const error = value.get_array().get(inner)) return error;
    for (auto each : inner) {
      ondemand::value text;
      if (auto const error = std::move(each).get(text)) return error;
      names.emplace_back(beacon_text(text, view));
    }
    if (names.empty()) return simdjson::INCORRECT_TYPE;
  }
  return simdjson::SUCCESS;
}

}  // namespace reprise
