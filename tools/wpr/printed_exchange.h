#pragma once

// An exchange as `httparchive cat` prints it: two HTTP/1.1 messages.

#include "archive/export/message.h"

namespace reprise::wpr {

/// Writes the request and the response; nothing if an exchange cannot be written so. `decode`: the
/// response's body without its content coding, and with its length as Content-Length. False if it
/// does not decode: it is then written as stored, and a message printed. A damaged body is a fault
/// of `job`.
bool print_exchange(exporting::Job& job, const Exchange& exchange, bool decode,
                    exporting::Output& out);

}  // namespace reprise::wpr
