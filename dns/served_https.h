#pragma once

#include <boost/asio/ip/address_v4.hpp>
#include <functional>
#include <optional>
#include <vector>

#include "dns/message.h"

namespace reprise::dns {

/// An HTTPS record as served for a host with these stand-ins: without ECH (its keys are the
/// origin's), without h3 unless `keeps_h3`, without drafts of it, and with the stand-ins as hints
/// if it had hints. Nothing if no protocol is left, if its target is not `known`, or if it is
/// malformed. Pure.
std::optional<Svcb> served_https(Svcb record,
                                 const std::vector<boost::asio::ip::address_v4>& stand_ins,
                                 const std::function<bool(const Name&)>& known, bool keeps_h3);

}  // namespace reprise::dns
