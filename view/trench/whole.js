// The traces of all requests of a load as one tree, and what two such trees differ in. Pure.
import { nodesOf, ownOf, treeFrom } from './tree.js';

const newNode = (point) => ({ point, hits: 0, ms: 0, called: new Map(), from: new Map() });
const keyOf = ({ className, method, line }) => JSON.stringify([className, method, line]);
// Where a method stands moves with what is above it, so two versions have it at two lines.
const nameKeyOf = ({ className, method }) => JSON.stringify([className, method]);

function calledBy(node, key, point) {
  if (!node.called.has(key)) node.called.set(key, newNode(point));
  return node.called.get(key);
}

function addTo(node, { hits, ms }, request) {
  node.hits += hits;
  node.ms += ms;
  if (request) node.from.set(request, (node.from.get(request) ?? 0) + ms);
}

/**
 * By host, what its servers did, with the calls of one point by one caller added up. `traces` are
 * { host, trace, request }: the trace as JSON, and its request, which may be missing.
 */
function sumOf(traces, keyOfPoint) {
  const whole = newNode(null);
  let unread = 0;
  for (const { host, trace, request } of traces) {
    let read;
    try {
      read = nodesOf(trace);
    } catch {
      unread += 1;
      continue;
    }
    const keys = read.points.map(keyOfPoint);
    const top = calledBy(whole, host, { className: '', method: host, line: -1, isHost: true });
    top.hits += 1;
    const places = []; // of the nodes, by their index
    for (const node of read.nodes) {
      const { parent, point } = node;
      const place = calledBy(parent ? places[parent.index] : top, keys[point.index], point);
      addTo(place, node, request);
      places.push(place);
      if (!parent) addTo(top, { hits: 0, ms: node.ms }, request);
    }
  }
  return { whole, unread };
}

/**
 * The tree below `top`. `facts(node, children)` gives { hits, ms, own, size } and more of a node
 * whose children are ready; those of one caller are sorted by their size.
 */
function grown(top, keyOfPoint, facts) {
  const points = new Map();
  const grow = (node, depth) => {
    const children = [...node.called.values()].map((each) => grow(each, depth + 1))
      .sort((a, b) => b.size - a.size);
    const key = keyOfPoint(node.point);
    if (!points.has(key)) points.set(key, { ...node.point, index: points.size });
    const made =
      { point: points.get(key), depth, parent: null, children, ...facts(node, children) };
    for (const child of children) child.parent = made;
    return made;
  };
  const nodes = [];
  const waiting = [...top.called.values()].map((each) => grow(each, 0))
    .sort((a, b) => a.size - b.size);
  while (waiting.length > 0) {
    const node = waiting.pop();
    node.index = nodes.push(node) - 1;
    for (let i = node.children.length; i > 0; i -= 1) waiting.push(node.children[i - 1]);
  }
  return treeFrom(nodes, [...points.values()]);
}

/**
 * The tree of a load: below each host the calls of its requests. A node's `from` has the time of
 * each request that it is from. `unread`: how many traces cannot be read.
 */
export function wholeTree(traces) {
  const { whole, unread } = sumOf(traces, keyOf);
  const tree = grown(whole, keyOf, ({ hits, ms, from }, children) =>
    ({ hits, ms, size: ms, own: ownOf(ms, children), from }));
  return { ...tree, unread };
}

/** `a` and `b`, of which one may be missing, as nodes of both. */
function paired(a, b) {
  const called = new Map();
  for (const key of new Set([...b?.called.keys() ?? [], ...a?.called.keys() ?? []])) {
    called.set(key, paired(a?.called.get(key), b?.called.get(key)));
  }
  const side = (node) => {
    const { hits = 0, ms = 0 } = node ?? {};
    return { hits, ms, own: ownOf(ms, [...node?.called.values() ?? []]), isThere: Boolean(node) };
  };
  return { point: (b ?? a).point, called, a: side(a), b: side(b) };
}

const toMicroseconds = (ms) => Math.round(ms * 1000) / 1000;

/**
 * B - A, as a tree: `hits`, `ms` and `own` are what B has more, or less than zero, and `a` and `b`
 * what each has. Methods are the same by their names. A node is as large as the changes in it.
 * `unreadOfA`, `unreadOfB`: how many traces cannot be read; with any, the difference is wrong.
 */
export function differenceTree(tracesOfA, tracesOfB) {
  const sums = [tracesOfA, tracesOfB].map((traces) => sumOf(traces, nameKeyOf));
  const [a, b] = sums.map(({ whole }) => whole);
  const tree = grown(paired(a, b), nameKeyOf, ({ a: ofA, b: ofB }, children) => {
    const [hits, ms, own] = ['hits', 'ms', 'own']
      .map((field) => toMicroseconds(ofB[field] - ofA[field]));
    const inside = children.reduce((sum, { size }) => sum + size, 0);
    return { hits, ms, own, size: Math.max(Math.abs(ms), Math.abs(own) + inside), a: ofA, b: ofB };
  });
  for (const point of tree.points) {
    const ownOfSide = (side) => point.nodes.reduce((sum, node) => sum + node[side].own, 0);
    Object.assign(point, { ownOfA: ownOfSide('a'), ownOfB: ownOfSide('b') });
  }
  const [unreadOfA, unreadOfB] = sums.map(({ unread }) => unread);
  return { ...tree, unreadOfA, unreadOfB };
}
