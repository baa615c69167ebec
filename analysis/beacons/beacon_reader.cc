#include "analysis/beacons/beacon_reader.h"

#include <algorithm>
#include <vector>

#include "analysis/beacons/beacon_json.h"
#include "base/text/white_space.h"

namespace reprise {

using simdjson::error_code;

static_assert(BeaconReader::kPaddingBytes >= simdjson::SIMDJSON_PADDING);

struct BeaconReader::State {
  /// Reads a beacon of ours as scripts write it, `line` is padded. Returns false for any other,
  /// and then the view is of no use.
  bool read_marked(std::string_view line);
  bool read_marked_field(std::string_view key);
  bool read_marked_tags();
  /// The same of any beacon. Returns an empty text, or why there is no view.
  std::string read_json(std::string_view line);
  error_code read_object(ondemand::object object, std::string_view& why);
  error_code read_field(std::string_view key, ondemand::value value);
  error_code read_tags(ondemand::value value);

  BeaconView view;
  ondemand::parser parser{kLineBytesMax + kPaddingBytes};
  JsonStage stage;
  JsonMarks marks;
  EntryReader entries;
  BoomerangReader boomerang;
  std::vector<BeaconParameter> parameters;  ///< fields that only Boomerang has
  bool is_ours = false;
  std::string copy;
};

namespace {

/// A value of any type as a parameter: a text without its quotes, else as it is written.
error_code parameter_of(ondemand::value value, BeaconView& view, std::string_view& text) {
  ondemand::json_type type{};
  if (auto const error = value.type().get(type)) return error;
  switch (type) {
    case ondemand::json_type::string:
      text = beacon_text(value, view);
      return simdjson::SUCCESS;
    case ondemand::json_type::object: {
      ondemand::object object;
      if (auto const error = value.get_object().get(object)) return error;
      return object.raw_json().get(text);
    }
    case ondemand::json_type::array: {
      ondemand::array array;
      if (auto const error = value.get_array().get(array)) return error;
      return array.raw_json().get(text);
    }
    default:
      text = trim(value.raw_json_token());
      return simdjson::SUCCESS;
  }
}

}  // namespace

error_code BeaconReader::State::read_tags(ondemand::value value) {
  ondemand::object object;
  if (auto const error = value.get_object().get(object)) {
    if (error != simdjson::INCORRECT_TYPE) return error;
    view.lose("tags that are not an object, taken as missing");
    return simdjson::SUCCESS;
  }
  for (auto field : object) {
    std::string_view name, text;
    ondemand::value inner;
    if (auto const error = beacon_field(field, name, inner)) return error;
    if (auto const error = parameter_of(inner, view, text)) return error;
    if (text != "null") view.add_tag(name, text);
  }
  return simdjson::SUCCESS;
}

error_code BeaconReader::State::read_field(std::string_view key, ondemand::value value) {
  auto const list = [&value](const auto& read) {
    ondemand::array array;
    if (auto const error = value.get_array().get(array)) return error;
    return read(array);
  };
  auto const works = [this, &value](CallKind kind) {
    ondemand::array array;
    if (auto const error = value.get_array().get(array)) {
      if (error != simdjson::INCORRECT_TYPE) return error;
      view.lose("lists of work that are not lists, taken as missing");
      return simdjson::SUCCESS;
    }
    return read_lean_works(array, kind, view);
  };
  if (key == "page") {
    view.page = beacon_text(value, view);
  } else if (key == "started") {
    view.start_at(beacon_number(value, view));
  } else if (key == "tags") {
    return read_tags(value);
  } else if (key == "entries") {
    is_ours = true;
    return list([this](ondemand::array array) { return entries.read(array, view); });
  } else if (key == "requests") {
    is_ours = true;
    return list([this](ondemand::array array) { return read_lean_requests(array, view); });
  } else if (key == "scripts") {
    return works(CallKind::kTask);
  } else if (key == "measures") {
    return works(CallKind::kMeasure);
  } else if (key == "load") {
    view.load_us = beacon_time(beacon_number(value, view), 100);
  } else if (key == "cut") {
    auto const cut = beacon_number(value, view);
    view.lose(kCut, static_cast<std::uint64_t>(std::clamp(cut, 0., 1e9)));
  } else if (key == "full") {
    view.lose(kFull);
  } else if (parameters.size() < kBeaconCallsMax) {
    std::string_view text;
    if (auto const error = parameter_of(value, view, text)) return error;
    parameters.emplace_back(key, text);
  }
  return simdjson::SUCCESS;
}

error_code BeaconReader::State::read_object(ondemand::object object, std::string_view& why) {
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    if (auto const error = beacon_field(field, key, value)) return error;
    if (auto const error = read_field(key, value)) return error;
  }
  if (!is_ours) why = boomerang.read(parameters, view);
  return simdjson::SUCCESS;
}

