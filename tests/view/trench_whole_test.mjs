import assert from 'node:assert';
import test from 'node:test';

import { byOwn, pointName, treeOf } from '../../view/trench/tree.js';
import { differenceTree, wholeTree } from '../../view/trench/whole.js';
import {
  DIFFERENCE, isIncomplete, labelText, skippedText, WHOLE,
} from '../../view/trench/words.js';
import { randomFrom } from './request.mjs';

const trace = (host, stack, request) => ({ host, request, trace: {
  stack, classes: ['K'], points: [...'abc'].map((method) => [0, method, 1]) } });
const told = ({ nodes }) => nodes.map(({ point, hits, ms, depth }) =>
  `${'>'.repeat(depth)}${pointName(point)} ${hits} ${ms}`);

const A = [trace('x.test', [[0, 1, 10, [[1, 2, 6, []]]]], 'first'),
  trace('y.test', [[2, 1, 3, []]], 'second'),
  trace('x.test', [[0, 1, 20, [[1, 1, 4, []], [2, 1, 9, []]]]], 'third')];
const B = [trace('x.test', [[0, 2, 30, [[1, 5, 25, []], [2, 1, 2, []]]]]),
  trace('z.test', [[2, 1, 8, []]])];

test('the traces of a host are one, with calls of one caller added up', () => {
  assert.deepStrictEqual(told(wholeTree(A)), ['x.test 2 30', '>K.a 2 30', '>>K.b 3 10',
    '>>K.c 1 9', 'y.test 1 3', '>K.c 1 3']);
  assert.deepStrictEqual(told(wholeTree([])), []);
});

test('a node has the requests that it is from, with their times', () => {
  const from = wholeTree(A).nodes.map((node) => [...node.from].flat().join(' '));
  assert.deepStrictEqual(from, ['first 10 third 20', 'first 10 third 20', 'first 6 third 4',
    'third 9', 'second 3', 'second 3']);
});

test('the same point under two callers stays apart', () => {
  assert.deepStrictEqual(told(wholeTree([trace('x.test', [[0, 1, 5, [[2, 1, 2, []]]],
    [1, 1, 4, [[2, 1, 1, []]]]])])), ['x.test 1 9', '>K.a 1 5', '>>K.c 1 2', '>K.b 1 4',
    '>>K.c 1 1']);
});

test('a trace as deep as can be has a host above it', () => {
  const stack = Array.from({ length: 512 }, (_, i) => [0, 1, 1, i < 511 ? [i + 1] : []]);
  assert.strictEqual(wholeTree([trace('x.test', stack)]).nodes.length, 513);
});

test('a trace that cannot be read is skipped and counted', () => {
  const tree = wholeTree([trace('x.test', [[9, 1, 1, []]]), { host: 'x.test', trace: 'damaged' },
    ...A.slice(1, 2)]);
  assert.deepStrictEqual(told(tree), ['y.test 1 3', '>K.c 1 3']);
  assert.strictEqual(tree.unread, 2);
});

test('a difference has what B has more and less, the larger changes first', () => {
  const tree = differenceTree(A, B);
  assert.deepStrictEqual(told(tree), ['x.test -1 0', '>K.a 0 0', '>>K.b 2 15', '>>K.c 0 -7',
    'z.test 1 8', '>K.c 1 8', 'y.test -1 -3', '>K.c -1 -3']);
  assert.strictEqual(tree.ms, 5);
  const [, a, b, c, z] = tree.nodes;
  // What is not in its calls: 11 ms in A, 3 ms in B.
  assert.deepStrictEqual([a.own, a.size, b.size, c.size], [-8, 30, 15, 7]);
  assert.deepStrictEqual([z.a.isThere, z.b.isThere], [false, true]);
  assert.deepStrictEqual(byOwn(DIFFERENCE.listed(tree.points))
    .map((point) => [pointName(point), point.ownOfA, point.ownOfB, point.own]),
  [['K.b', 10, 25, 15], ['K.a', 11, 3, -8], ['K.c', 12, 10, -2]]);
  assert.deepStrictEqual(DIFFERENCE.standingOut(tree).map(({ kind, node }) =>
    `${kind} ${pointName(node.point)} ${node.own}`),
  ['longer K.b 15', 'longer K.c 8', 'shorter K.a -8', 'shorter K.c -7']);
});

test('calls at the same time in A that are not so in B make their caller longer', () => {
  const calls = [[1, 1, 10, []], [2, 1, 10, []]];
  const tree = differenceTree([trace('x.test', [[0, 1, 10, calls]])],
    [trace('x.test', [[0, 1, 20, calls]])]);
  assert.deepStrictEqual(tree.nodes.map(({ ms, own, size }) => [ms, own, size]),
    [[10, 0, 10], [10, 0, 10], [0, 0, 0], [0, 0, 0]]);
});

test('a method whose line moved is the same method', () => {
  const [moved] = A.slice(1, 2).map((each) => ({ ...each, trace: { ...each.trace,
    points: each.trace.points.map(([at, method, line]) => [at, method, line + 40]) } }));
  const tree = differenceTree(A.slice(1, 2), [moved]);
  assert.deepStrictEqual(told(tree), ['y.test 0 0', '>K.c 0 0']);
  assert.strictEqual(tree.size, 0);
});

