#pragma once

// Documents that mention otherwise what they use, and 103 responses before them.

#include <functional>
#include <span>
#include <vector>

#include "archive/exchange.h"
#include "proxy/whatif/effect.h"
#include "proxy/whatif/plan.h"
#include "proxy/whatif/reply_changes.h"

namespace reprise::whatif {

/// The response of a resource, with its fields and its decoded body, as this what-if serves it,
/// or the reason why the resource has no response.
struct ServedResource {
  std::string content_type;
  coding::Buffer plain;
};
using ResourceOf =
    std::function<std::expected<ServedResource, std::string>(const PageRequest& resource)>;

/// Makes all `mentions` in the document of `exchange`, whose response is `reply`, but for early
/// hints. Adds to `effects` what each came to. Returns those of which there is nothing to say: the
/// document does not mention the resource.
std::vector<ResponsePlan::Mentioned> change_mentions(
    const Exchange& exchange, Reply& reply, std::span<const ResponsePlan::Mentioned> mentions,
    const ResourceOf& resource_of, std::vector<Effect>& effects);

/// Puts a 103 (RFC 8297) before the response of `exchange`, sent as soon as the request is
/// complete, with a Link for each early hint of `mentions`. `reply`: the document, with its body.
void add_early_hints(Exchange& exchange, const Reply& reply,
                     std::span<const ResponsePlan::Mentioned> mentions,
                     std::vector<Effect>& effects);

}  // namespace reprise::whatif
