#include "shaper/packet/network/transparent.h"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <vector>

#include "shaper/packet/network/netlink.h"

namespace reprise {
namespace {

constexpr const char* kTable = "reprise";
constexpr const char* kChain = "in";
/// Before conntrack's, like iptables' mangle.
constexpr std::int32_t kPriority = -150;

NetlinkMessage nft(int type, std::uint16_t flags) {
  NetlinkMessage message(static_cast<std::uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type), flags);
  message.fixed(
      nfgenmsg{.nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0, .res_id = htons(0)});
  return message;
}

NetlinkMessage batch(std::uint16_t type) {
  NetlinkMessage message(type, 0);
  message.fixed(nfgenmsg{
      .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = htons(NFNL_SUBSYS_NFTABLES)});
  return message;
}

NetlinkMessage& big(NetlinkMessage& message, std::uint16_t type, std::uint32_t value) {
  return message.number(type, htonl(value));
}

/// A rule's expression `name`; `fill` adds what it needs.
template <class Fill>
void expression(NetlinkMessage& rule, const char* name, Fill fill) {
  auto const element = rule.open(NLA_F_NESTED | NFTA_LIST_ELEM);
  rule.text(NFTA_EXPR_NAME, name);
  auto const data = rule.open(NLA_F_NESTED | NFTA_EXPR_DATA);
  fill();
  rule.close(data);
  rule.close(element);
}

template <class T>
void constant(NetlinkMessage& rule, std::uint16_t type, T value) {
  auto const data = rule.open(NLA_F_NESTED | type);
  rule.number(NFTA_DATA_VALUE, value);
  rule.close(data);
}

/// Compares the register with `value`, which is in network order.
template <class T>
void equals(NetlinkMessage& rule, T value) {
  expression(rule, "cmp", [&] {
    big(rule, NFTA_CMP_SREG, NFT_REG_1);
    big(rule, NFTA_CMP_OP, NFT_CMP_EQ);
    constant<T>(rule, NFTA_CMP_DATA, value);
  });
}

NetlinkMessage new_chain() {
  auto message = nft(NFT_MSG_NEWCHAIN, NLM_F_CREATE | NLM_F_ACK);
  message.text(NFTA_CHAIN_TABLE, kTable).text(NFTA_CHAIN_NAME, kChain);
  auto const hook = message.open(NLA_F_NESTED | NFTA_CHAIN_HOOK);
  big(message, NFTA_HOOK_HOOKNUM, NF_INET_PRE_ROUTING);
  big(message, NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(kPriority));
  message.close(hook);
  message.text(NFTA_CHAIN_TYPE, "filter");
  return message;
}

/// A rule about TCP: meta l4proto tcp; `fill` adds the rest.
template <class Fill>
NetlinkMessage new_rule(Fill fill) {
  auto rule = nft(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND | NLM_F_ACK);
  rule.text(NFTA_RULE_TABLE, kTable).text(NFTA_RULE_CHAIN, kChain);
  auto const expressions = rule.open(NLA_F_NESTED | NFTA_RULE_EXPRESSIONS);
  expression(rule, "meta", [&] {
    big(rule, NFTA_META_DREG, NFT_REG_1);
    big(rule, NFTA_META_KEY, NFT_META_L4PROTO);
  });
  equals<std::uint8_t>(rule, IPPROTO_TCP);
  fill(rule);
  rule.close(expressions);
  return rule;
}

/// tcp dport `port` accept
NetlinkMessage leave_apart(std::uint16_t port) {
  return new_rule([port](NetlinkMessage& rule) {
    expression(rule, "payload", [&] {
      big(rule, NFTA_PAYLOAD_DREG, NFT_REG_1);
      big(rule, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_TRANSPORT_HEADER);
      big(rule, NFTA_PAYLOAD_OFFSET, offsetof(tcphdr, th_dport));
      big(rule, NFTA_PAYLOAD_LEN, sizeof port);
    });
    equals(rule, htons(port));
    expression(rule, "immediate", [&] {
      big(rule, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
      auto const data = rule.open(NLA_F_NESTED | NFTA_IMMEDIATE_DATA);
      auto const verdict = rule.open(NLA_F_NESTED | NFTA_DATA_VERDICT);
      big(rule, NFTA_VERDICT_CODE, NF_ACCEPT);
      rule.close(verdict);
      rule.close(data);
    });
  });
}

/// tproxy to :port
NetlinkMessage lead_to(std::uint16_t port) {
  return new_rule([port](NetlinkMessage& rule) {
    expression(rule, "immediate", [&] {
      big(rule, NFTA_IMMEDIATE_DREG, NFT_REG_1);
      constant<std::uint16_t>(rule, NFTA_IMMEDIATE_DATA, htons(port));
    });
    expression(rule, "tproxy", [&] {
      big(rule, NFTA_TPROXY_FAMILY, NFPROTO_IPV4);
      big(rule, NFTA_TPROXY_REG_PORT, NFT_REG_1);
    });
  });
}

}  // namespace

bool lead_all_tcp_to(int listener, std::optional<std::uint16_t> apart) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  if (::getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size) != 0) return false;
  auto netlink = NetlinkSocket::open(NETLINK_NETFILTER);
  if (!netlink) return false;
  auto table = nft(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_ACK);
  table.text(NFTA_TABLE_NAME, kTable);
  std::vector<NetlinkMessage> messages{batch(NFNL_MSG_BATCH_BEGIN), std::move(table), new_chain()};
  if (apart) messages.push_back(leave_apart(*apart));
  messages.push_back(lead_to(ntohs(name.sin_port)));
  messages.push_back(batch(NFNL_MSG_BATCH_END));
  return netlink->request(messages).has_value();
}

}  // namespace reprise
