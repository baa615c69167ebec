#pragma once

// One exchange of a hybrid: that of A with parts of its partner's. Pure, except that bodies are
// stored.

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "analysis/differences/differences.h"
#include "archive/reader.h"
#include "archive/writer.h"

namespace reprise {

/// What is taken of the partner.
struct TakenParts {
  bool reply = false;                                ///< all of its response
  bool body = false;                                 ///< with the fields that describe it
  bool coding = false;                               ///< of a document that is put together
  const std::vector<DocumentEdit>* edits = nullptr;  ///< of a document
  std::vector<bool> taken_edits;
  std::vector<DifferenceKind> fields;

  bool changes_body() const { return reply || body || coding || edits != nullptr; }
};

/// An exchange with the archive that has its body.
struct ExchangeIn {
  const Exchange& exchange;
  const ArchiveReader& archive;
};

/// Gives a body the pauses of another: pieces arrive when those of `from` did after their head, at
/// the same part of the body. Nothing happens if a time is unknown or a body is empty.
void take_pauses(Exchange& into, const Exchange& from);

/// Its response offers HTTP/3 (Alt-Svc) as one with the fields `from` does.
void take_offers(Exchange& into, const Headers& from);

/// The exchange of `a` with these parts of `b`; its bodies are stored in `to`. The error is a
/// sentence.
std::expected<Exchange, std::string> put_together(const ExchangeIn& a, const ExchangeIn& b,
                                                  const TakenParts& parts, ArchiveWriter& to);

}  // namespace reprise
