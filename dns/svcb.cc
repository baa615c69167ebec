#include "dns/svcb.h"

#include <algorithm>

#include "dns/error.h"

namespace reprise::dns {
namespace {

std::uint16_t u16_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint16_t>(static_cast<std::uint8_t>(bytes[at]) << 8 |
                                    static_cast<std::uint8_t>(bytes[at + 1]));
}

/// A value of one or more numbers or addresses of the same size; nothing if it is missing.
template <class Item>
Result<std::vector<Item>> items_of(const Svcb& svcb, std::uint16_t key, auto&& read) {
  std::vector<Item> items;
  auto const value = find_param(svcb, key);
  if (!value) return items;
  if (value->empty() || value->size() % sizeof(Item) != 0) return fail(errc::bad_record);
  for (std::size_t at = 0; at < value->size(); at += sizeof(Item))
    items.push_back(read(*value, at));
  return items;
}

}  // namespace

std::optional<std::string_view> find_param(const Svcb& svcb, std::uint16_t key) {
  auto const at = std::ranges::find(svcb.params, key, &SvcParam::key);
  if (at == svcb.params.end()) return std::nullopt;
  return at->value;
}

void set_param(Svcb& svcb, std::uint16_t key, std::optional<std::string> value) {
  auto const at = std::ranges::lower_bound(svcb.params, key, {}, &SvcParam::key);
  bool const there = at != svcb.params.end() && at->key == key;
  if (there && value) {
    at->value = std::move(*value);
  } else if (there) {
    svcb.params.erase(at);
  } else if (value) {
    svcb.params.insert(at, {.key = key, .value = std::move(*value)});
  }
}

Result<std::vector<std::uint16_t>> mandatory_of(const Svcb& svcb) {
  return items_of<std::uint16_t>(svcb, kSvcMandatory, u16_at);
}

Result<std::vector<std::string>> alpn_of(const Svcb& svcb) {
  std::vector<std::string> names;
  auto value = find_param(svcb, kSvcAlpn);
  if (!value) return names;
  while (!value->empty()) {
    auto const size = static_cast<std::uint8_t>(value->front());
    if (size == 0 || value->size() < size + 1u) return fail(errc::bad_record);
    names.emplace_back(value->substr(1, size));
    value->remove_prefix(size + 1u);
  }
  if (names.empty()) return fail(errc::bad_record);
  return names;
}

Result<std::optional<std::uint16_t>> port_of(const Svcb& svcb) {
  auto const value = find_param(svcb, kSvcPort);
  if (!value) return std::nullopt;
  if (value->size() != 2) return fail(errc::bad_record);
  return u16_at(*value, 0);
}

std::string mandatory_value(const std::vector<std::uint16_t>& keys) {
  std::string value;
  for (auto const key : keys) {
    value.push_back(static_cast<char>(key >> 8));
    value.push_back(static_cast<char>(key));
  }
  return value;
}

std::string alpn_value(const std::vector<std::string>& alpn) {
  std::string value;
  for (const auto& name : alpn) value += static_cast<char>(name.size()) + name;
  return value;
}

std::string ipv4_hint_value(const std::vector<std::array<std::uint8_t, 4>>& addresses) {
  std::string value;
  for (const auto& address : addresses) value.append(address.begin(), address.end());
  return value;
}

}  // namespace reprise::dns
