// A trace of a server (analysis/trench/TRENCH.md) as a tree, and what stands out in it. Pure.

export const ROWS_MAX = 1_000_000;
export const DEPTH_MAX = 512;
export const NAME_MAX = 1024; // characters
export const NAMES_MAX = 128 << 20; // of all points
const DAY_MS = 86_400_000;
const WIDE_SHARE = 0.1; // of the whole, for a bar or an inset to stand out
const DEEP_MIN = 8; // rows
const LISTED_MAX = 3; // of each kind

/** Where the columns with these names are in a row; in this order if the names are missing. */
function columnsOf(json, name, names) {
  const given = json[name];
  return names.map((each, i) => (Array.isArray(given) && given.length > 0 ? given.indexOf(each)
    : i));
}

const listOf = (json, name) => (Array.isArray(json[name]) ? json[name] : []);
const isWhole = (value, below) => Number.isInteger(value) && value >= 0 && value < below;

const cutName = (name) => (name.length > NAME_MAX ? `${name.slice(0, NAME_MAX - 1)}…` : name);

function readPoints(json) {
  const [nameAt] = columnsOf(json, 'classesColumns', ['name']);
  for (const name of ['classes', 'points']) {
    if (listOf(json, name).length > ROWS_MAX) throw new Error(`more than 1,000,000 ${name}`);
  }
  const classes = listOf(json, 'classes').map((each, i) => {
    const name = Array.isArray(each) ? each[nameAt] ?? each[0] : each;
    if (typeof name !== 'string') throw new Error(`classes[${i}] must have a name`);
    return cutName(name);
  });
  let length = 0;
  const [classAt, methodAt, lineAt] = columnsOf(json, 'pointsColumns', ['class', 'method', 'line']);
  return listOf(json, 'points').map((row, i) => {
    if (!Array.isArray(row) || !isWhole(row[classAt], classes.length)) {
      throw new Error(`points[${i}] has a class that is not there`);
    }
    if (typeof row[methodAt] !== 'string') throw new Error(`points[${i}] must have a method`);
    const line = isWhole(row[lineAt], Number.MAX_SAFE_INTEGER) ? row[lineAt] : -1;
    const [className, method] = [classes[row[classAt]], cutName(row[methodAt])];
    length += className.length + method.length;
    if (length > NAMES_MAX) throw new Error('the names of its points are too long together');
    return { index: i, className, method, line };
  });
}

/** Rows as nodes, those inside others too, with the places of their children. */
function readRows(json, pointCount) {
  const at = columnsOf(json, 'stackColumns', ['point', 'hits', 'ms', 'children']);
  const rows = [];
  const add = (cells) => {
    if (!Array.isArray(cells)) throw new Error('a row must be an array');
    if (rows.length === ROWS_MAX) throw new Error('more than 1,000,000 rows');
    return rows.push({ cells, caller: null, called: [] }) - 1;
  };
  listOf(json, 'stack').forEach(add);
  const tops = rows.length;
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i];
    const [point, hits, ms, children] = at.map((place) => row.cells[place]);
    if (!isWhole(point, pointCount)) throw new Error(`row ${i} has a point that is not there`);
    if (!isWhole(hits, Number.MAX_SAFE_INTEGER)) throw new Error(`row ${i}: hits must be a number`);
    if (!(typeof ms === 'number' && ms >= 0 && ms <= DAY_MS)) {
      throw new Error(`row ${i}: ms must be a number from 0 to a day`);
    }
    Object.assign(row, { point, hits, ms });
    if (children != null && !Array.isArray(children)) {
      throw new Error(`row ${i}: children must be an array`);
    }
    for (const child of children ?? []) {
      if (!Array.isArray(child) && !isWhole(child, tops)) {
        throw new Error(`row ${i} has a child that is not there`);
      }
      const called = Array.isArray(child) ? add(child) : child;
      if (rows[called].caller !== null) throw new Error(`row ${called} is called twice`);
      rows[called].caller = i;
      row.called.push(called);
    }
  }
  return rows;
}

/**
 * The JSON of a trace as { nodes, points }. A node is { index, point, hits, ms, size, parent,
 * children, depth }; `size` is what it is drawn by. Nodes are in preorder. Throws an Error with a
 * sentence for invalid ones.
 */
export function nodesOf(json) {
  if (json === null || typeof json !== 'object') throw new Error('not a JSON object');
  const points = readPoints(json);
  const rows = readRows(json, points.length);
  const nodes = [];
  const waiting = [];
  const visit = (places, parent) => {
    for (let i = places.length; i > 0; i -= 1) waiting.push([places[i - 1], parent]);
  };
  visit(rows.flatMap((row, i) => (row.caller === null ? [i] : [])), null);
  while (waiting.length > 0) {
    const [place, parent] = waiting.pop();
    const { point, hits, ms, called } = rows[place];
    const depth = parent ? parent.depth + 1 : 0;
    if (depth === DEPTH_MAX) throw new Error('nested deeper than 512 rows');
    const node =
      { index: nodes.length, point: points[point], hits, ms, size: ms, parent, children: [],
        depth };
    nodes.push(node);
    parent?.children.push(node);
    visit(called, node);
  }
  if (nodes.length < rows.length) throw new Error('a row is its own caller');
  return { nodes, points };
}

