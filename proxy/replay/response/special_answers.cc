#include "proxy/replay/response/special_answers.h"

#include "base/text/counted.h"

namespace reprise {

std::string_view to_string(Special special) {
  switch (special) {
    case Special::kPreflight:
      return "preflight";
    case Special::kBrowser:
      return "browser";
    case Special::kCut:
      return "cut";
    case Special::kFailed:
      return "failed";
    case Special::kStitched:
      return "stitched";
  }
  return "";
}

std::string describe(Special special, std::uint64_t count) {
  switch (special) {
    case Special::kPreflight:
      return counted(count, "synthesised preflight");
    case Special::kBrowser:
      return counted(count, "request by the browser itself", "requests by the browser itself");
    case Special::kCut:
      return std::to_string(count) + " cut as recorded";
    case Special::kFailed:
      return std::to_string(count) + " failed as recorded";
    case Special::kStitched:
      return std::to_string(count) + " stitched from recorded parts";
  }
  return "";
}

void SpecialAnswers::add(Special special, std::string method, std::string url, std::string why) {
  auto key = std::string(to_string(special)).append(" ").append(method).append(" ").append(url);
  std::scoped_lock const lock(mutex_);
  ++counts_[static_cast<std::size_t>(special)];
  auto const known = positions_.find(key);
  if (known != positions_.end()) {
    ++distinct_[known->second].count;
  } else if (distinct_.size() < kDistinctMax) {
    positions_.emplace(std::move(key), distinct_.size());
    distinct_.push_back({.special = special,
                         .method = std::move(method),
                         .url = std::move(url),
                         .count = 1,
                         .why = std::move(why)});
  }
}

void SpecialAnswers::reset() {
  std::scoped_lock const lock(mutex_);
  counts_ = {};
  distinct_.clear();
  positions_.clear();
}

SpecialCounts SpecialAnswers::counts() const {
  std::scoped_lock const lock(mutex_);
  return counts_;
}

std::vector<SpecialAnswer> SpecialAnswers::list() const {
  std::scoped_lock const lock(mutex_);
  return distinct_;
}

}  // namespace reprise
