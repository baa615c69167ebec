#include "archive/codec.h"

#include <numeric>
#include <utility>

#include "archive/archive.pb.h"
#include "archive/codec_parts.h"
#include "archive/error.h"

namespace reprise {

using namespace codec;

namespace {

bool put(const Headers& headers, pb::Fields& out) {
  if (headers.size() > kHeaderFieldsMax) return false;
  for (const HeaderView& field : headers.list()) {
    out.add_lengths(static_cast<std::uint32_t>(field.name.size()));
    out.add_lengths(static_cast<std::uint32_t>(field.value.size()));
    out.mutable_text()->append(field.name).append(field.value);
  }
  return true;
}

bool get(const pb::Fields& fields, Headers& out) {
  auto const& lengths = fields.lengths();
  if (lengths.size() % 2 != 0) return false;
  auto const count = static_cast<std::size_t>(lengths.size()) / 2;
  auto const total = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  if (count > kHeaderFieldsMax || total != fields.text().size()) return false;
  std::string_view text = fields.text();
  auto const take = [&text](std::size_t size) {
    auto const taken = text.substr(0, size);
    text.remove_prefix(size);
    return taken;
  };
  std::vector<HeaderView> list;
  list.reserve(count);
  for (int i = 0; i < lengths.size(); i += 2) {
    auto const name = take(lengths[i]);
    list.push_back({.name = name, .value = take(lengths[i + 1])});
  }
  out = Headers(list);
  return true;
}

bool put(const StoredBody& body, pb::Body& out) {
  if (body.extents.size() > kExtentsMax) return false;
  out.set_size_bytes(body.size_bytes);
  put_digest(body.digest, *out.mutable_digest());
  for (const Extent& extent : body.extents) {
    out.add_extent_offsets(extent.record_offset);
    out.add_extent_sizes(static_cast<std::uint32_t>(extent.size_bytes));
  }
  return true;
}

bool get(const pb::Body& body, StoredBody& out) {
  auto const count = static_cast<std::size_t>(body.extent_offsets_size());
  if (count > kExtentsMax || body.extent_sizes_size() != body.extent_offsets_size()) return false;
  out.size_bytes = body.size_bytes();
  out.extents.reserve(count);
  std::uint64_t total = 0;
  for (int i = 0; i < body.extent_offsets_size(); ++i) {
    auto const size = body.extent_sizes(i);
    if (size == 0) return false;
    total += size;
    out.extents.push_back({.record_offset = body.extent_offsets(i), .size_bytes = size});
  }
  return total == out.size_bytes && get_digest(body.digest(), out.digest) &&
         (total > 0 || out.digest == Sha256{});
}

bool put(const StoredRequest& request, pb::Request& out) {
  out.set_method(request.method);
  out.set_scheme(static_cast<std::uint32_t>(request.scheme));
  out.set_host(request.host);
  out.set_port(request.port);
  out.set_target(request.target);
  out.set_version(static_cast<std::uint32_t>(request.version));
  out.set_protocol(request.protocol);
  if (request.body_partial) out.set_body_partial(true);
  return put(request.headers, *out.mutable_headers()) &&
         put(request.trailers, *out.mutable_trailers()) && put(request.body, *out.mutable_body());
}

bool get_version(std::uint32_t number, HttpVersion& out) {
  return get_number(number, HttpVersion::kUnknown, HttpVersion::kH3, out);
}

bool get(const pb::Request& request, StoredRequest& out) {
  out.method = request.method();
  out.host = request.host();
  out.target = request.target();
  out.protocol = request.protocol();
  out.body_partial = request.body_partial();
  return get_number(request.scheme(), Scheme::kHttp, Scheme::kHttps, out.scheme) &&
         get_u16(request.port(), out.port) && get_version(request.version(), out.version) &&
         get(request.headers(), out.headers) && get(request.trailers(), out.trailers) &&
         get(request.body(), out.body);
}

bool put(const StoredInterimResponse& interim, pb::Interim& out) {
  out.set_status(interim.status);
  out.set_reason(interim.reason);
  put_time(interim.time, [&](std::int64_t ns) { out.set_time_ns(ns); });
  return put(interim.headers, *out.mutable_headers());
}

bool get(const pb::Interim& interim, StoredInterimResponse& out) {
  out.reason = interim.reason();
  out.time = get_time(interim.has_time_ns(), interim.time_ns());
  return get_u16(interim.status(), out.status) && get(interim.headers(), out.headers);
}

void put(const std::vector<ChunkTime>& times, pb::Response& out) {
  ChunkTime before{.end_bytes = 0, .time = SessionTime::zero()};
  for (std::size_t i = 0; i < times.size(); ++i) {
    // Beyond the limit the chunks between are merged into the last one.
    if (i + 1 >= kChunkTimesMax && i + 1 < times.size()) continue;
    auto const& now = times[i];
    out.add_chunk_end_deltas(now.end_bytes - before.end_bytes);
    out.add_chunk_time_deltas(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(now.time.count()) -
                                  static_cast<std::uint64_t>(before.time.count())));
    before = now;
  }
}

bool get(const pb::Response& response, std::vector<ChunkTime>& out) {
  auto const count = static_cast<std::size_t>(response.chunk_end_deltas_size());
  if (count > kChunkTimesMax ||
      response.chunk_time_deltas_size() != response.chunk_end_deltas_size()) {
    return false;
  }
  out.reserve(count);
  std::uint64_t end = 0;
  std::uint64_t time = 0;
  for (int i = 0; i < response.chunk_end_deltas_size(); ++i) {
    end += response.chunk_end_deltas(i);
    time += static_cast<std::uint64_t>(response.chunk_time_deltas(i));
    out.push_back({.end_bytes = end, .time = SessionTime(static_cast<std::int64_t>(time))});
  }
  return true;
}

bool put(const StoredReply& response, pb::Response& out) {
  out.set_status(response.status);
  out.set_reason(response.reason);
  out.set_version(static_cast<std::uint32_t>(response.version));
  put(response.chunk_times, out);
  if (response.timed_bytes) out.set_timed_bytes(*response.timed_bytes);
  return put(response.headers, *out.mutable_headers()) &&
         put(response.trailers, *out.mutable_trailers()) && put(response.body, *out.mutable_body());
}

bool get(const pb::Response& response, StoredReply& out) {
  out.reason = response.reason();
  if (response.has_timed_bytes()) out.timed_bytes = response.timed_bytes();
  return get_u16(response.status(), out.status) && get_version(response.version(), out.version) &&
         get(response.headers(), out.headers) && get(response.trailers(), out.trailers) &&
         get(response.body(), out.body) && get(response, out.chunk_times);
}

void put(const Timings& timings, pb::Timings& out) {
  put_time(timings.queued, [&](std::int64_t ns) { out.set_queued_ns(ns); });
  put_time(timings.request_sent, [&](std::int64_t ns) { out.set_request_sent_ns(ns); });
  put_time(timings.first_byte, [&](std::int64_t ns) { out.set_first_byte_ns(ns); });
  put_time(timings.end, [&](std::int64_t ns) { out.set_end_ns(ns); });
}

Timings get(const pb::Timings& timings) {
  return {.queued = get_time(timings.has_queued_ns(), timings.queued_ns()),
          .request_sent = get_time(timings.has_request_sent_ns(), timings.request_sent_ns()),
          .first_byte = get_time(timings.has_first_byte_ns(), timings.first_byte_ns()),
          .end = get_time(timings.has_end_ns(), timings.end_ns())};
}

}  // namespace

