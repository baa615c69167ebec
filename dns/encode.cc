#include <algorithm>
#include <array>

#include "dns/error.h"
#include "dns/wire.h"

namespace reprise::dns {
namespace {

/// Places of names that later names can point to: one slot per hash, the first name stays. A name
/// whose slot is taken is written in full, which is longer but valid.
class Suffixes {
 public:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint16_t offset = 0;  // 0: free, because that offset is in the header
  };
  Slot& of(std::uint32_t hash) { return slots_[(hash ^ hash >> 16) % slots_.size()]; }

 private:
  std::array<Slot, 128> slots_{};
};

class Writer {
 public:
  explicit Writer(std::span<std::uint8_t> out)
      : out_(out.first(std::min(out.size(), kMessageMax))) {}

  std::size_t at() const { return at_; }
  std::error_code error() const { return error_; }
  void set_error(errc error) {
    if (!error_) error_ = error;
  }

  void u8(std::uint8_t value) {
    if (at_ >= out_.size()) return set_error(errc::too_large);
    out_[at_++] = value;
  }
  void u16(std::size_t value) {
    if (value > 0xffff) set_error(errc::too_large);
    u8(static_cast<std::uint8_t>(value >> 8));
    u8(static_cast<std::uint8_t>(value));
  }
  void u32(std::uint32_t value) {
    u16(value >> 16);
    u16(value & 0xffffu);
  }
  void bytes(std::string_view bytes) {
    if (out_.size() - at_ < bytes.size()) return set_error(errc::too_large);
    std::ranges::copy(bytes, out_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ += bytes.size();
  }
  void plain_name(const Name& name) {
    bytes(name.labels());
    u8(0);
  }
  void name(const Name& name);
  /// Writes the size of the data since `where` into the two bytes reserved there.
  void fill_size(std::size_t where) {
    auto const size = at_ - where - 2;
    if (error_) return;
    out_[where] = static_cast<std::uint8_t>(size >> 8);
    out_[where + 1] = static_cast<std::uint8_t>(size);
  }

 private:
  bool is_written_at(std::string_view labels, std::size_t offset) const;

  std::span<std::uint8_t> out_;
  std::size_t at_ = 0;
  std::error_code error_;
  Suffixes suffixes_;
};

/// Whether exactly these labels, up to the root, are in the message at `offset`.
bool Writer::is_written_at(std::string_view labels, std::size_t offset) const {
  // Anyone can make hashes collide, so this may start inside an unfinished name.
  while (offset + 1 < at_) {
    auto const size = out_[offset];
    if ((size & 0xc0) == 0xc0) {
      offset = (size & 0x3fu) << 8 | out_[offset + 1];
      continue;
    }
    if (size == 0) return labels.empty();
    if (labels.size() < size + 1u || at_ - offset < size + 1u) return false;
    auto const* const there = reinterpret_cast<const char*>(out_.data() + offset);
    if (labels.substr(0, size + 1u) != std::string_view(there, size + 1u)) return false;
    labels.remove_prefix(size + 1u);
    offset += size + 1u;
  }
  return offset + 1 == at_ && out_[offset] == 0 && labels.empty();
}

void Writer::name(const Name& name) {
  // Hashed from the end: one walk over the bytes gives the hash of each suffix.
  auto const all = name.labels();
  std::array<std::uint8_t, Name::kWireMax / 2> starts;
  std::size_t count = 0;
  for (std::size_t at = 0; at < all.size(); at += static_cast<std::uint8_t>(all[at]) + 1u) {
    starts[count++] = static_cast<std::uint8_t>(at);
  }
  std::array<std::uint32_t, Name::kWireMax / 2> hashes;
  std::uint32_t hash = 2166136261u;
  for (std::size_t i = count, end = all.size(); i-- > 0; end = starts[i]) {
    for (auto at = end; at-- > starts[i];) {
      hash = (hash ^ static_cast<std::uint8_t>(all[at])) * 16777619u;
    }
    hashes[i] = hash;
  }
  for (std::size_t i = 0; i < count; ++i) {
    auto const rest = all.substr(starts[i]);
    auto& slot = suffixes_.of(hashes[i]);
    if (slot.offset != 0 && slot.hash == hashes[i] && is_written_at(rest, slot.offset)) {
      return u16(0xc000u | slot.offset);
    }
    auto const label = rest.substr(0, static_cast<std::uint8_t>(rest[0]) + 1u);
    // A name that is cut off is never pointed to: nothing is written after an error.
    if (slot.offset == 0 && at_ < 0x4000) {
      slot = {.hash = hashes[i], .offset = static_cast<std::uint16_t>(at_)};
    }
    bytes(label);
    if (error_) return;
  }
  u8(0);
}

struct DataWriter {
  Writer& writer;
  bool compress;

