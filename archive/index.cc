#include "archive/index.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

#include "archive/hash_directory.h"
#include "base/invariant.h"

namespace reprise {
namespace {

/// The sections of an index, in file order. All follow from the three numbers in its head.
struct Layout {
  std::uint64_t facts;
  std::uint64_t entries;
  std::uint64_t key_buckets;
  std::uint64_t path_buckets;
  std::uint64_t path_order;
  std::uint64_t end;

  Layout(std::uint64_t fact_count, std::uint64_t entry_count, unsigned bucket_bits) {
    auto const directory_bytes = directory_size(bucket_bits) * sizeof(std::uint32_t);
    facts = kIndexHeadBytes;
    entries = facts + fact_count * sizeof(std::uint64_t);
    key_buckets = entries + entry_count * sizeof(IndexEntry);
    path_buckets = key_buckets + directory_bytes;
    path_order = path_buckets + directory_bytes;
    end = path_order + entry_count * sizeof(std::uint32_t);
  }
};

template <class T>
void store(std::vector<std::byte>& payload, std::uint64_t at, const std::vector<T>& values) {
  if (!values.empty()) std::memcpy(payload.data() + at, values.data(), values.size() * sizeof(T));
}

template <class T>
std::span<const T> section(Bytes payload, std::uint64_t at, std::uint64_t count) {
  return {reinterpret_cast<const T*>(payload.data() + at), count};
}

bool is_record_offset(std::uint64_t offset, std::uint64_t file_bytes) {
  return offset >= kFileHeaderBytes && offset < file_bytes && offset % kRecordAlignment == 0;
}

}  // namespace

bool comes_before(const IndexEntry& a, const IndexEntry& b) {
  return std::tie(a.key_hash, a.session, a.sequence, a.record_offset) <
         std::tie(b.key_hash, b.session, b.sequence, b.record_offset);
}

std::vector<std::byte> build_index(std::vector<IndexEntry> entries,
                                   std::span<const std::uint64_t> fact_offsets) {
  invariant(entries.size() <= kExchangesMax && fact_offsets.size() <= kFactsMax,
            "an index over the limits of the format");
  std::ranges::sort(entries, comes_before);
  auto const bits = directory_bits(entries.size());
  std::vector<std::uint32_t> path_order(entries.size());
  std::iota(path_order.begin(), path_order.end(), 0U);
  std::ranges::sort(path_order, [&entries](std::uint32_t a, std::uint32_t b) {
    return std::tie(entries[a].path_hash, a) < std::tie(entries[b].path_hash, b);
  });

  Layout const layout(fact_offsets.size(), entries.size(), bits);
  std::vector<std::byte> payload(layout.end);
  store_u32(payload.data(), static_cast<std::uint32_t>(entries.size()));
  store_u32(payload.data() + 4, static_cast<std::uint32_t>(fact_offsets.size()));
  store_u32(payload.data() + 8, bits);
  if (!fact_offsets.empty()) {
    std::memcpy(payload.data() + layout.facts, fact_offsets.data(), fact_offsets.size_bytes());
  }
  store(payload, layout.entries, entries);
  store(payload, layout.key_buckets,
        make_directory(entries.size(), bits, [&](std::size_t i) { return entries[i].key_hash; }));
  store(payload, layout.path_buckets, make_directory(entries.size(), bits, [&](std::size_t i) {
          return entries[path_order[i]].path_hash;
        }));
  store(payload, layout.path_order, path_order);
  return payload;
}

void note_match_index(std::span<std::byte> index, std::uint64_t record_bytes) {
  store_u32(index.data() + 12, static_cast<std::uint32_t>(record_bytes / kRecordAlignment));
}

std::optional<IndexView> IndexView::parse(Bytes payload, std::uint64_t file_bytes) {
  if (payload.size() < kIndexHeadBytes) return std::nullopt;
  auto const entry_count = load_u32(payload.data());
  auto const fact_count = load_u32(payload.data() + 4);
  auto const bits = load_u32(payload.data() + 8);
  if (entry_count > kExchangesMax || fact_count > kFactsMax || bits < 1 ||
      bits > kDirectoryBitsMax) {
    return std::nullopt;
  }
  Layout const layout(fact_count, entry_count, bits);
  if (layout.end != payload.size()) return std::nullopt;

  IndexView view;
  auto const bucket_count = directory_size(bits);
  view.bucket_bits_ = bits;
  view.match_index_record_bytes_ = std::uint64_t{load_u32(payload.data() + 12)} * kRecordAlignment;
  view.facts_ = section<std::uint64_t>(payload, layout.facts, fact_count);
  view.entries_ = section<IndexEntry>(payload, layout.entries, entry_count);
  view.key_buckets_ = section<std::uint32_t>(payload, layout.key_buckets, bucket_count);
  view.path_buckets_ = section<std::uint32_t>(payload, layout.path_buckets, bucket_count);
  view.path_order_ = section<std::uint32_t>(payload, layout.path_order, entry_count);

  // No record is there twice.
  auto const is_ascending = [](std::span<const std::uint64_t> offsets) {
    return std::ranges::adjacent_find(offsets, std::ranges::greater_equal()) == offsets.end();
  };
  auto const offset_holds = [file_bytes](std::uint64_t offset) {
    return is_record_offset(offset, file_bytes);
  };
  auto const entry_holds = [&](const IndexEntry& entry) {
    return offset_holds(entry.record_offset) && entry.outcome >= Outcome::kComplete &&
           entry.outcome <= Outcome::kOriginFailed;
  };
  auto const holds =
      is_directory(view.key_buckets_, entry_count) &&
      is_directory(view.path_buckets_, entry_count) &&
      std::ranges::all_of(view.facts_, offset_holds) && is_ascending(view.facts_) &&
      std::ranges::all_of(view.entries_, entry_holds) &&
      std::ranges::is_sorted(view.entries_, comes_before) &&
      std::ranges::all_of(view.path_order_, [&](std::uint32_t o) { return o < entry_count; });
  if (!holds) return std::nullopt;
  return view;
}

std::pair<std::size_t, std::size_t> IndexView::bounds(std::span<const std::uint32_t> directory,
                                                      std::uint64_t hash) const {
  if (entries_.empty()) return {0, 0};
  return directory_bounds(directory, bucket_bits_, entries_.size(), hash);
}

std::span<const IndexEntry> IndexView::bucket_of(std::uint64_t key_hash) const {
  auto const [begin, end] = bounds(key_buckets_, key_hash);
  return entries_.subspan(begin, end - begin);
}

std::span<const IndexEntry> IndexView::find_key(std::uint64_t key_hash) const {
  auto const found = std::ranges::equal_range(bucket_of(key_hash), key_hash, std::ranges::less{},
                                              &IndexEntry::key_hash);
  return {found.begin(), found.end()};
}

void IndexView::visit_path(std::uint64_t path_hash,
                           const std::function<bool(std::uint32_t)>& visit) const {
  auto const [begin, end] = bounds(path_buckets_, path_hash);
  for (auto const ordinal : path_order_.subspan(begin, end - begin)) {
    if (ordinal >= entries_.size() || entries_[ordinal].path_hash != path_hash) continue;
    if (!visit(ordinal)) return;
  }
}

}  // namespace reprise
