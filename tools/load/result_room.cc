#include "tools/load/result_room.h"

#include <boost/json/serialize.hpp>

#include "pageload/results/result_file.h"

namespace reprise {

// What a result begins with is counted for each load: some hundred bytes too many.
void ResultRoom::add_last(const LoadResult& result) {
  LoadResult one;
  one.loads.push_back(result.loads.back());
  auto& load = one.loads.back();
  if (load.replay) {
    one.replays.push_back(result.replays[*load.replay]);
    load.replay = 0;
  }
  last_bytes_ = boost::json::serialize(to_json(one)).size();
  bytes_ += last_bytes_;
}

std::string result_limit_text() {
  return std::to_string(kResultBytesMax >> 20) + " MiB, the limit of a result";
}

}  // namespace reprise