bool BeaconReader::State::read_marked_tags() {
  if (!marks.take('{')) return false;
  if (marks.take('}')) return true;
  do {
    std::string_view name, text;
    if (!marks.text(name) || !marks.take(':') || !marks.text(text)) return false;
    if (text != "null") view.add_tag(name, text);
  } while (marks.take(','));
  return marks.take('}');
}

bool BeaconReader::State::read_marked_field(std::string_view key) {
  std::int64_t count = 0;
  if (key == "page") return marks.text(view.page);
  if (key == "tags") return read_marked_tags();
  if (key == "scripts") return read_lean_works(marks, CallKind::kTask, view);
  if (key == "measures") return read_lean_works(marks, CallKind::kMeasure, view);
  if (key == "requests" || key == "entries") {
    is_ours = true;
    return key == "entries" ? entries.read(marks, view) : read_lean_requests(marks, view);
  }
  if (key == "started") {
    double started = 0;
    if (!marks.number(started)) return false;
    view.start_at(started);
    return true;
  }
  if (!marks.count(count)) return false;
  if (key == "load") {
    view.load_us = beacon_time(static_cast<double>(count), 100);
  } else if (key == "cut") {
    view.lose(kCut, static_cast<std::uint64_t>(std::min<std::int64_t>(count, 1'000'000'000)));
  } else if (key == "full") {
    view.lose(kFull);
  } else {
    return key == "beacon";
  }
  return true;
}

bool BeaconReader::State::read_marked(std::string_view line) {
  is_ours = false;
  if (line.front() != '{' || !stage.start(line, marks) || !marks.take('{')) return false;
  do {
    std::string_view key;
    if (!marks.text(key) || !marks.take(':') || !read_marked_field(key)) return false;
  } while (marks.take(','));
  return marks.take('}') && marks.is_done() && is_ours;
}

std::string BeaconReader::State::read_json(std::string_view line) {
  parameters.clear();
  boomerang.forget();
  is_ours = false;
  std::string_view why;
  ondemand::document document;
  auto error = parser
                   .iterate(simdjson::padded_string_view(line.data(), line.size(),
                                                         line.size() + kPaddingBytes))
                   .get(document);
  if (!error && line.front() == '[') {
    ondemand::array array;
    error = document.get_array().get(array);
    if (!error) error = entries.read(array, view);
    // Any JSON can be a list: one that shows nothing is no view.
    if (!error && view.requests.empty() && view.works.empty() && view.load_us == 0) {
      why = "no entry of a view in it";
    }
  } else if (!error) {
    ondemand::object object;
    error = document.get_object().get(object);
    if (!error) error = read_object(object, why);
  }
  // After the last value there must be nothing.
  if (!error && why.empty() && document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    error = simdjson::TAPE_ERROR;
  }
  if (error) return std::string("not JSON: ") + simdjson::error_message(error);
  return std::string(why);
}

BeaconReader::BeaconReader() : state_(std::make_unique<State>()) {}
BeaconReader::~BeaconReader() = default;

std::expected<const BeaconView*, BeaconFault> BeaconReader::read(std::string_view line) {
  if (line.size() > kLineBytesMax) return read_padded(line);  // which refuses it
  state_->copy.assign(line);
  state_->copy.resize(line.size() + kPaddingBytes);
  return read_padded(std::string_view(state_->copy).substr(0, line.size()));
}

std::expected<const BeaconView*, BeaconFault> BeaconReader::read_padded(std::string_view line) {
  if (line.size() > kLineBytesMax) {
    return std::unexpected(BeaconFault{.why = "the line is longer than 16 MiB"});
  }
  line = trim(line);
  if (line.empty()) return std::unexpected(BeaconFault{.why = "the line is empty"});
  BeaconView& view = state_->view;
  view.clear();
  if (state_->read_marked(line)) return &view;
  view.clear();
  std::string why;
  if (line.front() == '{' || line.front() == '[') {
    why = state_->read_json(line);
  } else {
    // A query alone, or after a URL.
    auto const question = line.find('?');
    bool const is_url = question < line.find_first_of("&=");
    why = state_->boomerang.read(state_->boomerang.split(is_url ? line.substr(question + 1) : line),
                                 view);
  }
  if (why.empty()) return &view;
  bool const is_other = why == kNoTimes;
  return std::unexpected(BeaconFault{.why = std::move(why), .is_other_beacon = is_other});
}

}  // namespace reprise
