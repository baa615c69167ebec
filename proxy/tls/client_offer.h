#pragma once

#include <openssl/ssl.h>

#include "proxy/tls/client_hello.h"

namespace reprise {

/// Makes `ssl` offer what `hello` offered, in its order: versions, cipher suites, groups and
/// signature algorithms. What OpenSSL does not know (GREASE, post-quantum groups) or what is
/// unsound today (NULL, anonymous, SHA-1 signatures) is left out; of a list with nothing left,
/// OpenSSL's own choice stays. Extension order and GREASE cannot be imitated with OpenSSL.
void offer_like(SSL* ssl, const ClientHello& hello);

}  // namespace reprise
