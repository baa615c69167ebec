import assert from 'node:assert';
import test from 'node:test';

import {
  callTree, costsBy, heaviestKind, pointsOf, readExplanation, sharesOfPoint, sliceName,
} from '../../../view/explain/explanation.js';
import { kindPlace, loadPlace, placeOf, pointPlace } from '../../../view/explain/place.js';
import { layers, placed } from '../../../view/explain/trend.js';
import { testSeed } from '../../test_seed.mjs';
import { randomFrom } from '../request.mjs';
import { explanation, withTextEverywhere } from './explanations.mjs';

const HOSTILE = '</script>\u202e%"&\'';
const read = (given) => readExplanation(JSON.stringify(given));
const sum = (list, of) => list.reduce((all, each) => all + of(each), 0);

test('kinds that occur are ranked by their share of all views', () => {
  const shares = (...kinds) => kinds.map((kind) => ({ kind }));
  const made = read({
    kinds: ['a', 'b', 'c', 'd'].map((name) => ({ name })), points: [],
    trend: [{ shares: shares('d') }],
    slices: [{ tags: {}, shares: shares('c', 'a') },
      { tags: { x: '1', y: '2' }, shares: shares('a', 'c') }],
  });
  assert.deepStrictEqual(made.ranked.map(({ name }) => name), ['c', 'a', 'd']);
  assert.deepStrictEqual(made.ranked.map(({ colour }) => colour), ['k2', 'k0', 'k3']);
  assert.deepStrictEqual(made.slices.map(sliceName), ['All views', 'x 1, y 2']);
});

test('costs are ranked by what is asked for, without those that have none', () => {
  const [a, b, c] = [{ name: 'a', us: 3, bytes: 5 }, { name: 'b', us: 2, bytes: 9 },
    { name: 'c', us: 1, bytes: 0 }];
  const slice = { costs: { host: [a, b, c], entity: [] } };
  assert.deepStrictEqual(costsBy(slice, 'host', 'us'), [a, b, c]);
  assert.deepStrictEqual(costsBy(slice, 'host', 'bytes'), [b, a]);
  assert.deepStrictEqual(costsBy(slice, 'entity', 'us'), []);
});

test('a slice has the points that count in it, not all with its tags', () => {
  const tags = { network: '4g' };
  const made = read({ kinds: [], trend: [],
    slices: [{ tags: {}, shares: [] }, { tags, shares: [] }],
    points: [{ tags, slices: [0, 1] }, { tags: {}, slices: [0] }, { tags, slices: [1] }] });
  assert.deepStrictEqual(made.slices.map((slice) =>
    pointsOf(made, slice).map(({ index }) => index)), [[0, 1], [0, 2]]);
  assert.strictEqual(sliceName({ tags: { network: '4g', country: '' } }),
    'network 4g, country unknown');
});

test('a point leads to its load where the page of `reprise view` shows it', () => {
  const made = { inputs: [{ in_view: null }, { in_view: 1 }], view: 'view.html' };
  assert.strictEqual(loadPlace(made, { input: 1, load: 3 }), 'view.html#input=1&load=3');
  assert.strictEqual(loadPlace(made, { input: 0, load: 3 }), '');
  assert.strictEqual(loadPlace({ ...made, view: null }, { input: 1, load: 3 }), '');
});

test('of each drawn view the shares and the calls add up to its time', () => {
  const made = read(explanation({ seed: testSeed, views: 30, by: ['network'], days: 3 }));
  for (const point of made.points) {
    assert.strictEqual(sum(point.shares, (us) => us), point.window_us);
    const shares = sharesOfPoint(made, point);
    assert.ok(Math.abs(sum(shares, ({ percent }) => percent) - 100) < 1e-9);
    assert.strictEqual(shares[0].kind, heaviestKind(made, point).name);
    const tree = callTree(made, point);
    const outer = tree.filter(({ depth }) => depth === 0);
    assert.ok(Math.abs(sum(tree, ({ own }) => own) - sum(outer, ({ allOwn }) => allOwn)) < 1e-6);
    assert.ok(sum(tree, ({ own }) => own) <= point.window_us / 1000);
  }
});

