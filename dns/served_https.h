#pragma once

#include <boost/asio/ip/address_v4.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "dns/message.h"

namespace reprise::dns {

/// An HTTPS record as it is served for a host with these stand-ins: without ECH (its keys are the
/// origin's), without h3 (not spoken here), with the stand-ins as hints where there were hints.
/// Nothing when no protocol is left, when it leads to a name that is not `known`, or when it is not
/// well formed. Pure.
std::optional<Svcb> served_https(Svcb record,
                                 const std::vector<boost::asio::ip::address_v4>& stand_ins,
                                 const std::function<bool(const Name&)>& known);

}  // namespace reprise::dns
