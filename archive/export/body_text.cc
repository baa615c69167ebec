#include "archive/export/body_text.h"

#include "base/coding/coding.h"

namespace reprise::exporting {
namespace {

/// Decodes in small steps, so that only the limits bound the output of a step.
constexpr std::size_t kStepBytes = 4 << 10;

/// Passes the decoded body to `take`; false if the coding is false, or the body is damaged.
template <class Take>
bool decode(Job& job, std::span<const coding::Coding> codings, const StoredBody& body, Take take) {
  coding::Decoder decoder(codings, {.bytes_max = BodyForm::kDecodedBytesMax});
  coding::Buffer plain;
  bool good = true;
  bool const whole = job.visit(body, [&](std::string_view piece) {
    for (std::size_t at = 0; good && at < piece.size(); at += kStepBytes) {
      plain.clear();
      good =
          decoder.write(std::as_bytes(std::span(piece.substr(at, kStepBytes))), plain).has_value();
      if (good) take({reinterpret_cast<const char*>(plain.data()), plain.size()});
    }
  });
  return whole && good && decoder.finish().has_value();
}

}  // namespace

BodyForm survey_body(Job& job, const Headers& headers, const StoredBody& body) {
  BodyForm form;
  if (body.size_bytes == 0) return form;
  auto const codings = coding::codings_of(headers.list());
  Utf8Check check;
  if (codings && !codings->empty()) {
    form.decoded = decode(job, *codings, body, [&](std::string_view piece) {
      check.append(piece);
      form.size_bytes += piece.size();
    });
  }
  form.broken = !form.decoded && (!codings || !codings->empty());
  if (!form.decoded) {
    check = {};
    form.size_bytes = body.size_bytes;
    job.visit(body, [&check](std::string_view piece) { check.append(piece); });
  }
  form.utf8 = check.finish();
  return form;
}

void write_body_text(Job& job, const Headers& headers, const StoredBody& body, const BodyForm& form,
                     JsonWriter& json) {
  auto const codings = coding::codings_of(headers.list());
  Base64Output base64(json.plain());
  auto const write = [&](std::string_view piece) {
    if (form.utf8) {
      json.piece(piece);
    } else {
      base64.write(piece);
    }
  };
  json.key("text");
  json.begin_text();
  if (form.decoded) {
    decode(job, *codings, body, write);
  } else {
    job.visit(body, write);
  }
  base64.flush();
  json.end_text();
  if (form.utf8) return;
  json.key("encoding");
  json.text("base64");
}

}  // namespace reprise::exporting
