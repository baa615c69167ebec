#pragma once

// A DNS server that says what a test wants it to, on UDP of the loopback interface.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <functional>
#include <vector>

#include "tests/dns/message_text.h"

namespace reprise::dns {

class ScriptedServer {
 public:
  /// What to send for a query, in order; nothing for silence.
  using Script = std::function<std::vector<Octets>(const Message& query)>;

  ScriptedServer(boost::asio::io_context& context, Script script)
      : socket_(context, {boost::asio::ip::address_v4::loopback(), 0}), script_(std::move(script)) {
    receive();
  }

  boost::asio::ip::udp::endpoint at() const { return socket_.local_endpoint(); }
  void close() { socket_.close(); }
  /// The queries that came, in order.
  const std::vector<Message>& queries() const { return queries_; }

  static Message reply_to(const Message& query) {
    Message reply;
    reply.id = query.id;
    reply.response = true;
    reply.questions = query.questions;
    return reply;
  }
  /// Answers with that code, always.
  static Script failing(Rcode code) {
    return [code](const Message& query) {
      auto reply = reply_to(query);
      reply.rcode = code;
      return std::vector<Octets>{encoded(reply)};
    };
  }

 private:
  void receive() {
    socket_.async_receive_from(boost::asio::buffer(buffer_), from_,
                               [this](boost::system::error_code error, std::size_t size) {
                                 if (error) return;
                                 answer(size);
                                 receive();
                               });
  }
  void answer(std::size_t size) {
    auto const query = decode(std::span(buffer_).first(size));
    if (!query) return;
    queries_.push_back(*query);
    for (const auto& reply : script_(*query)) socket_.send_to(boost::asio::buffer(reply), from_);
  }

  boost::asio::ip::udp::socket socket_;
  Script script_;
  std::vector<Message> queries_;
  std::array<std::uint8_t, 4096> buffer_;
  boost::asio::ip::udp::endpoint from_;
};

}  // namespace reprise::dns
