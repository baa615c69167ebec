#pragma once

#include <zlib.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "archive/import/source/decompressor.h"

namespace reprise::importing {

/// What one call of zlib came to.
struct InflateStep {
  int code = Z_OK;
  std::size_t taken = 0;
  std::size_t given = 0;
};

inline InflateStep inflate_step(z_stream& stream, std::string_view in, std::span<char> out) {
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<unsigned>(in.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<unsigned>(std::min<std::size_t>(out.size(), 1 << 30));
  auto const room = stream.avail_out;
  auto const code = ::inflate(&stream, Z_NO_FLUSH);
  return {.code = code, .taken = in.size() - stream.avail_in, .given = room - stream.avail_out};
}

inline std::string broken_text(const z_stream& stream) {
  return stream.msg != nullptr ? std::string("broken compressed data: ") + stream.msg
                               : "broken compressed data";
}

}  // namespace reprise::importing
