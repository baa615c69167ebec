#!/bin/bash
# A release build without a compiler cache: from nothing, or after a change to one large source.
#
#   afresh.sh [--one-file]
set -euo pipefail
cd "$(dirname "$0")/../.."

export CCACHE_DISABLE=1
if [[ "${1:-}" == --one-file ]]; then
  touch proxy/record/record_connection.cc
else
  rm -rf build/afresh
  cmake --preset release -B build/afresh >/dev/null
fi
cmake --build build/afresh
