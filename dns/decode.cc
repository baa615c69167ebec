#include <algorithm>

#include "dns/error.h"
#include "dns/wire.h"

namespace reprise::dns {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// One before each of the 127 labels that fit into a name, and one before its end.
constexpr unsigned kPointersMax = 128;

/// Reads forward through a message. Keeps the first error; after it all reads return zeros.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  std::size_t at() const { return at_; }
  bool ok() const { return !error_; }
  std::error_code error() const { return error_; }
  void set_error(errc error) {
    if (!error_) error_ = error;
  }

  std::uint8_t u8() {
    auto const piece = take(1);
    return piece.empty() ? 0 : piece[0];
  }
  std::uint16_t u16() {
    auto const piece = take(2);
    return piece.empty() ? 0 : static_cast<std::uint16_t>(piece[0] << 8 | piece[1]);
  }
  std::uint32_t u32() {
    std::uint32_t const high = u16();
    return high << 16 | u16();
  }
  std::string text(std::size_t size) {
    auto const piece = take(size);
    return {piece.begin(), piece.end()};
  }
  template <std::size_t kSize>
  std::array<std::uint8_t, kSize> array() {
    std::array<std::uint8_t, kSize> result{};
    std::ranges::copy(take(kSize), result.begin());
    return result;
  }

  Name name();

 private:
  Bytes take(std::size_t size) {
    if (error_ || bytes_.size() - at_ < size) {
      set_error(errc::truncated);
      return {};
    }
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

  Bytes bytes_;
  std::size_t at_ = 0;
  std::error_code error_;
};

/// Every pointer must lead to before the piece of the name that contains it, so following pointers
/// ends (RFC 1035 section 4.1.4: "a prior occurrence"). Their number is limited, because pointers
/// that lead to pointers would make the work grow with the square of the message's size.
Name Reader::name() {
  Name name;
  std::size_t behind = 0;  // where reading continues after the first pointer
  std::size_t piece = at_;
  unsigned pointers = 0;
  while (ok()) {
    auto const size = u8();
    if (size == 0) break;
    if ((size & 0xc0) == 0xc0) {
      std::size_t const target = (size & 0x3fu) << 8 | u8();
      if (behind == 0) behind = at_;
      if (target >= piece || ++pointers > kPointersMax) set_error(errc::bad_pointer);
      piece = at_ = std::min(target, bytes_.size());
    } else if ((size & 0xc0) != 0) {
      set_error(errc::bad_name);
    } else {
      auto const label = take(size);
      std::string_view const letters(reinterpret_cast<const char*>(label.data()), label.size());
      if (ok() && !name.append(letters)) set_error(errc::bad_name);
    }
  }
  if (behind != 0) at_ = behind;
  return name;
}

Soa read_soa(Reader& reader) {
  Soa soa;
  soa.primary = reader.name();
  soa.mailbox = reader.name();
  soa.serial = reader.u32();
  soa.refresh_s = reader.u32();
  soa.retry_s = reader.u32();
  soa.expire_s = reader.u32();
  soa.minimum_s = reader.u32();
  return soa;
}

Txt read_txt(Reader& reader, std::size_t end) {
  Txt txt;
  while (reader.ok() && reader.at() < end) txt.strings.push_back(reader.text(reader.u8()));
  if (txt.strings.empty()) reader.set_error(errc::bad_record);
  return txt;
}

Svcb read_svcb(Reader& reader, std::size_t end) {
  Svcb svcb;
  svcb.priority = reader.u16();
  svcb.target = reader.name();
  while (reader.ok() && reader.at() < end) {
    SvcParam param;
    param.key = reader.u16();
    param.value = reader.text(reader.u16());
    if (!svcb.params.empty() && svcb.params.back().key >= param.key) {
      reader.set_error(errc::bad_record);
    }
    svcb.params.push_back(std::move(param));
  }
  return svcb;
}

/// Data whose last part is a name, which old software compresses: `fixed` bytes, then the name.
Opaque read_with_name(Reader& reader, std::size_t fixed) {
  Opaque data{.bytes = reader.text(fixed)};
  data.bytes += reader.name().labels();
  data.bytes.push_back('\0');
  return data;
}

/// The types of RFC 1035 that contain names are the same in every class.
RecordData read_data(Reader& reader, const Record& record, std::size_t end) {
  bool const internet = record.record_class == kClassIn;
  switch (record.type) {
    case Type::kA:
      if (internet) return A{reader.array<4>()};
      break;
    case Type::kAaaa:
      if (internet) return Aaaa{reader.array<16>()};
      break;
    case Type::kSvcb:
    case Type::kHttps:
      if (internet) return read_svcb(reader, end);
      break;
    case Type::kSrv:
      if (internet) return read_with_name(reader, 6);
      break;
    case Type::kMx:
      return read_with_name(reader, 2);
    case Type::kCname:
    case Type::kPtr:
    case Type::kNs:
    case Type::kDname:
      return Target{reader.name()};
    case Type::kSoa:
      return read_soa(reader);
    case Type::kTxt:
      return read_txt(reader, end);
    default:
      break;
  }
  return Opaque{.bytes = reader.text(end - reader.at())};
}

/// Reads the rest of an OPT record, whose class and TTL have other meanings (RFC 6891 section 6.1).
void read_edns(Reader& reader, const Record& record, std::size_t end, Message& message) {
  if (message.edns || !record.name.labels().empty()) return reader.set_error(errc::bad_edns);
  Edns edns;
  edns.udp_size_bytes = record.record_class;
  edns.version = static_cast<std::uint8_t>(record.ttl_s >> 16);
  edns.dnssec_ok = (record.ttl_s & 0x8000u) != 0;
  auto const upper = static_cast<std::uint16_t>(record.ttl_s >> 24 << 4);
  message.rcode = static_cast<Rcode>(static_cast<std::uint16_t>(message.rcode) | upper);
  while (reader.ok() && reader.at() < end) {
    EdnsOption option;
    option.code = reader.u16();
    option.value = reader.text(reader.u16());
    edns.options.push_back(std::move(option));
  }
  message.edns = std::move(edns);
}

void read_record(Reader& reader, std::vector<Record>& section, Message& message) {
  Record record;
  record.name = reader.name();
  record.type = static_cast<Type>(reader.u16());
  record.record_class = reader.u16();
  record.ttl_s = reader.u32();
  auto const size = reader.u16();
  auto const end = reader.at() + size;
  if (!reader.ok()) return;
  if (record.type == Type::kOpt) {
    if (&section != &message.additionals) return reader.set_error(errc::bad_edns);
    read_edns(reader, record, end, message);
    if (reader.ok() && reader.at() != end) reader.set_error(errc::bad_edns);
    return;
  }
  record.data = read_data(reader, record, end);
  if (reader.ok() && reader.at() != end) reader.set_error(errc::bad_record);
  if (reader.ok()) section.push_back(std::move(record));
}

void read_flags(std::uint16_t flags, Message& message) {
  auto const bit = [flags](unsigned number) { return (flags >> number & 1u) != 0; };
  message.response = bit(15);
  message.opcode = static_cast<Opcode>(flags >> 11 & 0xfu);
  message.authoritative = bit(10);
  message.truncated = bit(9);
  message.recursion_desired = bit(8);
  message.recursion_available = bit(7);
  message.authentic_data = bit(5);
  message.checking_disabled = bit(4);
  message.rcode = static_cast<Rcode>(flags & 0xfu);
}

}  // namespace

