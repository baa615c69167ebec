// The explanation in the page (analysis/contribution/EXPLANATION.md), as objects. Pure.

export const COLOURS = 12;

/**
 * `text` is JSON. Kinds get `index` and `colour`, their class; slices and points get `index`.
 * `ranked` are the kinds that occur, those with the largest share of all views first.
 */
export function readExplanation(text) {
  const explanation = JSON.parse(text);
  for (const list of [explanation.kinds, explanation.slices, explanation.points]) {
    list.forEach((each, index) => { each.index = index; });
  }
  for (const kind of explanation.kinds) kind.colour = `k${kind.index % COLOURS}`;
  explanation.kindNamed = new Map(explanation.kinds.map((kind) => [kind.name, kind]));
  const occurring = [...explanation.slices, ...explanation.trend]
                      .flatMap(({ shares }) => shares.map(({ kind }) => kind));
  explanation.ranked = [...new Set(occurring)].map((name) => explanation.kindNamed.get(name));
  return explanation;
}

/** What the views of a slice have in common, or the tags of a point: "network 4g, country DE". */
export function tagsText(tags) {
  return Object.entries(tags).map(([name, value]) => `${name} ${value || 'unknown'}`).join(', ');
}

export function sliceName(slice) {
  return tagsText(slice.tags) || 'All views';
}

/** The costs of one kind of cause that have something of `measure`, the largest first. */
export function costsBy(slice, cause, measure) {
  return slice.costs[cause].map((cost, index) => ({ cost, index }))
    .filter(({ cost }) => cost[measure] > 0)
    .sort((a, b) => b.cost[measure] - a.cost[measure] || a.index - b.index)
    .map(({ cost }) => cost);
}

/** The points of the views that a slice explains: with `--slowest`, not all with its tags. */
export function pointsOf(explanation, slice) {
  return explanation.points.filter((point) => point.slices.includes(slice.index));
}

/** The kind with the largest share of a point, or null. */
export function heaviestKind(explanation, point) {
  const us = Math.max(0, ...point.shares);
  return us > 0 ? explanation.kinds[point.shares.indexOf(us)] : null;
}

/** The shares of a point as those of a slice, largest first. The critical chain is not known. */
export function sharesOfPoint(explanation, point) {
  return explanation.kinds
    .map(({ name }, at) => {
      const us = point.shares[at] ?? 0;
      return { kind: name, us, percent: point.window_us > 0 ? (100 * us) / point.window_us : 0 };
    })
    .filter(({ us }) => us > 0)
    .sort((a, b) => b.us - a.us);
}

/**
 * The calls of a point, each followed by those inside it, by start: { index, kind, name, start,
 * end, own, chain, allOwn, allChain, depth, inside, parent }, times in ms; `inside` counts the
 * calls directly in it, `allOwn` and `allChain` include those of all calls inside. A parent that
 * does not come before its call is no parent.
 */
export function callTree(explanation, point) {
  const calls = point.calls.map(([kind, name, start, end, parent, own, chain], index) => ({
    index, kind: explanation.kinds[kind], name: explanation.names[name],
    start: start / 1000, end: end / 1000, own: own / 1000, chain: chain / 1000,
    allOwn: own / 1000, allChain: chain / 1000, depth: 0, inside: 0,
    parent: parent >= 0 && parent < index ? parent : -1,
  }));
  const inside = new Map([[-1, []]]);
  for (const call of calls) {
    inside.set(call.index, []);
    inside.get(call.parent).push(call);
    if (call.parent < 0) continue;
    call.depth = calls[call.parent].depth + 1;
    calls[call.parent].inside += 1;
  }
  for (const { parent, allOwn, allChain } of [...calls].reverse()) {
    if (parent < 0) continue;
    calls[parent].allOwn += allOwn;
    calls[parent].allChain += allChain;
  }
  const laterFirst = (list) => list.sort((a, b) => b.start - a.start || b.index - a.index);
  const ordered = [];
  const open = laterFirst(inside.get(-1));
  while (open.length > 0) {
    const call = open.pop();
    ordered.push(call);
    for (const each of laterFirst(inside.get(call.index))) open.push(each);
  }
  return ordered;
}
