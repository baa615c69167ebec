#include "archive/import/collect/record_digests.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "archive/import/collect/body_feed.h"
#include "archive/import/source/decompress.h"
#include "base/bytes.h"
#include "base/http/h1_parser.h"
#include "base/text/base64.h"

namespace reprise::importing {
namespace {

/// A record's claimed length reserves at most this.
constexpr std::size_t kReservedBytesMax = 1 << 20;

struct Algorithm {
  std::string_view name;  ///< as in WARCs
  const char* openssl;
  std::size_t bytes;
};
constexpr std::array<Algorithm, 8> kAlgorithms = {{{"sha1", "SHA1", 20},
                                                   {"sha-1", "SHA1", 20},
                                                   {"sha256", "SHA256", 32},
                                                   {"sha-256", "SHA256", 32},
                                                   {"sha512", "SHA512", 64},
                                                   {"sha-512", "SHA512", 64},
                                                   {"sha384", "SHA384", 48},
                                                   {"md5", "MD5", 16}}};

/// The alphabets of a digest's text: these, or base64.
constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::array<std::size_t, 3> kBitsOfACharacter = {4, 5, 6};  // the last is base64

std::size_t bits_of(std::string_view alphabet) {
  return alphabet.size() == 16 ? 4 : 5;
}

std::size_t written_length(std::size_t bytes, std::size_t bits_of_a_character) {
  return (bytes * 8 + bits_of_a_character - 1) / bits_of_a_character;
}

/// Without padding.
std::string write(std::string_view bytes, std::string_view alphabet) {
  auto const bits = bits_of(alphabet);
  std::string text;
  unsigned held = 0;
  std::size_t held_bits = 0;
  for (char const byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    for (held_bits += 8; held_bits >= bits; held_bits -= bits) {
      text += alphabet[held >> (held_bits - bits) & (alphabet.size() - 1)];
    }
  }
  if (held_bits > 0) text += alphabet[held << (bits - held_bits) & (alphabet.size() - 1)];
  return text;
}

/// "sha1:ABC=" is "ABC".
std::string_view value_of(std::string_view text) {
  text.remove_prefix(std::min(text.find(':') + 1, text.size()));
  while (text.ends_with('=')) text.remove_suffix(1);
  return text;
}

std::string standard_base64(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '-', '+');
  std::ranges::replace(out, '_', '/');
  return out;
}

std::string without_padding(std::string text) {
  text.resize(text.find_last_not_of('=') + 1);
  return text;
}

bool is_written(std::string_view digest, std::string_view value) {
  return equals_ignoring_case(value, write(digest, kHex)) ||
         equals_ignoring_case(value, write(digest, kBase32)) ||
         standard_base64(value) == without_padding(base64(bytes_of(digest)));
}

std::string digest_of(std::string_view bytes, const char* algorithm) {
  NamedDigester digester(algorithm);
  digester.update(bytes_of(bytes));
  return digester.finish();
}

/// Of the decoded `body`, if it is gzip or zstd; nothing if it cannot be decoded.
std::string digest_of_decoded(std::string_view body, const char* algorithm) {
  NamedDigester digester(algorithm);
  MemoryInput input(body);
  auto const source =
      decompressed(std::make_unique<InputSource>(input, 0, body.size(), nullptr), body);
  std::string buffer(64 << 10, '\0');
  while (auto const got = source->read(buffer)) {
    digester.update(bytes_of(std::string_view(buffer).substr(0, got)));
  }
  return source->fault() ? "" : digester.finish();
}

/// `body` with its chunks decoded, if it has any.
std::string_view without_chunks(std::string_view body, std::string& content) {
  ChunkParser chunks;
  auto const rest = body.substr(chunks.append(body, content));
  bool const ends_there = rest.find_first_not_of("\r\n") == std::string_view::npos;
  return chunks.state() == ChunkParser::State::kDone && ends_there ? content : body;
}

}  // namespace

