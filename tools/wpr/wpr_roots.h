#pragma once

#include "tools/serve/drop_in.h"
#include "tools/wpr/grammar.h"

namespace reprise::wpr {

/// The root certificates of the flags; those of the current folder (wpr_cert.pem, ecdsa_cert.pem)
/// without any. Empty if there are none either.
std::vector<RootFiles> roots_of(const Flags& flags);

/// `wpr installroot`: Chromium and Chrome trust the roots, by $HOME/.pki/nssdb, which is created if
/// it does not exist. Prints on stderr; returns the exit code.
int install_roots(const Flags& flags);
/// `wpr removeroot`: undoes it. A root that is in no database is not an error, and printed.
int remove_roots(const Flags& flags);

}  // namespace reprise::wpr
