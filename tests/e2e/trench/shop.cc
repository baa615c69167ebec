// A shop of three layers with the C++ emitter, on a free port, which it prints. A slow method is
// planted in it: shop.Database.rates.

#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "emitters/cpp/trench.h"
#include "emitters/cpp/trench_fields.h"

namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

// The store.
class Database {
 public:
  int query() const {
    TRENCH_SCOPE("shop.Database", "query");
    std::this_thread::sleep_for(2ms);
    return 4;
  }

  // Planted: what the page waits for.
  int rates() const {
    TRENCH_SCOPE("shop.Database", "rates");
    std::this_thread::sleep_for(600ms);
    return 1;
  }
};

// The services.
class Cart {
 public:
  int sum(int items) const {
    TRENCH_SCOPE("shop.Cart", "sum");
    int sum = 0;
    for (int i = 0; i < items; ++i) sum += database_.query();
    return sum + trench::trace("shop.Tax.of", [&] { return database_.rates() * sum; });
  }

 private:
  Database database_;
};

// The web.
std::string page_of(const std::string& path) {
  TRENCH_SCOPE("shop.Page", "show");
  if (path == "/many") {
    for (int i = 0; i < 400; ++i) {
      trench::trace("shop.Part.number" + std::to_string(i), [] {});
    }
  }
  auto const sum = path == "/cart" ? Cart().sum(3) : 0;
  return "<!doctype html><title>shop</title><link rel=icon href=data:,><p>" + std::to_string(sum);
}

class Server {
 public:
  Server() : asking_(trench::Asking::by_environment()) {}

  http::response<http::string_body> answer(const http::request<http::empty_body>& request) {
    std::string const path(request.target());
    http::response<http::string_body> response;
    if (auto const json = store_.find(path)) {
      response.set(http::field::content_type, "application/json");
      response.set(http::field::cache_control, "no-store");
      response.body() = *json;
      return response;
    }
    std::optional<trench::Trace> trace;
    std::optional<trench::At> at;
    if (asking_.traces(request[trench::kField])) at.emplace(trace.emplace());
    response.set(http::field::content_type, "text/html");
    response.body() = page_of(path);
    if (trace) {
      for (auto const& value : trench::response_values(*trace, store_)) {
        response.insert(trench::kField, value);
      }
    }
    return response;
  }

  void serve(tcp::socket socket) {
    boost::beast::flat_buffer buffer;
    boost::system::error_code error;
    for (;;) {
      http::request<http::empty_body> request;
      http::read(socket, buffer, request, error);
      if (error) return;
      auto response = answer(request);
      response.prepare_payload();
      http::write(socket, response, error);
      if (error) return;
    }
  }

 private:
  trench::Asking const asking_;
  trench::Store store_;
};

}  // namespace

int main() {
  Server server;
  boost::asio::io_context context;
  tcp::acceptor acceptor(context, {boost::asio::ip::address_v4::loopback(), 0});
  std::cout << acceptor.local_endpoint().port() << std::endl;
  std::thread([] {
    std::cin.get();  // until whoever started this has ended
    ::_exit(0);
  }).detach();
  for (;;) {
    std::thread([&server, socket = acceptor.accept()]() mutable {
      server.serve(std::move(socket));
    }).detach();
  }
}
