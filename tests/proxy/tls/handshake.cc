#include "tests/proxy/tls/handshake.h"

#include <openssl/bio.h>

namespace reprise {

std::vector<std::byte> first_flight(SSL* client) {
  BIO* const out = BIO_new(BIO_s_mem());
  SSL_set_bio(client, BIO_new(BIO_s_mem()), out);
  SSL_do_handshake(client);
  char* data = nullptr;
  long const length = BIO_get_mem_data(out, &data);
  auto const* const begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + length};
}

Shaken shake_hands(SSL* client, SSL* server) {
  BIO* client_end = nullptr;
  BIO* server_end = nullptr;
  constexpr std::size_t kRoomForAnyFlight = 512 << 10;
  BIO_new_bio_pair(&client_end, kRoomForAnyFlight, &server_end, kRoomForAnyFlight);
  SSL_set_bio(client, client_end, client_end);
  SSL_set_bio(server, server_end, server_end);

  Shaken shaken;
  constexpr int kFlightsMax = 8;
  for (int flight = 0; flight < kFlightsMax && !(shaken.client && shaken.server); ++flight) {
    shaken.client = SSL_do_handshake(client) == 1;
    shaken.server = SSL_do_handshake(server) == 1;
  }
  char byte = 0;
  if (shaken.client) SSL_read(client, &byte, 1);  // takes in the session tickets
  return shaken;
}

}  // namespace reprise