/** Traces of up to `most` requests to three hosts, in whole microseconds. */
function randomTraces(random, most) {
  const upTo = (count) => Math.floor(random() * count);
  const row = (depth) => [upTo(3), 1 + upTo(4), upTo(100_000) / 1000,
    depth < 5 ? Array.from({ length: upTo(4) }, () => row(depth + 1)) : []];
  return Array.from({ length: upTo(most) }, () =>
    trace(`${upTo(3)}.test`, Array.from({ length: upTo(4) }, () => row(0))));
}

/** By host and path: "x.test/K.a" to its node. */
function byPath(tree) {
  const paths = new Map();
  for (const node of tree.nodes) {
    const names = [];
    for (let at = node; at; at = at.parent) names.unshift(pointName(at.point));
    paths.set(names.join('/'), node);
  }
  return paths;
}

test('what B has is what A has and the difference, on every path and by every point', () => {
  const random = randomFrom(22);
  const near = (one, other, what) => assert.ok(Math.abs(one - other) < 0.01, what);
  for (let round = 0; round < 100; round += 1) {
    const [a, b] = [randomTraces(random, 8), randomTraces(random, 8)];
    const tree = differenceTree(a, b);
    const [ofA, ofB] = [wholeTree(a), wholeTree(b)];
    const [pathsOfA, pathsOfB, changes] = [ofA, ofB, tree].map(byPath);
    assert.deepStrictEqual(new Set(changes.keys()),
      new Set([...pathsOfA.keys(), ...pathsOfB.keys()]));
    for (const [path, change] of changes) {
      for (const field of ['hits', 'ms', 'own']) {
        near((pathsOfA.get(path)?.[field] ?? 0) + change[field],
          pathsOfB.get(path)?.[field] ?? 0, `${path} ${field}`);
      }
      const inside = change.children.reduce((sum, { size }) => sum + size, 0);
      assert.ok(change.size >= inside && change.size >= Math.abs(change.ms), path);
    }
    near(ofA.ms + tree.ms, ofB.ms, 'all');
    const ownOf = (whole, name) => whole.points.filter((point) => pointName(point) === name)
      .reduce((sum, { own }) => sum + own, 0);
    for (const point of tree.points) {
      const name = pointName(point);
      near(point.ownOfA, ownOf(ofA, name), `${name} of A`);
      near(point.ownOfB, ownOf(ofB, name), `${name} of B`);
      near(point.ownOfB - point.ownOfA, point.own, name);
    }
    assert.strictEqual(differenceTree(a, a).size, 0);
    // Nothing is lost by adding up.
    near(ofA.ms, a.reduce((sum, each) => sum + treeOf(each.trace).ms, 0), 'whole');
  }
});

test('a side that is incomplete is said to be so', () => {
  assert.strictEqual(skippedText('A', { too_large: 0, unreadable: 0, missing: 0 }), '');
  assert.strictEqual(skippedText('A'), '');
  assert.strictEqual(skippedText('B', { too_large: 2, unreadable: 1, missing: 1200 }),
    'Server traces of B are skipped: 2 too large for the page, 1 unreadable, 1,200 not fetched.');
  const none = { too_large: 0, unreadable: 0, missing: 0 };
  assert.deepStrictEqual([isIncomplete(), isIncomplete({ a: none, b: none })], [false, false]);
  for (const why of Object.keys(none)) {
    assert.ok(isIncomplete({ a: none, b: { ...none, [why]: 1 } }), why);
    assert.ok(isIncomplete({ a: { [why]: 1 } }), why);
  }
  const { unreadOfA, unreadOfB } = differenceTree(A, [...B, { host: 'x.test', trace: 'broken' }]);
  assert.deepStrictEqual([unreadOfA, unreadOfB], [0, 1]);
});

test('bars and lists say which side has more', () => {
  const tree = differenceTree(A, B);
  const says = tree.nodes.map((node) => DIFFERENCE.describe(node));
  assert.deepStrictEqual([0, 2, 5, 7].map((at) => says[at]), [
    'x.test: as long in B, 1 request fewer (A 30.0 ms in 2 requests, B 30.0 ms in 1 request)',
    'K.b, line 1: 15.0 ms longer in B, 2 calls more, +15.0 ms of its own '
      + '(A 10.0 ms in 3 calls, B 25.0 ms in 5 calls)',
    'K.c, line 1: only in B, 8.0 ms in 1 call', 'K.c, line 1: only in A, 3.0 ms in 1 call']);
  assert.deepStrictEqual(tree.nodes.map(({ ms }) => DIFFERENCE.barClass(ms)),
    ['even', 'even', 'more', 'less', 'more', 'more', 'less', 'less']);
  assert.strictEqual(DIFFERENCE.said(tree), 'B’s servers take 5.0 ms more than A’s: '
    + '23.0 ms more in some methods, 18.0 ms less in others');
  assert.strictEqual(labelText(tree.nodes[3], DIFFERENCE, 300), 'C c · −7.0 ms');
  assert.strictEqual(labelText(tree.nodes[2], DIFFERENCE, 100), 'A +15.0 ms, +2 calls');
  const [host, a] = wholeTree(A).nodes;
  assert.strictEqual(labelText(host, WHOLE, 300), 'x.test · 30.0 ms in 2 requests');
  assert.strictEqual(labelText(a, WHOLE, 100), 'B 30.0 ms in 2 calls');
  assert.strictEqual(WHOLE.said(wholeTree(A)),
    '33.0 ms for 3 requests to 2 hosts, by the servers’ clocks');
});
