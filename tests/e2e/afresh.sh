#!/bin/bash
# A release build without a compiler cache: from nothing, or after a change to one source FILE.
#
#   afresh.sh [FILE]
set -euo pipefail
cd "$(dirname "$0")/../.."

export CCACHE_DISABLE=1
if [[ $# -eq 0 ]]; then
  rm -rf build/afresh
  cmake --preset release -B build/afresh >/dev/null
else
  touch "$1"
fi
cmake --build build/afresh
