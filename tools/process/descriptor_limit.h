#pragma once

namespace reprise {

/// Raises the limit of open descriptors as far as the user may: connections need them, and a
/// browser opens hundreds. Not before a command is started that would inherit it.
void raise_descriptor_limit();

}  // namespace reprise
