#!/bin/sh
# Gates a change: records the site as it is now and compares it with the main branch's recording.
#
#   BASE=base.reprise URL=https://www.example.org/ docs/ci/gate.sh
#
# RECORD contains more options of `reprise record`, such as --connect-to and --origin-ca for a site
# that runs in the pipeline; GATE contains options of `reprise gate`. If the file BASE does not exist,
# as on the main branch, the recording is written there and nothing is compared. Output: results/
# (with summary.md for a comment) and the exit status: 0 not slower, 5 different, 6 undecided.
set -eu
: "${BASE:?the archive of the main branch}" "${URL:?the page}"
REPRISE=${REPRISE:-reprise}
LINK=${LINK:-wpt:4g}
mkdir -p results

if [ ! -e "$BASE" ]; then
  # shellcheck disable=SC2086
  "$REPRISE" record -o "$BASE" ${RECORD:-} "$URL"
  echo "recorded $BASE: nothing to compare with yet"
  exit 0
fi

rm -f results/changed.reprise
# shellcheck disable=SC2086
"$REPRISE" record -o results/changed.reprise ${RECORD:-} "$URL"
status=0
# shellcheck disable=SC2086
"$REPRISE" gate "'$BASE' $URL --link $LINK" "results/changed.reprise $URL --link $LINK" \
  -o results --markdown ${GATE:---metric load --min-effect 1%,10ms --budget 10m} \
  >results/summary.md || status=$?
cat results/summary.md
exit "$status"
