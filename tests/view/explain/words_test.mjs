import assert from 'node:assert';
import test from 'node:test';

import {
  costsNote, dayText, headline, listText, percentText, roughTime, scope, sliceText, topShares,
  trendNote, whenText,
} from '../../../view/explain/words.js';

const sliceOf = (...percents) => ({
  tags: {}, views: 2, window_us: { mean: 3_800_000 },
  shares: percents.map(([kind, percent]) => ({ kind, percent, us: percent * 38_000 })),
});
const plain = (text) => text.replaceAll('\u00a0', ' ');

test('the headline names the kinds that half of the time goes to', () => {
  const said = (...percents) => plain(headline(sliceOf(...percents)));
  assert.strictEqual(said(['ads', 27.4], ['server', 23.1], ['CDN', 20]),
    'Half of the 3.8 s go to ads (27 %) and server (23 %)');
  assert.strictEqual(said(['ads', 66.6], ['server', 33]),
    'Two thirds of the 3.8 s go to ads (67 %)');
  assert.strictEqual(said(['ads', 100]), 'Nearly all of the 3.8 s go to ads (100 %)');
  assert.strictEqual(said(['a', 20], ['b', 15], ['c', 13], ['d', 12]),
    'Half of the 3.8 s go to a (20 %), b (15 %) and c (13 %)');
  assert.strictEqual(said(['a', 12], ['b', 9], ['c', 8], ['d', 8]),
    '29 % of the 3.8 s go to a (12 %), b (9.0 %) and c (8.0 %)');
});

test('the headline of nothing', () => {
  assert.strictEqual(headline(undefined), 'No views to explain');
  assert.strictEqual(headline({ ...sliceOf(), views: 0 }), 'No views to explain');
  assert.strictEqual(headline({ ...sliceOf(['ads', 0]), window_us: { mean: 0 } }),
    'These views took no time');
});

test('times and percents in words', () => {
  assert.deepStrictEqual(
    [0, 400, 9_949, 840_000, 999_600, 3_849_000, 9_960_000, 38_400_000].map(roughTime).map(plain),
    ['0 ms', '0.4 ms', '9.9 ms', '840 ms', '1.0 s', '3.8 s', '10 s', '38 s']);
  assert.deepStrictEqual([0, 0.01, 0.06, 9.94, 9.96, 38.5, 100].map(percentText).map(plain),
    ['0 %', '< 0.1 %', '0.1 %', '9.9 %', '10 %', '39 %', '100 %']);
  assert.deepStrictEqual([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(listText),
    ['', 'a', 'a and b', 'a, b and c']);
  assert.strictEqual(whenText(Date.UTC(2026, 10, 22, 13, 4, 5)), '2026-11-22 13:04:05');
  assert.deepStrictEqual([null, undefined, NaN, 1e300].map(whenText), ['', '', '', '']);
  assert.strictEqual(dayText('2026-11-02'), '2 Nov');
  assert.strictEqual(dayText('2026-11-02', 400), '2 Nov 2026');
});

test('the costs of headers and settings are not said to add up', () => {
  for (const cause of ['host', 'entity', 'script']) assert.match(costsNote(cause), /add up;/);
  assert.doesNotMatch(costsNote('setting'), /add up/);
  assert.match(costsNote('setting'), /counts in full under each/);
});

test('the trend says of which views it is', () => {
  assert.strictEqual(trendNote({ slowest_percent: null }),
    'Even shares of all views, mean of a view.');
  assert.strictEqual(trendNote({ slowest_percent: 10 }),
    "Even shares of the slowest 10 % of each day’s views, mean of a view.");
});

test('what was explained, and what a slice is', () => {
  const explained = { inputs: [{ name: 'a.har', views: 3 }], views: 3, views_read: 3, where: null,
    slowest_percent: null };
  assert.strictEqual(scope(explained), '3 views of a.har');
  assert.strictEqual(
    scope({ ...explained, inputs: [{}, {}], views: 1, views_read: 10, where: 'a=b',
      slowest_percent: 10 }),
    '1 view of 2 files · the slowest 10 % · where a=b · 10 views read');
  const slice = { ...sliceOf(['ads', 60], ['none', 0]), tags: { network: '4g', country: 'DE' } };
  assert.strictEqual(plain(sliceText(slice)),
    'network 4g, country DE: 2 views, 3.8 s on average; ads 60 %');
  assert.strictEqual(plain(topShares(sliceOf(['a', 50], ['b', 30], ['c', 20]).shares, 2)),
    'a 50 %, b 30 %');
});
