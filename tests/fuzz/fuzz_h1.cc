// The HTTP/1.x parsing layer on arbitrary bytes: heads, framing, chunked coding. Whatever comes,
// nothing crashes, views stay inside the input, and a head that is accepted is read the same again
// after it was written: an origin's, too, as it goes on to clients, by the strict reader.

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/http/h1_syntax.h"
#include "proxy/http/fitted_fields.h"
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

bool same(HeaderList a, HeaderList b) {
  return std::ranges::equal(a, b, [](const HeaderView& x, const HeaderView& y) {
    return x.name == y.name && x.value == y.value;
  });
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
  check(reread && reread->status == head->status && same(again, fields));
}

void try_origin(std::string text, std::string_view method) {
  std::vector<HeaderView> fields;
  auto const head = parse_response_head(text, fields, Tolerance::kAsBrowsers);
  if (!head) return;
  for (const HeaderView& field : fields)
    check(inside(field.name, text) && inside(field.value, text));
  auto const framing = response_framing(method, *head, Tolerance::kAsBrowsers);
  if (!framing) return;
  FittedFields const fitted(method, *head, *framing);
  ResponseHead sent = *head;
  sent.headers = fitted.list();
  auto written = response_head_text(sent);
  std::vector<HeaderView> again;
  auto const reread = parse_response_head(written, again);
  if (head->status < 100 || head->status > 999) return;
  check(reread && reread->status == head->status && same(again, fitted.list()));
  auto const seen = response_framing(method, *reread);
  check(seen && seen->kind == framing->kind && seen->length_bytes == framing->length_bytes);
}

std::string decode(std::string_view coded, std::size_t step, Tolerance tolerance) {
  std::string content;
  ChunkedDecoder decoder(tolerance);
  while (!coded.empty() && !decoder.done()) {
    auto piece = coded.substr(0, step);
    coded.remove_prefix(piece.size());
    while (!piece.empty() && !decoder.done()) {
      auto const result = decoder.next(bytes_of(piece));
      if (!result) return content + "!";
      check(result->consumed > 0 && result->data.size() <= result->consumed);
      content += text_of(result->data);
      piece.remove_prefix(result->consumed);
    }
  }
  for (const HeaderView& field : decoder.trailers()) check(is_sendable(field));
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
  for (auto const method : {"GET", "HEAD"}) try_origin(std::string(text), method);
  for (auto const tolerance : {Tolerance::kStrict, Tolerance::kAsBrowsers}) {
    check(decode(text, 1, tolerance) == decode(text, 4096, tolerance));
  }
  return 0;
}
