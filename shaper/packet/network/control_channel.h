#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/system/descriptor.h"

namespace reprise {

/// The messages between a shell and the init process of its command.
enum class ControlKind : std::uint32_t {
  built,   ///< from init: the network is ready; comes with descriptors
  failed,  ///< from init: it failed; an error, a NUL, the remedy
  run,     ///< to init: the launch_text() of the command
  signal,  ///< to init: one byte, for the command
  ended,   ///< from init: the command's exit code, as decimal text
};

struct ControlMessage {
  ControlKind kind = ControlKind::failed;
  std::string text;
  std::vector<Descriptor> descriptors;
};

/// Both ends run the same program, so a malformed message only ends the channel.
inline constexpr std::size_t kControlTextMax = std::size_t{8} << 20;
inline constexpr std::size_t kControlDescriptorsMax = 128;

/// Sends one message, waiting as long as necessary. False if the other end has closed.
bool send_control(int socket, ControlKind kind, const std::string& text,
                  const std::vector<int>& descriptors = {});

/// Waits for one message. Empty at the end of the channel.
std::optional<ControlMessage> receive_control(int socket);

}  // namespace reprise
