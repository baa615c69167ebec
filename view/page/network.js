// The network's activity during a load: from the link's report, or else estimated from the
// requests. Pure.

export const SPANS = 240;

/**
 * Bits per second in `spans` equal parts of the time until `end`, as if the bytes of each response
 * had arrived evenly from its first to its last.
 */
export function estimatedRate(requests, end, spans = SPANS) {
  const width = end / spans;
  const bits = new Array(spans).fill(0);
  for (const { firstByte, end: last, encodedBytes, fromCache } of requests) {
    if (firstByte === null || last === null || !encodedBytes || fromCache) continue;
    const from = Math.max(0, firstByte);
    const took = Math.max(last - from, 0.001);
    for (let span = Math.floor(from / width); span < spans && span * width < from + took;
      span += 1) {
      const overlap = Math.min(from + took, (span + 1) * width) - Math.max(from, span * width);
      bits[span] += encodedBytes * 8 * (overlap / took);
    }
  }
  return bits.map((count, span) => ({ time: span * width, value: (count / width) * 1000 }));
}

/** The number of requests in flight, at each change: [{ time, value }]. */
export function inFlight(requests, end) {
  const steps = [];
  for (const request of requests) {
    if (request.start === null) continue;
    steps.push([request.start, 1], [request.end ?? end, -1]);
  }
  steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const points = [{ time: 0, value: 0 }];
  for (const [time, step] of steps) {
    const last = points.at(-1);
    if (last.time === time) last.value += step;
    else points.push({ time, value: last.value + step });
  }
  return points;
}

/** The first time at which a load must have sent a packet; null if no request shows it. */
export function firstPacket(requests) {
  let first = null;
  for (const { dnsStart, connectStart, sendStart } of requests) {
    const time = dnsStart ?? connectStart ?? sendStart;
    if (time !== null && (first === null || time < first)) first = time;
  }
  return first;
}

/**
 * A field of one direction of the link's record, on the time axis of the load: the record begins
 * before the load, and its first packet up is the load's first.
 */
export function linkSeries(timeline, side, field, first) {
  const values = timeline?.[side]?.[field] ?? [];
  const width = timeline?.width_ms;
  const begun = (timeline?.up?.packets ?? []).findIndex((count) => count > 0);
  if (!(width > 0) || values.length === 0 || begun < 0 || first === null) return null;
  return values.map((value, span) => ({ time: first + (span - begun) * width, value }))
    .filter(({ time }) => time + width > 0);
}
