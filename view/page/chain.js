// The critical chain: the sequence of requests that determined the duration of the load. Pure.
//
// It ends with the request that ended last before the load event (or at all, if there was none).
// Before each request comes the one that made it possible:
//  - the hop that redirected to it;
//  - else its initiator, if that was still arriving;
//  - else, of the scripts and style sheets of the same initiator that ended between the initiator's
//    end and this request's start, the last one: it blocked the initiator;
//  - else its initiator;
//  - else, if no initiator is known, the request that ended last before this one started.

const HOLDS_UP = new Set(['Script', 'Stylesheet']);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** A redirect and its target are reported at the same time, except for rounding. */
const REDIRECT_MS = 1;

class Finder {
  constructor(requests) {
    this.requests = requests.filter((each) => each.start !== null);
    this.byUrl = new Map();
    for (const each of this.requests) {
      const same = this.byUrl.get(each.url);
      if (same) same.push(each);
      else this.byUrl.set(each.url, [each]);
    }
    this.byEnd = this.requests.filter((each) => each.end !== null).sort((a, b) => a.end - b.end);
  }

  /** The last of those that ended by `time` and for which `wanted` returns true. */
  endedBy(time, wanted) {
    for (let i = this.byEnd.length - 1; i >= 0; i -= 1) {
      if (this.byEnd[i].end <= time && wanted(this.byEnd[i])) return this.byEnd[i];
    }
    return null;
  }

  /** The request named as initiator of `request`. */
  initiator(request) {
    if (!request.initiator) return null;
    const url = request.initiator.split('#', 1)[0];
    return (this.byUrl.get(url) ?? [])
      .findLast((each) => each !== request && comesBefore(each, request)) ?? null;
  }

  before(request) {
    const redirect = this.endedBy(request.start + REDIRECT_MS, (each) => REDIRECTS.has(each.status)
      && comesBefore(each, request) && each.end >= request.start - REDIRECT_MS
      && each.initiator === request.initiator);
    if (redirect) return { request: redirect, why: 'redirected' };
    const initiator = this.initiator(request);
    if (initiator && (initiator.end === null || initiator.end >= request.start)) {
      return { request: initiator, why: 'started' };
    }
    if (initiator) {
      const held = this.endedBy(request.start, (each) => HOLDS_UP.has(each.type)
        && each.initiator === request.initiator && comesBefore(each, request)
        && each.end > initiator.end);
      return held ? { request: held, why: 'held up' } : { request: initiator, why: 'started' };
    }
    const ended = this.endedBy(request.start, (each) => comesBefore(each, request));
    return ended ? { request: ended, why: 'ended just before' } : null;
  }
}

/** The earlier start; for equal starts, the earlier sent. */
function comesBefore(a, b) {
  return a.start < b.start || (a.start === b.start && a.index < b.index);
}

/**
 * The chain in the order of time: { request, why, from, until }. `why` says how the previous
 * request made this one possible; empty for the first. From `from` to `until` the load waited for
 * this request; between one's `until` and the next one's `from` it waited for the browser.
 */
export function criticalChain(requests, loadEvent) {
  const finder = new Finder(requests);
  const last = finder.endedBy(loadEvent ?? Infinity, () => true);
  const chain = [];
  for (let link = last && { request: last, why: '' }; link;) {
    const { request } = link;
    const before = finder.before(request);
    const until =
      chain.length === 0 ? request.end : Math.min(request.end ?? Infinity, chain[0].from);
    chain.unshift({ request, why: before?.why ?? '', from: request.start, until });
    link = before;
  }
  return chain;
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
