#pragma once

// The match index: selects the candidates for a request that was not recorded exactly. Used
// directly from the mapped file, or from memory. Pure. Layout: archive/FORMAT.md. Input is hostile.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "archive/match/features.h"
#include "archive/match/learn.h"
#include "archive/record.h"

namespace reprise {

inline constexpr std::uint32_t kMatchIndexVersion = 2;
inline constexpr std::size_t kMatchIndexHeadBytes = 64;
/// Limit for the features of all exchanges; exchanges beyond it have none and match only exactly.
inline constexpr std::size_t kFeaturesOfAllMax = std::size_t{1} << 26;

/// The limit of a record.
inline constexpr std::size_t kMatchIndexBytesMax = std::size_t{UINT32_MAX} - kRecordHeaderBytes;

/// An exchange that can answer, in the layout of the file.
struct MatchMember {
  std::uint32_t ordinal = 0;
  std::uint32_t is_partial = 0;  ///< 1: its body was recorded in part only, and is not compared
  std::uint32_t first_feature = 0;
  std::uint32_t feature_count = 0;
};

/// The contents of a match index, before its directories. Ordinals are those of the archive's
/// entries.
struct MatchContents {
  struct Group {
    std::uint64_t hash = 0;
    std::vector<MatchMember> members;  ///< in recorded order
    std::vector<LearntName> learnt;
  };
  std::vector<Group> groups;
  std::vector<Feature> features;                ///< with their relevance
  std::vector<Representation> representations;  ///< by ordinal
  std::vector<std::uint64_t> sites;
};

std::vector<std::byte> build_match_index(MatchContents contents);

/// A match index in memory owned by the caller.
class MatchIndexView {
 public:
  MatchIndexView() = default;
  /// Nothing if it has another version, fails a check, or does not belong to an archive of
  /// `entry_count` exchanges. `payload` is aligned to 8 bytes and must stay valid.
  static std::optional<MatchIndexView> parse(Bytes payload, std::size_t entry_count);

  /// The exchanges of one group. Members are identified by their positions in members().
  struct Group {
    std::uint32_t first_member = 0;
    std::uint32_t end_member = 0;
    std::span<const LearntName> learnt;
  };
  std::optional<Group> find_group(std::uint64_t hash) const;
  /// The members that share a parameter, ascending; empty if there are none.
  std::span<const std::uint32_t> find_pair(std::uint64_t hash) const;

  std::span<const MatchMember> members() const { return members_; }
  std::span<const Feature> features_of(const MatchMember& member) const;
  /// By ordinal.
  std::span<const Representation> representations() const { return representations_; }
  bool has_site(std::uint64_t hash) const;

 private:
  struct GroupRow {
    std::uint64_t hash;
    std::uint32_t first_member;
    std::uint32_t first_learnt;
  };
  struct Sections;
  struct Builder;
  friend std::vector<std::byte> build_match_index(MatchContents contents);
  bool holds() const;

  unsigned group_bits_ = 1;
  unsigned pair_bits_ = 1;
  std::span<const GroupRow> groups_;  // and one more at the end
  std::span<const MatchMember> members_;
  std::span<const Feature> features_;
  std::span<const std::uint64_t> pairs_;
  std::span<const Representation> representations_;
  std::span<const std::uint64_t> sites_;
  std::span<const std::uint32_t> first_postings_;  // of each pair, and one more at the end
  std::span<const std::uint32_t> postings_;
  std::span<const LearntName> learnt_;
  std::span<const std::uint32_t> group_buckets_;
  std::span<const std::uint32_t> pair_buckets_;
};

}  // namespace reprise
