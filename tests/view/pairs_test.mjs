import assert from 'node:assert';
import test from 'node:test';

import { pairsOf, shiftOf } from '../../view/page/pairs.js';
import { randomFrom, request, requests } from './request.mjs';

const load = (...names) => requests(...names.map((name, at) => ({ url: name, start: at * 10 })));
const told = (pairs) => pairs.map(({ a, b, moved }) =>
  `${a?.url ?? ''}-${b?.url ?? ''}${moved ? ' moved' : ''}`);

test('requests of both loads stand in one row, and one that moved is named', () => {
  const pairs = pairsOf(load('/', 'a', 'b', 'c', 'd'), load('/', 'b', 'c', 'a', 'd'));
  assert.deepStrictEqual(told(pairs), ['/-/', 'a-a moved', 'b-b', 'c-c', 'd-d']);
  assert.strictEqual(shiftOf(pairs[1], 'start'), 20);
  assert.strictEqual(shiftOf(pairs[1], 'end'), null);
  assert.deepStrictEqual(pairs.map(({ index }) => index), [0, 1, 2, 3, 4]);
});

test('what only one load has stands where it started', () => {
  const pairs = pairsOf(load('/', 'x', 'b'), load('/', 'y', 'b', 'z'));
  assert.deepStrictEqual(told(pairs), ['/-/', 'x-', '-y', 'b-b', '-z']);
  assert.strictEqual(shiftOf(pairs[1], 'start'), null);
});

test('repeats of a request are paired in their order', () => {
  assert.deepStrictEqual(told(pairsOf(load('p', 'p', 'q'), load('p', 'q', 'p', 'p'))),
    ['p-p', 'p-p moved', 'q-q', '-p']);
});

test('every request is in one pair, and the fewest are said to have moved', () => {
  const random = randomFrom(11);
  for (let round = 0; round < 200; round += 1) {
    const names = () => Array.from({ length: Math.floor(random() * 30) },
      () => String.fromCharCode(97 + Math.floor(random() * 12)));
    const [a, b] = [load(...names()), load(...names())];
    const pairs = pairsOf(a, b);
    for (const [side, all] of [['a', a], ['b', b]]) {
      const seen = pairs.map((pair) => pair[side]?.index).filter((index) => index !== undefined);
      assert.deepStrictEqual(seen.sort((x, y) => x - y), all.map(({ index }) => index));
    }
    assert.ok(pairs.every(({ start }, i) => i === 0 || pairs[i - 1].start <= start));
    // Those that did not move are in the same order in both.
    const still = pairs.filter((pair) => pair.a && pair.b && !pair.moved);
    for (let i = 1; i < still.length; i += 1) {
      assert.ok(still[i].b.index > still[i - 1].b.index);
    }
  }
});

// One that looks for the place of each request from the start takes minutes.
test('two large loads are paired at once', () => {
  const many = (side) => Array.from({ length: 200_000 }, (_, index) =>
    request({ index, url: index % 2 ? 'both' : `${side}${index}`, start: index }));
  const pairs = pairsOf(many('a'), many('b'));
  assert.strictEqual(pairs.length, 300_000);
  assert.deepStrictEqual(told(pairs.slice(0, 4)), ['a0-', '-b0', 'both-both', 'a2-']);
  assert.ok(pairs.every(({ moved }) => !moved));
});
