#!/bin/sh
# Gates a change: records the site as it is now and compares it with the main branch's recording.
#
#   BASE=base.reprise URL=https://www.example.org/ docs/ci/gate.sh base     on the main branch
#   BASE=base.reprise URL=https://www.example.org/ docs/ci/gate.sh          for a change
#
# The first records the site to the file BASE, in place of an earlier recording. The second records it
# to changed.reprise and compares. RECORD contains more options of `reprise record`, such as
# --connect-to and --origin-ca for a site that runs in the pipeline; GATE contains options of
# `reprise gate`. Output: results/ (with summary.md for a comment) and the exit status: 0 not slower,
# 5 slower, 6 undecided, 1 not comparable or failed.
set -eu
: "${BASE:?the archive of the main branch}" "${URL:?the page}"
REPRISE=${REPRISE:-reprise}
LINK=${LINK:-wpt:4g}

record() {
  rm -f "$1.new"
  # shellcheck disable=SC2086
  "$REPRISE" record -o "$1.new" ${RECORD:-} "$URL"
  mv "$1.new" "$1"
}

if [ "${1:-}" = base ]; then
  record "$BASE"
  exit 0
fi
if [ ! -e "$BASE" ]; then
  echo "$0: there is no $BASE: run '$0 base' on the main branch, and keep the file" >&2
  exit 1
fi

mkdir -p results
# Nothing of an earlier run stays if this one ends early.
for each in summary.md a.json b.json verdict.json loads.json why.json why.md why.html; do
  rm -f "results/$each"
done
record changed.reprise
status=0
# shellcheck disable=SC2086
"$REPRISE" gate "'$BASE' $URL --link $LINK" "changed.reprise $URL --link $LINK" \
  -o results --markdown --fail-on slower \
  ${GATE:---metric load --min-effect 1%,10ms --budget 10m} >results/summary.md || status=$?
cat results/summary.md
exit "$status"
