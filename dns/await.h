#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

namespace reprise::dns {

/// Awaiting with this token allocates nothing and throws nothing.
inline constexpr auto kTuple = boost::asio::as_tuple(boost::asio::deferred);

}  // namespace reprise::dns
