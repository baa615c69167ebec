import assert from 'node:assert';
import test from 'node:test';

import { chainOf, chainTimes } from '../../view/page/chain.js';
import { phasesOf } from '../../view/page/phases.js';
import { testSeed } from '../test_seed.mjs';
import { randomFrom, requests } from './request.mjs';

test('a chain names its requests by their rows', () => {
  const some = requests({ start: 0, end: 10 }, { start: 1, end: 20 }, { start: 20, end: 30 });
  const load = { chain: [[0, '', 0, 20], [2, 'started', 20, 30]] };
  assert.deepStrictEqual(chainOf(load, some).map(({ request, why }) => [request.index, why]),
    [[0, ''], [2, 'started']]);
});

test('its times are the phases of its requests, and the browser between them', () => {
  const some = requests({ start: 0, firstByte: 30, end: 40 }, { start: 45, firstByte: 60, end: 70 });
  const chain = chainOf({ chain: [[0, '', 0, 40], [1, 'started', 45, 70]] }, some);
  assert.deepStrictEqual(chainTimes(chain, 75, phasesOf), { wait: 45, receive: 20, browser: 10 });
});

test('the times of a chain sum to its end, whatever the requests', () => {
  const random = randomFrom(testSeed);
  for (let round = 0; round < 500; round += 1) {
    let now = 0;
    const rows = [];
    const some = requests(...Array.from({ length: 1 + Math.floor(random() * 20) }, (_, i) => {
      const start = now + Math.floor(random() * 10);
      const until = start + random() * 60;
      rows.push([i, '', start, until]);
      now = until;
      return {
        start,
        firstByte: start + random() * 20,
        end: random() < 0.1 ? null : until + random() * 20,
      };
    }));
    const end = now + 7;
    const total = Object.values(chainTimes(chainOf({ chain: rows }, some), end, phasesOf))
      .reduce((sum, each) => sum + each, 0);
    assert.ok(Math.abs(total - end) < 1e-6, `${total} is not ${end}: ${JSON.stringify(some)}`);
  }
});