  void operator()(const Opaque& data) { writer.bytes(data.bytes); }
  void operator()(const A& data) { all(data.address); }
  void operator()(const Aaaa& data) { all(data.address); }
  void operator()(const Target& data) {
    compress ? writer.name(data.name) : writer.plain_name(data.name);
  }
  void operator()(const Soa& data) {
    writer.name(data.primary);
    writer.name(data.mailbox);
    for (auto const value :
         {data.serial, data.refresh_s, data.retry_s, data.expire_s, data.minimum_s}) {
      writer.u32(value);
    }
  }
  void operator()(const Txt& data) {
    if (data.strings.empty()) writer.set_error(errc::bad_record);
    for (const auto& text : data.strings) {
      if (text.size() > 255) return writer.set_error(errc::bad_record);
      writer.u8(static_cast<std::uint8_t>(text.size()));
      writer.bytes(text);
    }
  }
  void operator()(const Svcb& data) {
    writer.u16(data.priority);
    writer.plain_name(data.target);
    for (const auto& param : data.params) {
      if (&param != &data.params.front() && (&param - 1)->key >= param.key) {
        return writer.set_error(errc::bad_record);
      }
      writer.u16(param.key);
      writer.u16(param.value.size());
      writer.bytes(param.value);
    }
  }

 private:
  void all(std::span<const std::uint8_t> address) {
    for (auto const value : address) writer.u8(value);
  }
};

void write_record(Writer& writer, const Record& record) {
  writer.name(record.name);
  writer.u16(static_cast<std::uint16_t>(record.type));
  writer.u16(record.record_class);
  writer.u32(record.ttl_s);
  auto const size_at = writer.at();
  writer.u16(0);
  if (writer.error()) return;
  // DNAME came after RFC 1035: never compressed (RFC 6672 section 2.5).
  std::visit(DataWriter{.writer = writer, .compress = record.type != Type::kDname}, record.data);
  writer.fill_size(size_at);
}

void write_edns(Writer& writer, const Edns& edns, Rcode rcode) {
  writer.u8(0);
  writer.u16(static_cast<std::uint16_t>(Type::kOpt));
  writer.u16(edns.udp_size_bytes);
  writer.u8(static_cast<std::uint8_t>(static_cast<std::uint16_t>(rcode) >> 4));
  writer.u8(edns.version);
  writer.u16(edns.dnssec_ok ? 0x8000u : 0u);
  auto const size_at = writer.at();
  writer.u16(0);
  if (writer.error()) return;
  for (const auto& option : edns.options) {
    writer.u16(option.code);
    writer.u16(option.value.size());
    writer.bytes(option.value);
  }
  writer.fill_size(size_at);
}

std::uint16_t flags_of(const Message& message) {
  unsigned flags = static_cast<unsigned>(message.opcode) << 11;
  auto const set = [&flags](bool on, unsigned number) {
    if (on) flags |= 1u << number;
  };
  set(message.response, 15);
  set(message.authoritative, 10);
  set(message.truncated, 9);
  set(message.recursion_desired, 8);
  set(message.recursion_available, 7);
  set(message.authentic_data, 5);
  set(message.checking_disabled, 4);
  return static_cast<std::uint16_t>(flags | (static_cast<unsigned>(message.rcode) & 0xfu));
}

}  // namespace

Result<std::size_t> encode(const Message& message, std::span<std::uint8_t> out) {
  Writer writer(out);
  if (static_cast<unsigned>(message.rcode) > 0xf && !message.edns) return fail(errc::bad_edns);
  writer.u16(message.id);
  writer.u16(flags_of(message));
  writer.u16(message.questions.size());
  writer.u16(message.answers.size());
  writer.u16(message.authorities.size());
  writer.u16(message.additionals.size() + (message.edns ? 1 : 0));
  for (const Question& question : message.questions) {
    writer.name(question.name);
    writer.u16(static_cast<std::uint16_t>(question.type));
    writer.u16(question.question_class);
  }
  for (const Record& record : message.answers) write_record(writer, record);
  for (const Record& record : message.authorities) write_record(writer, record);
  if (message.edns) write_edns(writer, *message.edns, message.rcode);
  for (const Record& record : message.additionals) write_record(writer, record);
  if (writer.error()) return fail(writer.error());
  return writer.at();
}

Result<std::string> encode_svcb(const Svcb& svcb) {
  std::vector<std::uint8_t> bytes(kMessageMax);
  Writer writer(bytes);
  DataWriter{.writer = writer, .compress = false}(svcb);
  if (writer.error()) return fail(writer.error());
  return std::string(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(writer.at()));
}

}  // namespace reprise::dns
