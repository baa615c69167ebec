import assert from 'node:assert';
import test from 'node:test';

import { crc32, readFields } from '../../view/trench/fields.js';
import { TrenchGraph } from '../../view/trench/graph.js';
import { byOwn, letterOf, pointName, standingOut, treeOf } from '../../view/trench/tree.js';

/** A trace whose points are a, b, c, ... of the class K. */
const withStack = (stack) => ({
  stack, classes: ['K'], points: [...'abcdefghij'].map((method, i) => [0, method, i - 1]),
});

test('rows become nodes with their own time and their place', () => {
  const tree = treeOf(withStack([[0, 1, 100, [1, 2]], [1, 2, 30, []], [2, 1, 50, [3]],
    [1, 1, 20, []]]));
  assert.deepStrictEqual(tree.nodes.map(({ point, own, depth, left, width }) =>
    [point.method, own, depth, left, width].join(' ')),
  ['a 20 0 0 1', 'b 30 1 0 0.3', 'c 30 1 0.3 0.5', 'b 20 2 0.3 0.2']);
  assert.strictEqual(tree.ms, 100);
  assert.strictEqual(tree.calls, 5);
  const [a, b] = tree.points;
  assert.deepStrictEqual([b.hits, b.ms, b.own, b.line, a.line], [3, 50, 50, 0, -1]);
  assert.deepStrictEqual(byOwn(tree.points).slice(0, 3).map(pointName), ['K.b', 'K.c', 'K.a']);
  assert.strictEqual(b.letter, 'A');
});

test('calls at the same time share the width of their caller', () => {
  const { nodes } = treeOf(withStack([[0, 1, 10, [1, 2]], [1, 1, 10, []], [2, 1, 10, []]]));
  assert.deepStrictEqual(nodes.map(({ left, width }) => [left, width]), [[0, 1], [0, 0.5],
    [0.5, 0.5]]);
  assert.strictEqual(nodes[0].own, 0);
});

test('a call inside another one of its point counts once', () => {
  const { points } = treeOf(withStack([[0, 1, 10, [1]], [0, 1, 8, [2]], [1, 1, 3, [3]],
    [0, 1, 1, []]]));
  assert.deepStrictEqual([points[0].hits, points[0].ms, points[0].own], [3, 10, 8]);
});

test('columns are found by their names, and rows can be inside rows', () => {
  const { nodes } = treeOf({
    stackColumns: ['children', 'ms', 'note', 'point', 'hits'],
    stack: [[[[[], 1, 'x', 0, 2]], 3, 'x', 0, 1]],
    classesColumns: ['file', 'name'], classes: [['a.js', 'A']],
    pointsColumns: ['line', 'method', 'class'], points: [[3, 'a', 0]],
  });
  assert.deepStrictEqual(nodes.map(({ point, hits, ms }) => [pointName(point), hits, ms]),
    [['A.a', 1, 3], ['A.a', 2, 1]]);
});

test('names have a limited length', () => {
  const named = (name, count = 1) =>
    ({ stack: [], classes: [name], points: Array.from({ length: count }, () => [0, name, 1]) });
  const [{ className, method }] = treeOf(named('x'.repeat(1025))).points;
  assert.strictEqual(className, `${'x'.repeat(1023)}…`);
  assert.strictEqual(method, className);
  assert.strictEqual(treeOf(named('x'.repeat(1024))).points[0].method, 'x'.repeat(1024));
  assert.throws(() => treeOf(named('x'.repeat(1024), 65_537)),
    { message: 'the names of its points are too long together' });
  assert.throws(() => treeOf(named('', 1_000_001)), { message: 'more than 1,000,000 points' });
});

test('what is not a trace is refused', () => {
  const fault = (json, why) => assert.throws(() => treeOf(json), { message: why });
  fault(null, 'not a JSON object');
  fault(withStack([[0, 1, 1, [0]]]), 'a row is its own caller');
  fault(withStack([[0, 1, 1, [1]], [0, 1, 1, []], [0, 1, 1, [1]]]), 'row 1 is called twice');
  fault(withStack([[99, 1, 1, []]]), 'row 0 has a point that is not there');
  fault(withStack([[0, -1, 1, []]]), 'row 0: hits must be a number');
  fault(withStack([[0, 1, '1', []]]), 'row 0: ms must be a number from 0 to a day');
  fault(withStack([[0, 1, 1, [7]]]), 'row 0 has a child that is not there');
  fault(withStack([[0, 1, 1, 7]]), 'row 0: children must be an array');
  fault(withStack([7]), 'a row must be an array');
  fault({ classes: [7] }, 'classes[0] must have a name');
  fault({ classes: ['a'], points: [[0, 7]] }, 'points[0] must have a method');
  fault({ points: [[0, 'a']] }, 'points[0] has a class that is not there');
  const deep = (rows) => withStack(Array.from({ length: rows },
    (_, i) => [0, 1, 1, i + 1 < rows ? [i + 1] : []]));
  assert.strictEqual(treeOf(deep(512)).nodes.length, 512);
  fault(deep(513), 'nested deeper than 512 rows');
  fault(withStack(Array.from({ length: 1_000_001 }, () => [0, 1, 1])), 'more than 1,000,000 rows');
});

test('wide bars, deep spikes and insets stand out', () => {
  const spike = Array.from({ length: 9 }, (_, i) => [1, 1, 2, i < 8 ? [4 + i] : []]);
  const tree = treeOf(withStack([[0, 1, 100, [1, 2, 3]], [2, 1, 40, []], [3, 1, 5, []], ...spike]));
  assert.deepStrictEqual(standingOut(tree).map(({ kind, node }) => [kind, node.point.method,
    node.depth]), [['wide', 'c', 1], ['deep', 'b', 9], ['inset', 'a', 0]]);
  const even = treeOf(withStack(Array.from({ length: 20 }, () => [0, 1, 1, []])));
  assert.deepStrictEqual(standingOut(even), []);
  assert.deepStrictEqual(standingOut(treeOf(withStack([[0, 1, 0, []]]))), []);
});

