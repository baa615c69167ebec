#include "analysis/prediction/sent_again.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace reprise {
namespace {

std::vector<std::size_t> in_order(std::size_t count, const auto& at_us) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(at_us(i), i); });
  return order;
}

}  // namespace

SentAgain send_again(const SentOver& over, std::span<const GivenTransfer> transfers,
                     std::span<const double> probes_us) {
  SentAgain sent;
  sent.first_us.resize(transfers.size());
  sent.end_us.resize(transfers.size());
  sent.record_us.resize(transfers.size());
  sent.wait_us.resize(probes_us.size());
  double bytes = 0;
  for (GivenTransfer const& transfer : transfers) bytes += transfer.bytes;
  TcpLink link(over.bytes_per_us, bytes, over.ahead);
  std::map<std::size_t, std::size_t> connections;
  auto const advance = [&](double at_us) {
    for (auto const& arrival : link.advance(at_us)) {
      if (arrival.is_first) sent.first_us[arrival.transfer] = at_us;
      if (arrival.has_record) sent.record_us[arrival.transfer] = at_us;
      if (arrival.is_last) sent.end_us[arrival.transfer] = at_us;
    }
  };
  auto const advance_to = [&](double at_us) {
    while (link.next() < at_us) advance(link.next());
    if (at_us != TcpLink::kNever) advance(at_us);
  };
  auto const order = in_order(transfers.size(), [&](std::size_t i) { return transfers[i].at_us; });
  auto const probes = in_order(probes_us.size(), [&](std::size_t i) { return probes_us[i]; });
  auto probe = probes.begin();
  auto const look_until = [&](double at_us) {
    for (; probe != probes.end() && probes_us[*probe] <= at_us; ++probe) {
      advance_to(probes_us[*probe]);
      sent.wait_us[*probe] = link.wait_us();
    }
  };
  for (auto const i : order) {
    GivenTransfer const& transfer = transfers[i];
    look_until(transfer.at_us);
    advance_to(transfer.at_us);
    auto const [known, is_new] = connections.try_emplace(transfer.connection);
    if (is_new) known->second = link.connect(over.round_trip_us);
    link.send(known->second, i, transfer.bytes, transfer.priority);
  }
  look_until(TcpLink::kNever);
  advance_to(TcpLink::kNever);
  return sent;
}

}  // namespace reprise
