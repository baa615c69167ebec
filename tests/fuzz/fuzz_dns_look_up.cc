// Responses of any form, read for an answer: bounded, and either an answer or a reason.

#include <cstdlib>

#include "dns/look_up.h"
#include "dns/wire.h"

using namespace reprise::dns;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const response = decode({data, size});
  if (!response) return 0;
  for (auto const type : {Type::kA, Type::kAaaa, Type::kHttps}) {
    LookUpAnswer answer{.host = "www.example.org", .type = type};
    read_response(*response, answer);
    auto const records = answer.addresses.size() + answer.https.size();
    check(answer.chain.size() <= LookUpAnswer::kChainMax);
    check(records <= LookUpAnswer::kRecordsMax);
    check(answer.error ? records == 0 : records > 0);
    check(answer.ttl_s <= 24 * 3600);
  }
  return 0;
}
