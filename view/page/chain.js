// The critical chain: the sequence of requests that determined the duration of the load. The model
// has it (analysis/contribution/chain.h says how it is found). Pure.

/**
 * The chain in the order of time: { request, why, from, until }. `why` says how the previous
 * request made this one possible; empty for the first. From `from` to `until` the load waited for
 * this request; between one's `until` and the next one's `from` it waited for the browser.
 */
export function chainOf(load, requests) {
  return load.chain.map(
    ([row, why, from, until]) => ({ request: requests[row], why, from, until }));
}

/**
 * What the load waited for along the chain until `end`: { phase name: ms }, with `browser` for the
 * time between requests and after the last one. `phasesOf` is from phases.js. The sum is `end`.
 */
export function chainTimes(chain, end, phasesOf) {
  const times = {};
  const add = (name, ms) => { if (ms > 0) times[name] = (times[name] ?? 0) + ms; };
  let now = 0;
  for (const { request, from, until } of chain) {
    add('browser', from - now);
    for (const phase of phasesOf(request, until)) {
      add(phase.name, Math.min(phase.end, until) - Math.max(phase.start, now, from));
    }
    now = Math.max(now, until);
  }
  add('browser', end - now);
  return times;
}
