#pragma once

// Selects exchanges of an archive and the data they need, for `trim` and `merge`.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "archive/copy.h"
#include "archive/exchange.h"
#include "archive/reader.h"
#include "base/result.h"

namespace reprise {

/// A selection of exchanges with: the connections that they used, and those to their hosts that no
/// exchange used; the DNS answers for their hosts. If all exchanges of a session are selected,
/// everything. Uses one bit per exchange.
class ExchangeSelection {
 public:
  /// Called once for each exchange, in the order of `ls`; `number` counts from 1.
  using Wanted =
      std::function<bool(const Exchange& exchange, std::uint32_t ordinal, std::size_t number)>;

  /// Errors: corrupt if an exchange cannot be read.
  static Result<ExchangeSelection> make(const ArchiveReader& from, const Wanted& wanted);

  bool has_exchange(std::uint32_t ordinal) const { return exchanges_[ordinal]; }
  bool has_connection(const ConnectionFacts& facts) const;
  bool has_answer(const DnsAnswer& answer) const;
  /// Whether anything of a session is selected. True for a session that never had an exchange.
  bool has_session(const SessionContents& session) const;

  std::size_t count() const { return count_; }
  std::size_t left_out() const { return exchanges_.size() - count_; }

 private:
  using Connection = std::pair<std::uint32_t, std::uint64_t>;  ///< session, id
  using Host = std::pair<std::uint32_t, std::string>;

  std::vector<bool> exchanges_;
  std::size_t count_ = 0;
  std::set<std::uint32_t> cut_;  ///< sessions that are not selected completely
  std::set<Connection> used_;    ///< by any exchange
  std::set<Connection> kept_;
  std::set<Host> hosts_;
};

/// Copies a selection and drops the rest. `selection` must outlive it.
class SelectedCopy : public ArchiveCopy {
 public:
  SelectedCopy(const ArchiveReader& from, const ExchangeSelection& selection, ArchiveWriter& to)
      : ArchiveCopy(from, to), selection_(selection) {}

 protected:
  bool takes_session(const SessionContents& session) const override {
    return selection_.has_session(session);
  }
  bool takes_connection(const ConnectionFacts& facts) const override {
    return selection_.has_connection(facts);
  }
  bool takes_answer(const DnsAnswer& answer) const override {
    return selection_.has_answer(answer);
  }
  bool takes_exchange(std::uint32_t ordinal) const override {
    return selection_.has_exchange(ordinal);
  }

 private:
  const ExchangeSelection& selection_;
};

}  // namespace reprise
