#pragma once

#include <boost/asio/steady_timer.hpp>

#include "proxy/record/injecting_writer.h"
#include "proxy/record/record_connection.h"
#include "proxy/record/send_again.h"
#include "proxy/record/upload_watch.h"

namespace reprise {

/// One attempt to pass a request to an origin and its response to the client: the state that the
/// two directions share. Borrows everything.
struct RecordConnection::Passing {
  const RequestHead& head;
  BodyReader& body;
  ResponseWriter& writer;
  InjectingWriter& injecting;  ///< the same, for the final response
  ExchangeRecorder& record;
  OriginExchange& exchange;
  KeptContent& content;              ///< of the request; of all attempts
  bool fresh;                        ///< the connection was dialled for this exchange
  bool refused_before;               ///< by another connection that was dialled for it
  net::steady_timer continue_timer;  ///< cancelled by the 100, or by a final head
  net::steady_timer upload_timer;    ///< cancelled by progress of the request
  bool continued = false;            ///< the origin requested the content
  bool answered = false;             ///< a final head has arrived
  bool kept = false;                 ///< the whole response is archived
  bool upload_over = false;          ///< no more of the request will be sent
  bool request_lost = false;  ///< the client or the archive failed: it will never be complete
  TraceMention trace = {};    ///< of the response
  bool switched = false;      ///< both sides use another protocol from here on
  UploadWatch watch{writer};

  /// The origin has accepted a piece of the request's content.
  void progressed() {
    upload_timer.cancel();
    watch.progressed();
  }
  /// Archives the response, all of which has arrived.
  Result<void> complete() {
    auto const trailers = exchange.body().trailers();
    if (auto const done = record.complete(trailers); !done) return done;
    trace.add(trailers);
    kept = true;
    return {};
  }
};

}  // namespace reprise