test('a node with very many calls is drawn without those too narrow to see', () => {
  const length = 200_000;
  const rows = Array.from({ length }, () => [1, 1, 1, []]);
  const tree = treeOf(withStack([[0, 1, length, rows.map((_, i) => i + 1)], ...rows]));
  const graph = Object.assign(Object.create(TrenchGraph.prototype), {
    tree, focus: null, chosen: null, bars: { node: () => ({ clientWidth: 1000 }) },
  });
  assert.deepStrictEqual(graph.visible().map(({ index }) => index), [0]);
});

test('keys with a modifier are left to the browser', () => {
  const tree = treeOf(withStack([[0, 1, 10, []]]));
  const done = [];
  const graph = Object.assign(Object.create(TrenchGraph.prototype), {
    tree, focus: null, chosen: null, choose: () => done.push('chosen'),
  });
  const press = (more) => graph.key({
    key: 'ArrowLeft', preventDefault: () => done.push('prevented'), stopPropagation: () => {},
    ...more,
  });
  for (const modifier of ['altKey', 'ctrlKey', 'metaKey']) press({ [modifier]: true });
  assert.deepStrictEqual(done, []);
  press({});
  assert.deepStrictEqual(done, ['prevented', 'chosen']);
});

test('letters continue after Z', () => {
  assert.deepStrictEqual([0, 25, 26, 51, 52, 701, 702].map(letterOf),
    ['A', 'Z', 'AA', 'AZ', 'BA', 'ZZ', 'AAA']);
});

// The example of analysis/trench/TRENCH.md.
const URL_LINE = 'url=/traces/81';
const COUNTS = 'base64lines=5; base64bytes=312; jsoncrc32=4125924094; jsonbytes=232';
const PARTS = [
  '0=eyJ2ZXJzaW9uIjoxLCJzdGFja0NvbHVtbnMiOlsicG9pbnQiLCJoaXRzIiwibXMiLCJjaGlsZHJl',
  '1=biJdLCJzdGFjayI6W1swLDEsNDQzLFsxXV0sWzEsMywxOTkuNSxbXV1dLCJjbGFzc2VzQ29sdW1u',
  '2=cyI6WyJuYW1lIl0sImNsYXNzZXMiOltbInNob3AuQ2FydCJdXSwicG9pbnRzQ29sdW1ucyI6WyJj',
  '3=bGFzcyIsIm1ldGhvZCIsImxpbmUiXSwicG9pbnRzIjpbWzAsInNob3ciLDEyXSxbMCwidGF4Iiwt',
  '4=MV1dfQ==',
];
const headers = (...values) => values.map((value) => ({ name: 'Banky-Trace', value }));

test('fields are read in any form and order', () => {
  const forms = [
    headers(URL_LINE, COUNTS, ...PARTS),
    headers(...[...PARTS].reverse(), COUNTS.toUpperCase(), URL_LINE),
    headers([URL_LINE, COUNTS, ...PARTS].join(', ')),
    headers([URL_LINE, COUNTS, ...PARTS].join('\n')),
    [...headers(URL_LINE, COUNTS, ...PARTS, PARTS[2]), { name: 'Server', value: 'x' }]
      .map(({ name, value }) => ({ name: name.toLowerCase(), value })),
  ];
  for (const form of forms) {
    const { url, json } = readFields(form);
    assert.strictEqual(url, '/traces/81');
    assert.deepStrictEqual(treeOf(json).nodes.map(({ point, hits, ms }) => [point.method, hits,
      ms]), [['show', 1, 443], ['tax', 3, 199.5]]);
  }
  assert.deepStrictEqual(readFields(headers('url=/a,b')), { url: '/a,b', json: null });
  assert.deepStrictEqual(readFields([]), { url: null, json: null });
});

test('damaged fields are refused', () => {
  const fault = (values, message) => assert.throws(() => readFields(headers(...values)),
    { message });
  fault([COUNTS, ...PARTS.slice(1)], 'line 0 of 5 is missing');
  fault(PARTS, 'base64lines is missing');
  fault([COUNTS, ...PARTS, '5=x'], 'it has more lines than 5');
  fault([COUNTS, ...PARTS, '4=MV1dfA=='], 'line 4 comes twice');
  fault([COUNTS.replace('312', '313'), ...PARTS], 'base64bytes is wrong');
  fault([COUNTS.replace('4125924094', '1'), ...PARTS], 'jsoncrc32 is wrong');
  fault([COUNTS.replace('232', '233'), ...PARTS], 'jsonbytes is wrong');
  fault([COUNTS.replace('232', '99999999999'), ...PARTS], 'the JSON is longer than 16 MiB');
  fault([COUNTS, ...PARTS.slice(0, 4), '4=MV1dfQ=!'], 'its lines are not base64');
  fault(['base64lines=x'], 'base64lines must be a number');
  fault(['base64lines=999999999999; base64bytes=4; jsoncrc32=1; jsonbytes=1'],
    'line 0 of 999999999999 is missing');
  fault(['hello'], 'a line is not a URL, a count or a part');
  fault([URL_LINE, 'url=/other'], 'it has two different URLs');
  const text = Buffer.from('{');
  fault([`base64lines=1; base64bytes=4; jsoncrc32=${crc32(text)}; jsonbytes=1`, '0=ew=='],
    'it is not JSON');
});
