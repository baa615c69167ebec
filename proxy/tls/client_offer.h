#pragma once

#include <openssl/ssl.h>

#include "proxy/tls/client_hello.h"

namespace reprise {

/// Makes `ssl` offer what `hello` offered, in its order: versions, cipher suites, groups and
/// signature algorithms. Values that OpenSSL does not know (GREASE, post-quantum groups) or
/// that are insecure today (NULL, anonymous, SHA-1 signatures) are dropped; if a list becomes
/// empty, OpenSSL's own choice is kept. Extension order and GREASE cannot be imitated with OpenSSL.
void offer_like(SSL* ssl, const ClientHello& hello);

}  // namespace reprise
