// What a Serving does about its link.

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "proxy/listening_socket.h"
#include "shaper/profile.h"
#include "tools/commands.h"
#include "tools/serve/serving.h"

namespace reprise {
namespace {

/// The options of a link whose values are not the defaults.
std::vector<std::string> link_options_given(const ServingOptions& options) {
  auto const& link = options.link;
  std::vector<std::string> given;
  auto const add = [&given](bool differs, const char* flag) {
    if (differs) given.emplace_back(flag);
  };
  add(options.shaper != "auto", "--shaper");
  add(link.seed.has_value(), "--link-seed");
  add(link.congestion != "cubic", "--congestion");
  add(link.realtime == true, "--realtime");
  add(link.realtime == false, "--no-realtime");
  add(link.keep_awake, "--keep-awake");
  add(link.no_self_check, "--no-selfcheck");
  return given;
}

}  // namespace

FarServers::Delays delays_of(const dns::Plan& plan, const Naming& naming) {
  FarServers::Delays delays;
  for (const auto& [origin, round_trip] : naming.round_trips) {
    auto const stand_in = plan.stand_in_of(origin);
    if (!stand_in) continue;
    auto const [at, added] = delays.emplace(stand_in->to_uint(), round_trip);
    if (!added) at->second = std::min(at->second, round_trip);
  }
  FarServers::Delays further;
  for (const auto& [origin, by] : naming.further_away) {
    auto const stand_in = plan.stand_in_of(origin);
    if (!stand_in) continue;
    auto& most = further[stand_in->to_uint()];
    most = std::max(most, by);
  }
  for (const auto& [stand_in, by] : further) delays[stand_in] += by;
  return delays;
}

std::optional<int> Serving::check_link_options() const {
  if (!options_.link.link.empty()) return std::nullopt;
  if (!options_.link.log_file.empty()) {
    std::fprintf(stderr, "reprise: --link-log needs a link. Add --link LINK\n");
    return kExitUsage;
  }
  for (const std::string& option : link_options_given(options_)) {
    std::fprintf(stderr, "reprise: %s has no effect without a link. Add --link LINK\n",
                 option.c_str());
  }
  return std::nullopt;
}

std::optional<int> Serving::prepare_link() {
  auto const profile = parse_link(options_.link.link);
  link_has_chance_ = profile && (profile->down.has_chance() || profile->up.has_chance());
  if (options_.shaper == "stream") return prepare_stream("");
  if (options_.shaper == "packet") {
    if (!command_.empty()) return prepare_packets(nullptr);
    std::fprintf(
        stderr,
        "reprise: --shaper packet needs a command. Add -- COMMAND..., or use --shaper stream\n");
    return kExitUsage;
  }
  if (command_.empty()) {
    return prepare_stream("packets need a command; add -- COMMAND");
  }
  std::optional<ShellError> refused;
  auto const wrong = prepare_packets(&refused);
  return refused ? prepare_stream(text_of(*refused)) : wrong;
}

std::optional<int> Serving::prepare_packets(std::optional<ShellError>* refused) {
  std::vector<std::uint16_t> udp_ports;
  if (options_.h3) udp_ports = options_.h3->ports_behind_link();
  auto linked = LinkedCommand::prepare(options_.link,
                                       {.all_tcp_ports = true,
                                        .tcp_ports = {80, 443, 8080, 8443},
                                        .udp_ports = std::move(udp_ports),
                                        .unsent_bytes_max = kUnsentBytesMaxBehindLink,
                                        .names = true},
                                       options_.strict, refused);
  if (!linked) return linked.error();
  linked_ = linked->get();
  child_ = std::move(*linked);
  // The command reaches no other listeners here, and others are not used.
  addresses_ = *options_.addresses.parse(DefaultAddresses::kOff);
  return std::nullopt;
}

std::optional<int> Serving::prepare_stream(const std::string& instead_of) {
  if (!instead_of.empty()) {
    std::fprintf(stderr, "reprise: using --shaper stream, so times are approximate: %s\n",
                 instead_of.c_str());
  }
  auto streamed = StreamedLink::prepare(options_.link, instead_of, options_.strict);
  if (!streamed) return streamed.error();
  streamed_ = std::move(*streamed);
  return std::nullopt;
}

std::optional<int> Serving::move_servers_away(const Naming& naming) {
  if (!naming.needs_packets) return std::nullopt;
  if (linked_ == nullptr || !plan_) {
    std::fprintf(
        stderr,
        "reprise: --origin-rtt and --what-if rtt= need a command behind a packet link. Add "
        "--link none and -- COMMAND...; load, gate and whatif need --shaper packet for it\n");
    return kExitUsage;
  }
  linked_->move_servers_away(delays_of(*plan_, naming));
  return std::nullopt;
}

std::optional<boost::json::object> Serving::link_report() const {
  auto report = finished_link_;
  if (!report && linked_ != nullptr) report = to_json(linked_->report());
  if (!report && streamed_) report = to_json(streamed_->report());
  if (report) (*report)["transports"] = transports_report();
  return report;
}

std::optional<std::uint64_t> Serving::link_seed() const {
  if (!link_has_chance_) return std::nullopt;
  if (linked_ != nullptr) return linked_->seed();
  if (streamed_) return streamed_->seed();
  return std::nullopt;
}

/// Adds the link's result to the exit code.
int Serving::finish_link(int exit_code) {
  // A recording has no report of its link.
  if (auto const seed = link_seed(); seed && mode_ == "record") {
    std::fprintf(stderr, "reprise: the link's losses and jitter were drawn with --link-seed %llu\n",
                 static_cast<unsigned long long>(*seed));
  }
  bool written = true;
  bool doubtful = false;
  if (linked_ != nullptr) {
    auto const run = linked_->finish();
    written = linked_->log_written();
    doubtful = !warnings_of(run).empty();
    finished_link_ = to_json(run);
  } else if (streamed_) {
    auto const run = streamed_->finish();
    doubtful = !warnings_of(run).empty();
    finished_link_ = to_json(run);
  }
  return exit_code_behind_link(exit_code, written, doubtful && options_.strict);
}

}  // namespace reprise
