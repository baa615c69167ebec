#pragma once

#include "inject/rewrite.h"

namespace reprise::inject {

/// The least that can be injected.
inline const InjectedScript& script() {
  static const InjectedScript instance =
      *InjectedScript::create({.document = {"ours()"}, .worker = "ours()"});
  return instance;
}

}  // namespace reprise::inject
