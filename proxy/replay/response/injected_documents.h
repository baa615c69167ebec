#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "proxy/replay/response/prepared.h"

namespace reprise {

/// The documents and workers that a replay put the script into, or could not, and how often each
/// was served: longer than they are kept themselves. Thread-safe.
class InjectedDocuments {
 public:
  /// More are served, but not counted.
  static constexpr std::size_t kDocumentsMax = 10'000;

  /// The count of this one, valid as long as this; null where there are too many others.
  InjectionCount* of(std::uint32_t ordinal, const Form& form, const inject::RewriteReport& report);
  /// Nothing was served so far.
  void reset();
  /// Those that were served, in the archive's order.
  void visit(
      const std::function<void(std::uint32_t ordinal, const InjectionCount& count)>& visit) const;

 private:
  mutable std::mutex mutex_;  // of the map: counting takes no lock
  std::map<std::pair<std::uint32_t, std::size_t>, InjectionCount> counts_;  // by Form::slot()
};

}  // namespace reprise
