#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "proxy/replay/response/prepared.h"

namespace reprise {

/// The documents and workers into which a replay put the script, or could not, with counts of how
/// often each was served; kept longer than the documents themselves. Thread-safe.
class InjectedDocuments {
 public:
  /// Further ones are served, but not counted.
  static constexpr std::size_t kDocumentsMax = 10'000;

  /// The count for this document, valid as long as this; null if there are too many others.
  InjectionCount* of(std::uint32_t ordinal, const Form& form, const inject::RewriteReport& report);
  /// Clears all counts.
  void reset();
  /// The served ones, in the archive's order.
  void visit(
      const std::function<void(std::uint32_t ordinal, const InjectionCount& count)>& visit) const;

 private:
  mutable std::mutex mutex_;  // for the map: counting takes no lock
  std::map<std::pair<std::uint32_t, std::size_t>, InjectionCount> counts_;  // by Form::slot()
};

}  // namespace reprise
