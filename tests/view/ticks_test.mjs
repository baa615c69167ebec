import { scaleLinear } from 'd3-scale';
import assert from 'node:assert';
import test from 'node:test';

import { tickText, ticksOf } from '../../view/page/ticks.js';
import { randomFrom } from './request.mjs';

function texts(unit, from, to, count) {
  const ticks = ticksOf(scaleLinear().domain([from, to]), count, unit);
  return ticks.map(tickText(unit, ticks));
}

test('ticks have as many digits as they need', () => {
  assert.deepStrictEqual(texts('ms', 0, 2000, 4), ['0 ms', '500 ms', '1,000 ms', '1,500 ms',
    '2,000 ms']);
  assert.deepStrictEqual(texts('ms', 1000.1, 1000.4, 3), ['1,000.1 ms', '1,000.2 ms',
    '1,000.3 ms', '1,000.4 ms']);
  assert.deepStrictEqual(texts('ms', 12_000, 12_010, 2), ['12.000 s', '12.005 s', '12.010 s']);
  assert.deepStrictEqual(texts('bytes', 1_000_000, 1_000_400, 2), ['1.0000 MB', '1.0002 MB',
    '1.0004 MB']);
  assert.deepStrictEqual(texts('count', 1, 3, 8), ['1', '2', '3']);
  assert.deepStrictEqual(texts('score', 0, 0.02, 2), ['0.00', '0.01', '0.02']);
});

test('no two ticks of an axis have the same text', () => {
  const random = randomFrom(7);
  for (let i = 0; i < 2000; i += 1) {
    const from = 10 ** (random() * 6);
    const to = from * (1 + 10 ** (random() * 8 - 6));
    for (const unit of ['ms', 'bytes', 'count', 'score']) {
      const all = texts(unit, from, to, 2 + Math.floor(random() * 10));
      assert.strictEqual(new Set(all).size, all.length, `${unit} ${from} ${to}: ${all}`);
    }
  }
});
