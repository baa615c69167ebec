// Reads messages, one a line in hexadecimal, and prints what the codec makes of each: one line of
// JSON-like fields a message, or "error". dnspython_test.py compares that with dnspython's reading.

#include <cstdio>
#include <iostream>

#include "tests/dns/message_text.h"

namespace reprise::dns {
namespace {

std::string name_bytes(const Name& name) {
  return std::string(name.labels()) + '\0';
}

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(value >> shift));
  }
  return text;
}

/// The data without compression, written a second time so that encode() is not its own judge.
struct PlainData {
  std::string operator()(const Opaque& data) { return data.bytes; }
  std::string operator()(const A& data) { return {data.address.begin(), data.address.end()}; }
  std::string operator()(const Aaaa& data) { return {data.address.begin(), data.address.end()}; }
  std::string operator()(const Target& data) { return name_bytes(data.name); }
  std::string operator()(const Soa& data) {
    return name_bytes(data.primary) + name_bytes(data.mailbox) + number(data.serial, 4) +
           number(data.refresh_s, 4) + number(data.retry_s, 4) + number(data.expire_s, 4) +
           number(data.minimum_s, 4);
  }
  std::string operator()(const Txt& data) {
    std::string text;
    for (const auto& string : data.strings) text += number(string.size(), 1) + string;
    return text;
  }
  std::string operator()(const Svcb& data) {
    std::string text = number(data.priority, 2) + name_bytes(data.target);
    for (const auto& param : data.params) {
      text += number(param.key, 2) + number(param.value.size(), 2) + param.value;
    }
    return text;
  }
};

std::string hex(std::string_view text) {
  auto const* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return to_hex({bytes, text.size()});
}

std::string describe(const Message& message) {
  std::string text;
  auto const add = [&text](const std::string& field) { text += field + " "; };
  auto const add_number = [&add](auto value) { add(std::to_string(static_cast<unsigned>(value))); };
  add_number(message.id);
  for (bool const flag :
       {message.response, message.authoritative, message.truncated, message.recursion_desired,
        message.recursion_available, message.authentic_data, message.checking_disabled}) {
    add_number(flag);
  }
  add_number(message.opcode);
  add_number(message.rcode);
  for (const auto& question : message.questions) {
    add("Q");
    add(hex(name_bytes(question.name)));
    add_number(question.type);
    add_number(question.question_class);
  }
  for (const auto* const section : {&message.answers, &message.authorities, &message.additionals}) {
    add("S");
    for (const auto& record : *section) {
      add(hex(name_bytes(record.name)));
      add_number(record.type);
      add_number(record.record_class);
      // Over 31 bits it counts as zero (RFC 2181 section 8), which dnspython applies as it reads.
      add_number(record.ttl_s > 0x7fffffffu ? 0 : record.ttl_s);
      add("[" + hex(std::visit(PlainData{}, record.data)) + "]");
    }
  }
  if (message.edns) {
    add("E");
    add_number(message.edns->udp_size_bytes);
    add_number(message.edns->version);
    add_number(message.edns->dnssec_ok);
    for (const auto& option : message.edns->options) {
      add_number(option.code);
      add("[" + hex(option.value) + "]");
    }
  }
  return text;
}

}  // namespace
}  // namespace reprise::dns

int main() {
  using namespace reprise::dns;
  for (std::string line; std::getline(std::cin, line);) {
    auto const message = decode(from_hex(line));
    std::cout << (message ? describe(*message) : "error " + message.error().message()) << "\n";
    // What was read is written again, for dnspython to read.
    std::cout << (message ? to_hex(encoded(*message)) : "") << "\n";
  }
}