/**
 * The JSON of a trace as { nodes, roots, points, size, ms, calls }, nodes with `own`, their time
 * without their children's. Throws as nodesOf() does.
 */
export function treeOf(json) {
  const { nodes, points } = nodesOf(json);
  for (const node of nodes) node.own = ownOf(node.ms, node.children);
  return treeFrom(nodes, points);
}

/** The part of `ms` that is not in its calls; those at the same time can be longer than it. */
export function ownOf(ms, called) {
  return Math.max(0, ms - called.reduce((sum, each) => sum + each.ms, 0));
}

/** Nodes in preorder as a tree. */
export function treeFrom(nodes, points) {
  const roots = nodes.filter((node) => !node.parent);
  place(roots, 0, 1);
  sumPoints(points, nodes);
  const sumOf = (list, field) => list.reduce((sum, each) => sum + each[field], 0);
  return { nodes, roots, points, size: sumOf(roots, 'size'), ms: sumOf(roots, 'ms'),
    calls: sumOf(nodes, 'hits') };
}

/** Gives nodes their place in the graph: `left` and `width`, as shares of the whole. */
function place(roots, left, width) {
  const waiting = [[roots, left, width, roots.reduce((sum, each) => sum + each.size, 0)]];
  while (waiting.length > 0) {
    const [nodes, from, room, size] = waiting.pop();
    const inside = nodes.reduce((sum, each) => sum + each.size, 0);
    // Calls that ran at the same time can be longer together than their caller.
    const whole = Math.max(size, inside);
    let at = from;
    for (const node of nodes) {
      node.left = at;
      node.width = whole > 0 ? room * node.size / whole : room / nodes.length;
      at += node.width;
      if (node.children.length > 0) waiting.push([node.children, node.left, node.width, node.size]);
    }
  }
}

/** "A" to "Z", "AA", ... */
export function letterOf(number) {
  const last = String.fromCharCode(65 + number % 26);
  return number < 26 ? last : letterOf(Math.floor(number / 26) - 1) + last;
}

/** Sums the calls of each point; a call inside another one of the same point counts its own time. */
function sumPoints(points, nodes) {
  for (const point of points) Object.assign(point, { hits: 0, ms: 0, own: 0, nodes: [] });
  const running = new Map(); // of each point, how many callers on the way to here
  const path = [];
  for (const node of nodes) {
    while (path.length > node.depth) {
      const left = path.pop();
      running.set(left.point, running.get(left.point) - 1);
    }
    const { point } = node;
    point.hits += node.hits;
    point.own += node.own;
    if (!(running.get(point) > 0)) point.ms += node.ms;
    point.nodes.push(node);
    running.set(point, (running.get(point) ?? 0) + 1);
    path.push(node);
  }
  byOwn(points).forEach((point, i) => { point.letter = letterOf(i); });
}

/** Those that take the most time themselves come first, or differ most. */
export function byOwn(points) {
  const { abs } = Math;
  return [...points].sort((a, b) => abs(b.own) - abs(a.own) || abs(b.ms) - abs(a.ms)
    || a.index - b.index);
}

/**
 * What stands out: [{ kind, node }], where kind is "wide" (takes long, calls nothing), "deep" (the
 * end of many calls inside each other) or "inset" (takes long beside what it calls).
 */
export function standingOut({ nodes, ms }) {
  const longest = (list, time) =>
    list.filter((node) => ms > 0 && time(node) >= ms * WIDE_SHARE)
      .sort((a, b) => time(b) - time(a)).slice(0, LISTED_MAX);
  const wide = longest(nodes.filter((node) => node.children.length === 0), (node) => node.ms);
  const inset = longest(nodes.filter((node) => node.children.length > 0), (node) => node.own);
  const leaves = nodes.filter((node) => node.children.length === 0);
  const depth = leaves.reduce((sum, node) => sum + node.depth, 0) / Math.max(leaves.length, 1);
  const deepest = leaves.reduce((most, node) => (node.depth > (most?.depth ?? -1) ? node : most),
    null);
  const isSpike = deepest && deepest.depth + 1 >= DEEP_MIN && deepest.depth >= depth;
  return [
    ...wide.map((node) => ({ kind: 'wide', node })),
    ...(isSpike ? [{ kind: 'deep', node: deepest }] : []),
    ...inset.map((node) => ({ kind: 'inset', node })),
  ];
}

/** "shop.Cart.tax". */
export function pointName({ className, method }) {
  return className ? `${className}.${method}` : method;
}
