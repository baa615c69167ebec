#pragma once

// What the readers of the forms share. Includes simdjson, so only sources of this room include it.
// simdjson's error is returned for JSON that is broken; values of another type than expected are
// counted in the view's losses and taken as missing.

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/beacons/beacon_view.h"
#include "analysis/beacons/json_marks.h"

namespace reprise {

namespace ondemand = simdjson::ondemand;

/// More requests, and more work, than this in one view are lost.
inline constexpr std::size_t kBeaconCallsMax = 10'000;

inline constexpr std::string_view kNotANumber = "values that are not numbers, taken as missing";
inline constexpr std::string_view kNotAText = "values that are not texts, taken as missing";
inline constexpr std::string_view kCut = "entries that the script cut to send less than 60 KB";
inline constexpr std::string_view kFull = "views with more requests than the browser keeps entries";
inline constexpr std::string_view kTooMany = "entries beyond the first 10000 of a view";

/// Why a beacon of Boomerang is not of a view.
inline constexpr std::string_view kNoTimes = "a beacon of Boomerang without times of requests";

/// A time in us from one in units of `unit_us`, at most twice the longest window from 0.
inline std::int64_t beacon_time(double time, double unit_us) {
  constexpr auto kMost = static_cast<double>(2 * CallTree::kWindowUsMax);
  auto const us = time * unit_us;
  if (us >= kMost) return 2 * CallTree::kWindowUsMax;
  if (us <= -kMost) return -2 * CallTree::kWindowUsMax;
  return static_cast<std::int64_t>(us + (us < 0 ? -.5 : .5));
}

/// A text as it is written: from behind its opening quote, in what ends behind its closing one.
inline std::string_view as_written(std::string_view json) {
  return json.substr(0, json.rfind('"'));
}

/// The text of a value; empty and counted if it is not a text. One with half a surrogate pair,
/// which JavaScript can write, stays as it is written.
inline std::string_view beacon_text(ondemand::value value, BeaconView& view) {
  std::string_view text;
  auto const error = value.get_string().get(text);
  if (error == simdjson::SUCCESS) return text;
  if (error == simdjson::STRING_ERROR) return as_written(value.raw_json_token().substr(1));
  view.lose(kNotAText);
  return {};
}

/// The key of a field, which has half pairs as texts do, and its value.
inline simdjson::error_code beacon_field(simdjson::simdjson_result<ondemand::field>& field,
                                         std::string_view& key, ondemand::value& value) {
  ondemand::raw_json_string written;
  if (auto const error = field.key().get(written)) return error;
  auto const error = field.unescaped_key().get(key);
  if (error && error != simdjson::STRING_ERROR) return error;
  if (auto const fault = field.value().get(value)) return fault;
  if (error == simdjson::STRING_ERROR) {
    const char* const begin = written.raw();
    auto const size = value.raw_json_token().data() - begin;  // only a colon is between them
    key = as_written({begin, static_cast<std::size_t>(size)});
  }
  return simdjson::SUCCESS;
}

inline double beacon_number(ondemand::value value, BeaconView& view) {
  double number = 0;
  if (value.get_double().get(number) != simdjson::SUCCESS) view.lose(kNotANumber);
  return number;
}

/// Reads `performance.getEntries()`. Remembers the order of their fields, which is the same in all
/// entries of a browser.
class EntryReader {
 public:
  simdjson::error_code read(ondemand::array entries, BeaconView& view);
  /// The same of a list that is as JavaScript writes it; else returns false, and the view is of no
  /// use.
  bool read(JsonMarks& marks, BeaconView& view);

 private:
  struct Entry;
  enum class Field : std::uint8_t;
  struct NamedField;
  static const std::array<NamedField, 39> kFields;

  simdjson::error_code read_entry(ondemand::object object, BeaconView& view);
  bool read_entry(JsonMarks& marks, BeaconView& view);
  static constexpr bool is_count(Field field);
  Field field_at(std::size_t place, const char* key);
  static void add(const Entry& entry, BeaconView& view);

  std::array<std::uint8_t, 64> order_ = {};  ///< the place in kFields of each field
};

/// Reads the lean form's lists.
simdjson::error_code read_lean_requests(ondemand::array requests, BeaconView& view);
simdjson::error_code read_lean_works(ondemand::array works, CallKind kind, BeaconView& view);
/// The same of lists that are as our script writes them; else they return false.
bool read_lean_requests(JsonMarks& marks, BeaconView& view);
bool read_lean_works(JsonMarks& marks, CallKind kind, BeaconView& view);

/// A parameter of Boomerang, decoded.
using BeaconParameter = std::pair<std::string_view, std::string_view>;

class BoomerangReader {
 public:
  /// Ends the life of the texts of views so far. To be called before each read(), unless split()
  /// is.
  void forget();
  /// Splits and decodes a query string or form body; valid until the next call.
  std::span<const BeaconParameter> split(std::string_view form);
  /// Returns an empty text, or why there is no view.
  std::string_view read(std::span<const BeaconParameter> parameters, BeaconView& view);

 private:
  simdjson::error_code read_trie(ondemand::object node, std::size_t depth, BeaconView& view);
  void add_leaf(std::string_view leaf, BeaconView& view);
  void add_request(std::string_view url, std::string_view timing, BeaconView& view);
  void add_server_times(std::string_view coded, BeaconView& view);
  simdjson::error_code read_server_names(std::string_view json, BeaconView& view);
  void add_navigation(std::span<const BeaconParameter> parameters, BeaconView& view);
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  ondemand::parser parser_;
  std::deque<std::string> texts_;
  std::vector<BeaconParameter> parameters_;
  std::string url_;                                     ///< down to the node that is read
  std::vector<std::vector<std::string>> server_names_;  ///< of each, the descriptions follow
  std::int64_t shift_us_ = 0;  ///< start of the view after that of its document
  std::size_t leaves_ = 0;     ///< of the trie, with those that have no request
  bool has_navigation_ = false;
};

}  // namespace reprise