test('a point without time has no shares and no heaviest kind', () => {
  const made = read({ kinds: [{ name: 'a' }], slices: [], trend: [], points: [] });
  assert.strictEqual(heaviestKind(made, { shares: [0] }), null);
  assert.deepStrictEqual(sharesOfPoint(made, { shares: [0], window_us: 0 }), []);
});

test('calls follow the call around them by start, whatever the parents are', () => {
  const random = randomFrom(testSeed);
  const made = { kinds: [{}], names: [''] };
  for (let round = 0; round < 300; round += 1) {
    const calls = Array.from({ length: 1 + Math.floor(random() * 30) }, () => {
      const start = Math.floor(random() * 1000);
      // Also later calls, the call itself, none, and places that do not exist.
      return [0, 0, start, start + 5, Math.floor(random() * 40) - 5, 2000, 1000];
    });
    const tree = callTree(made, { calls });
    assert.deepStrictEqual(tree.map(({ index }) => index).sort((a, b) => a - b),
      calls.map((_, at) => at));
    const path = [];
    for (const call of tree) {
      path.length = call.depth;
      assert.strictEqual(call.parent, path.at(-1)?.index ?? -1);
      path.push(call);
      const brothers = tree.filter(({ parent }) => parent === call.parent);
      const after = brothers[brothers.indexOf(call) + 1];
      assert.ok(!after || after.start >= call.start);
      const inside = tree.filter(({ parent }) => parent === call.index);
      assert.strictEqual(call.inside, inside.length);
      assert.strictEqual(call.allOwn, 2 + sum(inside, ({ allOwn }) => allOwn));
      assert.strictEqual(call.allChain, 1 + sum(inside, ({ allChain }) => allChain));
    }
  }
});

test('calls as deep as they can be', () => {
  const calls = Array.from({ length: 2000 }, (_, at) => [0, 0, at, 5000, at - 1, 1, 0]);
  assert.strictEqual(callTree({ kinds: [{}], names: [''] }, { calls }).at(-1).depth, 1999);
});

test('a call with very many calls inside it', () => {
  const calls = Array.from({ length: 200_001 }, (_, at) =>
    [0, 0, at, 300_000, at === 0 ? -1 : 0, 1, 0]);
  const tree = callTree({ kinds: [{}], names: [''] }, { calls });
  assert.deepStrictEqual([tree.length, tree[1].index, tree.at(-1).index], [200_001, 1, 200_000]);
});

test('links lead to kinds and points, also to those with hostile names', () => {
  const made = read(withTextEverywhere(explanation({ views: 3 }), HOSTILE));
  for (const kind of made.kinds) assert.strictEqual(placeOf(made, kindPlace(kind.name)).kind, kind);
  for (const point of made.points) {
    assert.strictEqual(placeOf(made, pointPlace(point)).point, point);
  }
  assert.strictEqual(pointPlace(made.points[0]), '#point=1');
  for (const nowhere of ['', '#', '#kind=', '#kind=%', '#kind=none', '#point=0', '#point=4',
    '#point=-1', '#point=length', '#point=1e0', '#calls', '#kind=__proto__']) {
    const { kind, point } = placeOf(made, nowhere);
    assert.deepStrictEqual([kind, point], [undefined, undefined], nowhere);
  }
});

test('days stand at their date and are piled in the same order', () => {
  const day = (name, ...shares) => ({ day: name,
    shares: shares.map(([kind, us, percent]) => ({ kind, us, percent })) });
  const days = placed([day('2026-10-24', ['b', 30, 75], ['a', 10, 25]), day('2026-10-27')]);
  assert.deepStrictEqual(days.map(({ place }) => place), [0, 3]);
  const years = placed([day('2017-03-21'), day('2018-10-20'), day('2023-03-30')]);
  assert.deepStrictEqual(years.map(({ place }) => place), [0, 1, 2]);
  const kinds = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const piled = (scale) => layers(kinds, days[0], scale)
    .map(({ kind, from, to }) => `${kind.name} ${from}-${to}`);
  assert.deepStrictEqual(piled('time'), ['a 0-10', 'b 10-40']);
  assert.deepStrictEqual(piled('percent'), ['a 0-25', 'b 25-100']);
  assert.deepStrictEqual(layers(kinds, days[1], 'time'), []);
});
