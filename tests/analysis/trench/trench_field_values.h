#pragma once

// The fields of a server that sends a trace (TRENCH.md).

#include <zlib.h>

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/trench/trench_json.h"
#include "base/bytes.h"
#include "base/text/base64.h"

namespace reprise {

/// The values of the fields that carry `trace`, in order: the counts, then lines of at most 76
/// base64 characters.
inline std::vector<std::string> trench_field_values(const TrenchTrace& trace) {
  constexpr std::size_t kLineCharacters = 76;
  auto const json = trench_json(trace);
  auto const crc = crc32_z(0, reinterpret_cast<const Bytef*>(json.data()), json.size());
  auto const text = base64(bytes_of(json));
  auto const lines = (text.size() + kLineCharacters - 1) / kLineCharacters;
  std::vector<std::string> values;
  values.reserve(lines + 1);
  values.push_back(
      "base64lines=" + std::to_string(lines) + "; base64bytes=" + std::to_string(text.size()) +
      "; jsoncrc32=" + std::to_string(crc) + "; jsonbytes=" + std::to_string(json.size()));
  for (std::size_t i = 0; i < lines; ++i) {
    values.push_back(std::to_string(i) + "=" + text.substr(i * kLineCharacters, kLineCharacters));
  }
  return values;
}

}  // namespace reprise
