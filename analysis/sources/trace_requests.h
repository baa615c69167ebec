#pragma once

// What a trace of Chromium adds to requests that are already in a call tree. Pure.

#include <string>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

/// The browser names the document as the initiator of an image whose `src` a script has set: the
/// script has returned when its microtask asks for the image. But no parser works while a script
/// runs, so each such request gets the script that ran. `tree` has its tasks.
void name_running_scripts(CallTree& tree);

/// An event ResourceSendRequest.
struct SentRequest {
  double at_us = 0;
  std::string url;
  /// Chromium's word, such as "non_blocking"; empty if it does not tell.
  std::string render_blocking;
  /// It is of the page's own document, and no preload: a preload does not say what will use it.
  bool counts = false;
};

/// Sets "render_blocking" of the requests whose events count.
void name_render_blocking(std::vector<SentRequest> sent, CallTree& tree);

}  // namespace reprise