RecordDigests::RecordDigests(const Fields& head, std::uint64_t block_bytes) {
  auto const* const type = find_field(head, "WARC-Type");
  auto const is_type = [type](std::string_view name) {
    return type != nullptr && equals_ignoring_case(*type, name);
  };
  has_http_head_ = is_type("response") || is_type("request");
  bool const has_payload = !is_type("revisit") && find_field(head, "WARC-Truncated") == nullptr &&
                           find_field(head, "WARC-Segment-Number") == nullptr;
  kind_ = "block digest";
  named_ = read(head, "WARC-Block-Digest");
  if (named_) {
    digester_.emplace(named_->algorithm);
  } else if (has_payload) {
    // A revisit has its original's, a part the whole's.
    kind_ = "payload digest";
    named_ = read(head, "WARC-Payload-Digest");
    is_payload_ = named_.has_value();
    if (is_payload_) held_.reserve(std::min<std::uint64_t>(block_bytes, kReservedBytesMax));
  }
}

/// Nothing if it cannot be compared.
std::optional<RecordDigests::Named> RecordDigests::read(const Fields& head,
                                                        std::string_view field) {
  auto const* const text = find_field(head, field);
  if (text == nullptr) return std::nullopt;
  auto const name = std::string_view(*text).substr(0, text->find(':'));
  auto const value = value_of(*text);
  auto const* const known = std::ranges::find_if(
      kAlgorithms, [name](const Algorithm& each) { return equals_ignoring_case(each.name, name); });
  bool const fits =
      known != kAlgorithms.end() && std::ranges::any_of(kBitsOfACharacter, [&](std::size_t bits) {
        return value.size() == written_length(known->bytes, bits);
      });
  if (fits) return Named{.text = *text, .algorithm = known->openssl};
  unknown_ = text->substr(0, 100);
  return std::nullopt;
}

void RecordDigests::append(std::string_view piece) {
  if (digester_) return digester_->update(bytes_of(piece));
  if (!is_payload_) return;
  held_ += piece;
  if (held_.size() > kHeldBytesMax) let_go();
}

/// The held bytes after the HTTP head; nothing if no empty line ends it.
std::string_view RecordDigests::payload() const {
  if (!has_http_head_) return held_;
  std::size_t searched = 0;
  return std::string_view(held_).substr(
      find_head_end(held_, searched, kReturnsMax).value_or(held_.size()));
}

/// Too long to hold: continues with its body as stored.
void RecordDigests::let_go() {
  auto const body = payload();
  auto const head =
      parse_head(std::string_view(held_).substr(0, held_.size() - body.size())).fields;
  is_coded_ = find_field(head, "Transfer-Encoding") != nullptr ||
              find_field(head, "Content-Encoding") != nullptr;
  digester_.emplace(named_->algorithm);
  digester_->update(bytes_of(body));
  held_ = {};
}

RecordDigests::Verdict RecordDigests::compare(const std::string& digest, std::string_view of_what) {
  if (is_written(digest, value_of(named_->text))) return Verdict::kGood;
  if (problem_.empty()) {
    auto const name = named_->text.substr(0, named_->text.find(':') + 1);
    problem_ = "its " + std::string(kind_) + " is " + named_->text + ", but " +
               std::string(of_what) + " has " + name + write(digest, kBase32);
  }
  return Verdict::kBad;
}

RecordDigests::Verdict RecordDigests::finish() {
  if (!named_) return Verdict::kNone;
  if (!is_payload_) return compare(digester_->finish(), "its block");
  if (!digester_) return try_payload();
  auto const verdict = compare(digester_->finish(), "its body");
  if (verdict == Verdict::kGood || !is_coded_) return verdict;
  unknown_ = std::exchange(problem_, {});
  return Verdict::kNone;
}

RecordDigests::Verdict RecordDigests::try_payload() {
  auto const* const algorithm = named_->algorithm;
  auto const stored = payload();
  if (compare(digest_of(stored, algorithm), "its body") == Verdict::kGood) return Verdict::kGood;
  std::string content;
  auto const body = without_chunks(stored, content);
  for (auto const& digest : {digest_of(body, algorithm), digest_of_decoded(body, algorithm),
                             digest_of(held_, algorithm)}) {
    if (compare(digest, "") == Verdict::kGood) return Verdict::kGood;
  }
  return Verdict::kBad;
}

}  // namespace reprise::importing
