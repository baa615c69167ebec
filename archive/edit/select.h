#pragma once

// Some exchanges of an archive and what belongs to them, as `trim` and `merge` copy them.

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

/// Which exchanges are meant, and with them: the connections that they used, and those to their
/// hosts that no exchange used; the DNS answers on their hosts. Of a session all of whose exchanges
/// are meant, everything. Holds a bit an exchange.
class ExchangeSelection {
 public:
  /// Asked once for each exchange, in the order of `ls`, whose `number` counts from 1.
  using Wanted =
      std::function<bool(const Exchange& exchange, std::uint32_t ordinal, std::size_t number)>;

  /// Errors: corrupt when an exchange cannot be read.
  static Result<ExchangeSelection> make(const ArchiveReader& from, const Wanted& wanted);

  bool has_exchange(std::uint32_t ordinal) const { return exchanges_[ordinal]; }
  bool has_connection(const ConnectionFacts& facts) const;
  bool has_answer(const DnsAnswer& answer) const;
  /// Whether anything of a session is meant. A session that never had an exchange is.
  bool has_session(const SessionContents& session) const;

  std::size_t count() const { return count_; }
  std::size_t left_out() const { return exchanges_.size() - count_; }

 private:
  using Connection = std::pair<std::uint32_t, std::uint64_t>;  ///< session, id
  using Host = std::pair<std::uint32_t, std::string>;

  std::vector<bool> exchanges_;
  std::size_t count_ = 0;
  std::set<std::uint32_t> cut_;  ///< sessions of which something is left out
  std::set<Connection> used_;    ///< by any exchange
  std::set<Connection> kept_;
  std::set<Host> hosts_;
};

/// Copies a selection and leaves out the rest. `selection` must outlive it.
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
