#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace reprise {

/// A small HTTP/1.1 origin on 127.0.0.1 for tests: a thread a connection, one request each.
class LoopbackServer {
 public:
  struct Request {
    std::string method;
    std::string path;
    std::string body;
  };
  /// Returns the whole response, head and body. An empty one leaves the client waiting until the
  /// server ends.
  using Handler = std::function<std::string(const Request&)>;

  explicit LoopbackServer(Handler handler);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  int port() const { return port_; }
  /// "http://127.0.0.1:PORT" and `path`.
  std::string url(const std::string& path) const;
  /// "METHOD path" of every request so far, with how often it came.
  std::map<std::string, int> seen() const;

 private:
  void accept_all();
  void serve(int connection);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::map<std::string, int> seen_;
  std::vector<int> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

/// A response with its length, and a 200 of this type.
std::string http_response(const std::string& type, const std::string& body,
                          const std::string& status = "200 OK", const std::string& headers = "");

}  // namespace reprise
