import assert from 'node:assert';
import test from 'node:test';

import { pointName, treeOf } from '../../view/trench/tree.js';
import { longerTrace, pointChanges, wholeTrace } from '../../view/trench/whole.js';

const trace = (host, stack) => ({ host, trace: {
  stack, classes: ['K'], points: [...'abc'].map((method) => [0, method, 1]) } });
const told = (json) => treeOf(json).nodes.map(({ point, hits, ms, depth }) =>
  `${'>'.repeat(depth)}${pointName(point)} ${hits} ${ms}`);

const A = [trace('x.test', [[0, 1, 10, [[1, 2, 6, []]]]]), trace('y.test', [[2, 1, 3, []]]),
  trace('x.test', [[0, 1, 20, [[1, 1, 4, []], [2, 1, 9, []]]]])];

test('the traces of a host are one, with calls of one caller added up', () => {
  assert.deepStrictEqual(told(wholeTrace(A)), ['x.test 2 30', '>K.a 2 30', '>>K.b 3 10',
    '>>K.c 1 9', 'y.test 1 3', '>K.c 1 3']);
  assert.deepStrictEqual(told(wholeTrace([])), []);
});

test('the same point under two callers stays apart', () => {
  assert.deepStrictEqual(told(wholeTrace([trace('x.test', [[0, 1, 5, [[2, 1, 2, []]]],
    [1, 1, 4, [[2, 1, 1, []]]]])])), ['x.test 1 9', '>K.a 1 5', '>>K.c 1 2', '>K.b 1 4',
    '>>K.c 1 1']);
});

test('what takes longer has the time that it takes longer', () => {
  const b = [trace('x.test', [[0, 2, 30, [[1, 5, 25, []], [2, 1, 2, []]]]]),
    trace('z.test', [[2, 1, 8, []]])];
  assert.deepStrictEqual(told(longerTrace(A, b)),
    ['x.test 1 15', '>K.a 2 15', '>>K.b 5 15', 'z.test 1 8', '>K.c 1 8']);
  assert.deepStrictEqual(told(longerTrace(A, A)), []);
});

test('methods by the change of their own time', () => {
  const b = [trace('x.test', [[0, 2, 30, [[1, 5, 25, []]]]])];
  assert.deepStrictEqual(pointChanges(A, b), [{ name: 'K.b', a: 10, b: 25 },
    { name: 'K.c', a: 12, b: 0 }, { name: 'K.a', a: 11, b: 5 }]);
  assert.deepStrictEqual(pointChanges(A, A), []);
});

test('a trace as deep as can be has a host above it', () => {
  const stack = Array.from({ length: 512 }, (_, i) => [0, 1, 1, i < 511 ? [i + 1] : []]);
  const { nodes } = treeOf(wholeTrace([trace('x.test', stack)]));
  assert.strictEqual(nodes.length, 512);
});

test('a trace that cannot be read is skipped', () => {
  assert.deepStrictEqual(told(wholeTrace([trace('x.test', [[9, 1, 1, []]]), ...A.slice(1, 2)])),
    ['y.test 1 3', '>K.c 1 3']);
});
