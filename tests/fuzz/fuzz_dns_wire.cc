// The DNS codec on arbitrary bytes: whatever is accepted is read the same again after it was
// written, names survive their text form, and the parameters of HTTPS records can be asked for.

#include <cstdlib>
#include <vector>

#include "dns/svcb.h"
#include "dns/wire.h"

using namespace reprise::dns;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_name(const Name& name) {
  check(name.labels().size() < Name::kWireMax);
  auto const again = Name::parse(name.text());
  check(again && *again == name);
}

void check_params(const Svcb& svcb) {
  if (auto const alpn = alpn_of(svcb); alpn && !alpn->empty()) {
    check(alpn_value(*alpn) == find_param(svcb, kSvcAlpn));
  }
  if (auto const keys = mandatory_of(svcb); keys && !keys->empty()) {
    check(mandatory_value(*keys) == find_param(svcb, kSvcMandatory));
  }
  // What pointers made small may be too large to write.
  if (auto const alone = encode_svcb(svcb)) {
    auto const again = decode_svcb(*alone);
    check(again && *again == svcb);
  }
  (void)port_of(svcb);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (auto const svcb = decode_svcb({reinterpret_cast<const char*>(data), size})) {
    check_name(svcb->target);
    check_params(*svcb);
  }
  auto const message = decode({data, size});
  if (!message) return 0;
  for (const auto& question : message->questions) check_name(question.name);
  for (const auto& record : message->answers) {
    check_name(record.name);
    if (auto const* const svcb = std::get_if<Svcb>(&record.data)) check_params(*svcb);
  }
  static std::vector<std::uint8_t> out(kMessageMax);
  auto const written = encode(*message, out);
  // Data that pointers made small can be too large to write; a small message never is.
  if (!written) {
    check(size > 200);
    return 0;
  }
  auto const again = decode(std::span(out).first(*written));
  check(again && *again == *message);
  return 0;
}
