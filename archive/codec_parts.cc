#include "archive/codec_parts.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstring>

#include "archive/error.h"

namespace reprise::codec {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

/// Limit of fields at the top of one payload. Each may cost a parser many times its bytes.
constexpr std::size_t kTopFieldsMax = 2 * kStringsMax + 100;

bool has_few_fields(Bytes payload) {
  CodedInputStream input(reinterpret_cast<const std::uint8_t*>(payload.data()),
                         static_cast<int>(payload.size()));
  for (std::size_t count = 0; auto const tag = input.ReadTag(); ++count) {
    if (count == kTopFieldsMax || !WireFormatLite::SkipField(&input, tag)) return false;
  }
  return input.ConsumedEntireMessage();
}

}  // namespace

Result<std::string> serialize(const google::protobuf::MessageLite& message) {
  if (message.ByteSizeLong() > kPayloadBytesMax) return fail(archive_errc::too_large);
  return message.SerializeAsString();
}

bool parse(Bytes payload, google::protobuf::MessageLite& message) {
  return payload.size() <= kPayloadBytesMax && has_few_fields(payload) &&
         message.ParseFromArray(payload.data(), static_cast<int>(payload.size()));
}

void put_digest(const Sha256& digest, std::string& out) {
  if (digest != Sha256{}) out.assign(reinterpret_cast<const char*>(digest.data()), digest.size());
}

bool get_digest(const std::string& bytes, Sha256& out) {
  if (bytes.empty()) return true;
  if (bytes.size() != out.size()) return false;
  std::memcpy(out.data(), bytes.data(), out.size());
  return true;
}

}  // namespace reprise::codec
