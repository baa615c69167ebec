#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dns/message.h"
#include "dns/zone.h"

namespace reprise::dns {

/// Answers queries from a zone: bytes in, bytes out, no sockets. It acts as the authority for all
/// names (AA), and offers recursion (RA) so that clients ask no other server.
///
/// - A, AAAA and HTTPS come from the zone; a name without such a record, and any other type, gets
///   an empty NOERROR with a SOA, so that the client can cache it (RFC 2308). Names outside the
///   zone resolve to its catch-all, or do not exist (NXDOMAIN), unless names below them do.
/// - localhost and all names below it are 127.0.0.1 and ::1 (RFC 6761) unless the zone has them.
/// - A class other than IN and zone transfers are REFUSED, an opcode other than QUERY is NOTIMP, a
///   query without exactly one question is FORMERR. Responses and undecodable data are dropped.
/// - Answers have the delays of the zone; replies that are no answers, such as FORMERR, have none.
/// - A UDP answer is never larger than the client accepts, or than kUdpMax: otherwise an empty
///   answer with TC replaces it.
///
/// Not thread-safe; one per thread. Uses bounded memory for any input.
class Responder {
 public:
  static constexpr std::size_t kUdpMax = 1232;       ///< fits every path without fragmentation
  static constexpr std::size_t kUdpMin = 512;        ///< for a client without EDNS
  static constexpr std::uint32_t kTtlSeconds = 60;   ///< unless recorded TTLs are used
  static constexpr std::size_t kAddressesMax = 256;  ///< in one answer
  static constexpr std::size_t kMissingNamesMax = 1000;

  struct Options {
    bool chains = false;  ///< use the recorded CNAMEs and TTLs
  };
  enum class Transport { kUdp, kTcp };

  struct Counts {
    std::uint64_t queries = 0;                       ///< with any reply
    std::uint64_t dropped = 0;                       ///< no reply
    std::uint64_t malformed = 0;                     ///< FORMERR
    std::uint64_t truncated = 0;                     ///< TC
    std::uint64_t missing = 0;                       ///< NXDOMAIN
    std::map<std::uint16_t, std::uint64_t> by_type;  ///< of well-formed queries
    /// Names that did not exist, in lower case, with counts; the first kMissingNamesMax names.
    std::map<std::string, std::uint64_t, std::less<>> missing_names;
  };

  /// Entries whose hosts are not names are ignored; of two entries for one host the first counts.
  Responder(const Zone& zone, const Options& options);

  struct Reply {
    std::size_t size_bytes = 0;        ///< 0: no reply
    std::chrono::nanoseconds delay{};  ///< from the query until it is to be sent
  };
  /// Writes the reply to `query` into `out`, which has room for kMessageMax bytes.
  Reply respond(std::span<const std::uint8_t> query, Transport transport,
                std::span<std::uint8_t> out);

  const Counts& counts() const { return counts_; }
  /// A reply of respond() was not sent after all: its query counts as dropped.
  void reply_was_dropped() {
    --counts_.queries;
    ++counts_.dropped;
  }

 private:
  struct Entry {
    std::vector<A> v4;
    std::vector<Aaaa> v6;
    std::vector<Name> chain;  // empty unless Options::chains
    std::uint32_t ttl_s = kTtlSeconds;
    std::vector<Svcb> https;
    LookupTimes delay;
  };
  /// Where the answer for a name is. A name inside a host's chain shares the host's entry.
  struct Place {
    std::size_t entry = 0;        // in entries_
    std::size_t chain_begin = 0;  // the first link in Entry::chain that counts
  };
  struct Found {
    const Entry* entry;  // null: no such name
    std::size_t chain_begin = 0;
    LookupTimes delay;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  /// Whether the name is new.
  bool add(const Name& name, const Place& place);
  /// "example.org" exists, but is empty, if "www.example.org" does: a client may take NXDOMAIN as
  /// valid for all names below it (RFC 8020).
  bool is_above_a_name(std::string_view lowered_labels) const;
  Found find(const Name& lowered) const;
  /// Returns how long the answer is to wait.
  std::chrono::nanoseconds answer(const Question& question, Message& reply);
  static void answer_from(const Found& found, const Question& question, Message& reply);

  std::vector<Entry> entries_;
  std::unordered_map<std::string, Place, Hash, std::equal_to<>> places_;  // by Name::labels()
  /// The keys of places_ from the root down, in order: the names below another one are in a row.
  /// Empty with a catch-all. To keep the names above each one would take many times the memory.
  std::vector<std::string> from_root_;
  Entry localhost_;
  Entry no_records_;
  std::optional<Entry> catch_all_;
  LookupTimes other_delay_;  // of names outside places_
  std::unordered_map<std::string, LookupTimes, Hash, std::equal_to<>> other_delays_;  // before it
  Record soa_;
  Counts counts_;
};

}  // namespace reprise::dns
