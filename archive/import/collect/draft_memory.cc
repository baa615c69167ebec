#include "archive/import/collect/draft_memory.h"

namespace reprise::importing {
namespace {

template <class List>
std::size_t memory_of_fields(const List& fields) {
  std::size_t bytes = 0;
  for (auto const& field : fields) bytes += sizeof field + field.name.size() + field.value.size();
  return bytes;
}

}  // namespace

std::size_t memory_of(const ExchangeDraft& draft) {
  auto const extents = draft.request_body.extents.size() + draft.body.stored.extents.size();
  auto bytes = sizeof draft + extents * sizeof(Extent) + memory_of_fields(draft.request_fields) +
               memory_of_fields(draft.fields) + memory_of_fields(draft.body.trailers);
  for (auto const* const text : {&draft.method, &draft.url.target, &draft.reason, &draft.failure,
                                 &draft.address, &draft.facts.cipher}) {
    bytes += text->size();
  }
  for (const StoredInterimResponse& each : draft.interim) {
    bytes += sizeof each + each.reason.size() + memory_of_fields(each.headers.list());
  }
  return bytes;
}

}  // namespace reprise::importing
