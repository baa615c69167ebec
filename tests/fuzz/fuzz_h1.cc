// The HTTP/1.x parsing layer on arbitrary bytes: heads, framing, chunked coding. Whatever comes,
// nothing crashes, views stay inside the input, and a request head that is accepted is read the
// same again after it was written.

#include <cstdlib>
#include <string>

#include "proxy/http/h1_parser.h"
#include "proxy/http/h1_writer.h"

using namespace reprise;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

bool inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void try_request(std::string text) {
  std::vector<HeaderView> fields;
  auto const line = parse_request_head(text, fields);
  if (!line) return;
  check(inside(line->method, text) && inside(line->target, text));
  for (const HeaderView& field : fields)
    check(inside(field.name, text) && inside(field.value, text));
  (void)request_framing(line->version, fields);
  (void)keeps_alive(line->version, fields);
  for (const HeaderView& field : fields) (void)parse_authority(field.value, 80);
}

void try_response(std::string text) {
  std::vector<HeaderView> fields;
  auto const head = parse_response_head(text, fields);
  if (!head) return;
  for (const HeaderView& field : fields)
    check(inside(field.name, text) && inside(field.value, text));
  (void)response_framing("GET", *head);
  auto written = response_head_text(*head);
  std::vector<HeaderView> again;
  auto const reread = parse_response_head(written, again);
  check(reread && reread->status == head->status && again.size() == fields.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    check(again[i].name == fields[i].name && again[i].value == fields[i].value);
  }
}

std::string decode(std::string_view coded, std::size_t step) {
  std::string content;
  ChunkedDecoder decoder;
  while (!coded.empty() && !decoder.done()) {
    auto piece = coded.substr(0, step);
    coded.remove_prefix(piece.size());
    while (!piece.empty() && !decoder.done()) {
      auto const result = decoder.next(as_bytes(piece));
      if (!result) return content + "!";
      check(result->consumed > 0 && result->data.size() <= result->consumed);
      content += as_text(result->data);
      piece.remove_prefix(result->consumed);
    }
  }
  return content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  std::size_t scanned = 0;
  auto const end = find_head_end(text, scanned);
  check(!end || *end <= size);
  try_request(std::string(text));
  try_response(std::string(text));
  check(decode(text, 1) == decode(text, 4096));
  return 0;
}
