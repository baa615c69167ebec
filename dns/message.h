#pragma once

// A DNS message as plain values (RFC 1035 section 4, RFC 6891, RFC 9460).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/lookup_times.h"
#include "dns/name.h"

namespace reprise::dns {

/// The types that have names here; all other numbers are valid, too.
enum class Type : std::uint16_t {
  kA = kQueryA,
  kNs = 2,
  kCname = 5,
  kSoa = 6,
  kPtr = 12,
  kMx = 15,
  kTxt = 16,
  kAaaa = kQueryAaaa,
  kSrv = 33,
  kDname = 39,
  kOpt = 41,
  kSvcb = 64,
  kHttps = kQueryHttps,
  kTkey = 249,  // 249 to 254 request an action, not data
  kMailA = 254,
  kAny = 255,
};

inline constexpr std::uint16_t kClassIn = 1;

enum class Opcode : std::uint8_t { kQuery = 0 };

enum class Rcode : std::uint16_t {
  kNoError = 0,
  kFormErr = 1,
  kServFail = 2,
  kNxDomain = 3,
  kNotImp = 4,
  kRefused = 5,
  kBadVers = 16,  ///< needs EDNS
};

struct A {
  std::array<std::uint8_t, 4> address{};
  bool operator==(const A&) const = default;
};

struct Aaaa {
  std::array<std::uint8_t, 16> address{};
  bool operator==(const Aaaa&) const = default;
};

/// CNAME, PTR, NS and DNAME.
struct Target {
  Name name;
  bool operator==(const Target&) const = default;
};

struct Soa {
  Name primary;
  Name mailbox;
  std::uint32_t serial = 0;
  std::uint32_t refresh_s = 0;
  std::uint32_t retry_s = 0;
  std::uint32_t expire_s = 0;
  std::uint32_t minimum_s = 0;  ///< how long a negative answer is valid (RFC 2308)
  bool operator==(const Soa&) const = default;
};

struct Txt {
  std::vector<std::string> strings;  ///< 1 or more, of at most 255 bytes each
  bool operator==(const Txt&) const = default;
};

struct SvcParam {
  std::uint16_t key = 0;
  std::string value;  ///< as on the wire; svcb.h decodes it
  bool operator==(const SvcParam&) const = default;
};

/// SVCB and HTTPS (RFC 9460). Keys are in strictly ascending order.
struct Svcb {
  std::uint16_t priority = 0;  ///< 0: an alias
  Name target;                 ///< the root: the owner itself
  std::vector<SvcParam> params;
  bool operator==(const Svcb&) const = default;
};

/// Any other type or class, as on the wire; names in MX and SRV are uncompressed.
struct Opaque {
  std::string bytes;
  bool operator==(const Opaque&) const = default;
};

using RecordData = std::variant<Opaque, A, Aaaa, Target, Soa, Txt, Svcb>;

struct Record {
  Name name;
  Type type = Type::kA;
  std::uint16_t record_class = kClassIn;
  std::uint32_t ttl_s = 0;
  RecordData data;
  bool operator==(const Record&) const = default;
};

struct Question {
  Name name;
  Type type = Type::kA;
  std::uint16_t question_class = kClassIn;
  bool operator==(const Question&) const = default;
};

struct EdnsOption {
  std::uint16_t code = 0;
  std::string value;
  bool operator==(const EdnsOption&) const = default;
};

/// RFC 6891. The upper bits of the response code are in Message::rcode.
struct Edns {
  std::uint16_t udp_size_bytes = 512;
  std::uint8_t version = 0;
  bool dnssec_ok = false;
  std::vector<EdnsOption> options;
  bool operator==(const Edns&) const = default;
};

struct Message {
  std::uint16_t id = 0;
  bool response = false;
  Opcode opcode = Opcode::kQuery;
  bool authoritative = false;
  bool truncated = false;
  bool recursion_desired = false;
  bool recursion_available = false;
  bool authentic_data = false;
  bool checking_disabled = false;
  Rcode rcode = Rcode::kNoError;
  std::vector<Question> questions;
  std::vector<Record> answers;
  std::vector<Record> authorities;
  std::vector<Record> additionals;  ///< without OPT
  std::optional<Edns> edns;
  bool operator==(const Message&) const = default;
};

}  // namespace reprise::dns
