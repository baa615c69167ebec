// The requests of two loads, one beside the other. Pure.

const last = (value) => value ?? Infinity;

/** The places of a longest increasing subsequence of `values` (patience sorting). */
function longestRise(values) {
  const tails = []; // the place at which the best rise of each length ends
  const before = new Array(values.length).fill(-1);
  values.forEach((value, place) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[tails[middle]] < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[place] = tails[low - 1];
    tails[low] = place;
  });
  const rise = new Set();
  for (let place = tails.at(-1) ?? -1; place >= 0; place = before[place]) rise.add(place);
  return rise;
}

/**
 * Pairs the requests of `a` and `b`: the n-th of a method and URL with the n-th of the same, in the
 * order of their start. Returns [{ index, a, b, start, moved }], in the order of `a`; those that
 * only `b` has stand where they started. `a` or `b` is null if only the other load has the request.
 * `moved`: it is in another order among the requests that both have.
 */
export function pairsOf(a, b) {
  const waiting = new Map();
  const keyOf = ({ method, url }) => `${method} ${url}`;
  const inOrder = (requests) =>
    [...requests].sort((x, y) => last(x.start) - last(y.start) || x.index - y.index);
  // The first of a key is the last of its list, from where it is quickly taken.
  for (const each of inOrder(b).map((request, place) => ({ request, place })).reverse()) {
    const key = keyOf(each.request);
    if (!waiting.has(key)) waiting.set(key, []);
    waiting.get(key).push(each);
  }
  const pairs = inOrder(a).map((request) => {
    const found = waiting.get(keyOf(request))?.pop() ?? null;
    return { a: request, b: found?.request ?? null, place: found?.place ?? null };
  });
  const both = pairs.filter((pair) => pair.b);
  const rise = longestRise(both.map((pair) => pair.place));
  const moved = new Set(both.filter((pair, at) => !rise.has(at)));
  const made = pairs.map((pair) => (
    { start: pair.a.start, a: pair.a, b: pair.b, moved: moved.has(pair) }));
  const onlyB = [...waiting.values()].flat().sort((x, y) => x.place - y.place)
    .map(({ request }) => ({ start: request.start, a: null, b: request, moved: false }));
  // Of the same start, those of `a` come first: sorting keeps the order of equals.
  return [...made, ...onlyB].sort((x, y) => last(x.start) - last(y.start))
    .map((pair, index) => ({ index, ...pair }));
}

/** How much later `b` is than `a`, by `field`; null if not both have it. */
export function shiftOf({ a, b }, field) {
  const [from, to] = [a?.[field] ?? null, b?.[field] ?? null];
  return from === null || to === null ? null : to - from;
}
