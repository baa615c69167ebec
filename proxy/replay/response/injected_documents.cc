#include "proxy/replay/response/injected_documents.h"

namespace reprise {

InjectionCount* InjectedDocuments::of(std::uint32_t ordinal, const Form& form,
                                      const inject::RewriteReport& report) {
  std::scoped_lock const lock(mutex_);
  std::pair const key(ordinal, form.slot());
  if (auto const known = counts_.find(key); known != counts_.end()) return &known->second;
  if (counts_.size() >= kDocumentsMax) return nullptr;
  auto& made = counts_[key];
  made.destination = form.destination;
  made.report = report;
  return &made;
}

void InjectedDocuments::reset() {
  std::scoped_lock const lock(mutex_);
  for (auto& [key, count] : counts_) count.served = 0;
}

void InjectedDocuments::visit(
    const std::function<void(std::uint32_t, const InjectionCount&)>& visit) const {
  std::scoped_lock const lock(mutex_);
  for (auto const& [key, count] : counts_) {
    if (count.served > 0) visit(key.first, count);
  }
}

}  // namespace reprise
