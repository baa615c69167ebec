#pragma once

#include "base/http/headers.h"

namespace reprise {

/// How far the fields of two requests agree, more than 0, as Web Page Replay
/// counts: twice the names with equal values, plus two, divided by the number of names in both.
/// Names are compared in any case, values in order; Host does not count. Pure.
double agreement(HeaderList recorded, HeaderList asked);

}  // namespace reprise