Result<std::string> encode_exchange(const Exchange& exchange) {
  pb::Exchange out;
  out.set_session(exchange.session);
  out.set_sequence(exchange.sequence);
  out.set_client_connection_id(exchange.client_connection_id);
  out.set_stream_id(exchange.stream_id);
  out.set_origin_connection_id(exchange.origin_connection_id);
  out.set_outcome(static_cast<std::uint32_t>(exchange.outcome));
  out.set_failure(exchange.failure);
  put(exchange.timings, *out.mutable_timings());
  auto fits = exchange.interim.size() <= kInterimMax &&
              put(exchange.request, *out.mutable_request()) &&
              put(exchange.response, *out.mutable_response());
  for (std::size_t i = 0; fits && i < exchange.interim.size(); ++i) {
    fits = put(exchange.interim[i], *out.add_interim());
  }
  if (!fits) return fail(archive_errc::too_large);
  return serialize(out);
}

std::optional<Exchange> decode_exchange(Bytes payload) {
  pb::Exchange in;
  if (!parse(payload, in)) return std::nullopt;
  std::optional<Exchange> decoded(std::in_place);
  auto& out = *decoded;
  out.session = in.session();
  out.sequence = in.sequence();
  out.client_connection_id = in.client_connection_id();
  out.stream_id = in.stream_id();
  out.origin_connection_id = in.origin_connection_id();
  out.failure = in.failure();
  out.timings = get(in.timings());
  auto const interim_count = static_cast<std::size_t>(in.interim_size());
  auto holds = out.session > 0 && interim_count <= kInterimMax && get(in.request(), out.request) &&
               get(in.response(), out.response) &&
               get_number(in.outcome(), Outcome::kComplete, Outcome::kOriginFailed, out.outcome);
  for (int i = 0; holds && i < in.interim_size(); ++i) {
    holds = get(in.interim(i), out.interim.emplace_back());
  }
  if (!holds) decoded.reset();
  return decoded;
}

}  // namespace reprise
