// The traces of all requests of a load as one trace, and what two such traces differ in. Pure.
import { DEPTH_MAX, pointName, treeOf } from './tree.js';

const newNode = (point) => ({ point, hits: 0, ms: 0, called: new Map() });

function calledBy(node, point) {
  const key = JSON.stringify([point.className, point.method, point.line]);
  if (!node.called.has(key)) node.called.set(key, newNode(point));
  return node.called.get(key);
}

/** Adds up the calls of one point by one caller. */
function add(into, nodes) {
  const places = new Map();
  for (const node of nodes) {
    if (node.depth >= DEPTH_MAX - 1) continue; // there is a host above it
    const place = calledBy(node.parent ? places.get(node.parent) : into, node.point);
    place.hits += node.hits;
    place.ms += node.ms;
    places.set(node, place);
  }
}

/** By host, what its servers did; a trace that cannot be read is skipped. */
function wholeOf(traces) {
  const whole = newNode(null);
  for (const { host, trace } of traces) {
    let tree;
    try {
      tree = treeOf(trace);
    } catch {
      continue;
    }
    const top = calledBy(whole, { className: '', method: host, line: -1 });
    top.hits += 1;
    top.ms += tree.ms;
    add(top, tree.nodes);
  }
  return whole;
}

/** A trace as servers send it (analysis/trench/TRENCH.md), the longest calls first. */
function packed(whole) {
  const points = [];
  const places = new Map();
  const placeOf = ({ className, method, line }) => {
    const key = JSON.stringify([className, method, line]);
    if (!places.has(key)) places.set(key, points.push([className, method, line]) - 1);
    return places.get(key);
  };
  const rowOf = ({ point, hits, ms, called }) => [placeOf(point), hits, ms,
    [...called.values()].sort((a, b) => b.ms - a.ms).map(rowOf)];
  const stack = [...whole.called.values()].sort((a, b) => b.ms - a.ms).map(rowOf);
  const classes = [...new Set(points.map(([className]) => className))];
  return { stack, classes,
    points: points.map(([className, method, line]) => [classes.indexOf(className), method, line]) };
}

/** `traces` are { host, trace }, the trace as JSON. Below each host are the calls of its requests. */
export function wholeTrace(traces) {
  return packed(wholeOf(traces));
}

/** What takes longer in `b` than in `a`: the calls of `b`, each with only that time. */
export function longerTrace(a, b) {
  const longer = (ofA, ofB) => {
    const made = newNode(ofB.point);
    let inside = 0;
    for (const [key, node] of ofB.called) {
      const child = longer(ofA?.called.get(key), node);
      if (child.ms <= 0) continue;
      made.called.set(key, child);
      inside += child.ms;
    }
    made.hits = ofB.hits;
    made.ms = Math.max(ofB.ms - (ofA?.ms ?? 0), inside);
    return made;
  };
  return packed(longer(wholeOf(a), wholeOf(b)));
}

/** By code point: { name, a, b }, own times in ms, the largest change first. */
export function pointChanges(a, b) {
  const changes = new Map();
  for (const [side, traces] of [['a', a], ['b', b]]) {
    for (const point of treeOf(wholeTrace(traces)).points) {
      const name = pointName(point);
      const change = changes.get(name) ?? { name, a: 0, b: 0 };
      change[side] += point.own;
      changes.set(name, change);
    }
  }
  return [...changes.values()].filter((each) => each.a !== each.b)
    .sort((one, other) => Math.abs(other.b - other.a) - Math.abs(one.b - one.a));
}
