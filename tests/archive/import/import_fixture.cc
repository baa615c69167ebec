#include "tests/archive/import/import_fixture.h"

#include <zlib.h>

namespace reprise::importing {

std::string record(const std::string& type, const std::string& head, const std::string& block) {
  return "WARC/1.0\r\nWARC-Type: " + type + "\r\n" + head +
         "Content-Length: " + std::to_string(block.size()) + "\r\n\r\n" + block + "\r\n\r\n";
}

std::string about(const std::string& id, const std::string& more, const std::string& uri) {
  return "WARC-Record-ID: <" + id +
         ">\r\nWARC-Date: 2020-01-01T00:00:00.5Z\r\nWARC-Target-URI: " + uri + "\r\n" + more;
}

std::string block_digest(std::string_view block) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "WARC-Block-Digest: sha256:";
  for (auto const byte : sha256(std::as_bytes(std::span(block)))) {
    text += kHex[static_cast<unsigned>(byte) >> 4];
    text += kHex[static_cast<unsigned>(byte) & 15];
  }
  return text + "\r\n";
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string zip(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out;
  std::string directory;
  for (auto const& [name, content] : entries) {
    auto const crc =
        ::crc32(0, reinterpret_cast<const unsigned char*>(content.data()), content.size());
    auto const facts = little_endian(crc, 4) + little_endian(content.size(), 4) +
                       little_endian(content.size(), 4) + little_endian(name.size(), 2) +
                       little_endian(0, 2);
    directory += "PK\x01\x02" + std::string(12, '\0') + facts + std::string(10, '\0') +
                 little_endian(out.size(), 4) + name;
    out += "PK\x03\x04" + std::string(10, '\0') + facts + name + content;
  }
  auto const at = out.size();
  return out + directory + "PK\x05\x06" + std::string(4, '\0') + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(directory.size(), 4) +
         little_endian(at, 4) + little_endian(0, 2);
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    auto const piece = text.substr(i, 3);
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < piece.size() ? static_cast<unsigned char>(piece[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= piece.size() ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

}  // namespace reprise::importing