Result<Message> decode(Bytes bytes) {
  Reader reader(bytes);
  Message message;
  message.id = reader.u16();
  read_flags(reader.u16(), message);
  auto const questions = reader.u16();
  std::array const counts{reader.u16(), reader.u16(), reader.u16()};
  for (unsigned i = 0; i < questions && reader.ok(); ++i) {
    Question question;
    question.name = reader.name();
    question.type = static_cast<Type>(reader.u16());
    question.question_class = reader.u16();
    message.questions.push_back(std::move(question));
  }
  std::array const sections{&message.answers, &message.authorities, &message.additionals};
  for (std::size_t i = 0; i < sections.size(); ++i) {
    for (unsigned n = 0; n < counts[i] && reader.ok(); ++n) {
      read_record(reader, *sections[i], message);
    }
  }
  if (reader.ok() && reader.at() != bytes.size()) reader.set_error(errc::trailing_bytes);
  if (!reader.ok()) return fail(reader.error());
  return message;
}

Result<Svcb> decode_svcb(std::string_view data) {
  Reader reader(std::span(reinterpret_cast<const std::uint8_t*>(data.data()), data.size()));
  auto svcb = read_svcb(reader, data.size());
  if (!reader.ok()) return fail(reader.error());
  return svcb;
}

}  // namespace reprise::dns
