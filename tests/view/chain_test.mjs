import assert from 'node:assert';
import test from 'node:test';

import { chainTimes, criticalChain } from '../../view/page/chain.js';
import { phasesOf } from '../../view/page/phases.js';
import { testSeed } from '../test_seed.mjs';
import { randomFrom, requests } from './request.mjs';

const HTML = 'https://a.test/';
const said = (some, loadEvent = null) => criticalChain(some, loadEvent)
  .map(({ request, why }) => `${request.index}${why && ` ${why}`}`).join(', ');

test('two requests one after the other: the document, then each by its initiator', () => {
  const some = requests(
    { url: HTML, start: 0, firstByte: 50, end: 60 },
    { url: `${HTML}a.js`, type: 'Script', start: 55, end: 150, initiator: HTML },
    { url: `${HTML}b.png`, type: 'Image', start: 150, end: 300, initiator: `${HTML}a.js` },
    { url: `${HTML}c.png`, type: 'Image', start: 56, end: 100, initiator: HTML },
  );
  assert.strictEqual(said(some), '0, 1 started, 2 started');
});

test('what ends after the load event is not what it waited for', () => {
  const some = requests(
    { url: HTML, start: 0, end: 60 },
    { url: `${HTML}a.png`, start: 50, end: 90, initiator: HTML },
    { url: `${HTML}late`, start: 95, end: 500, initiator: HTML },
  );
  assert.strictEqual(said(some, 92), '0, 1 started');
  assert.strictEqual(said(some), '0, 2 started');
});

test(
  'a script or a style sheet that ended meanwhile held the document up, an image did not', () => {
    const some = requests(
      { url: HTML, start: 0, end: 60 },
      { url: `${HTML}a.js`, type: 'Script', start: 20, end: 150, initiator: HTML },
      { url: `${HTML}b.png`, type: 'Image', start: 21, end: 155, initiator: HTML },
      { url: `${HTML}c.png`, type: 'Image', start: 160, end: 300, initiator: HTML },
    );
    assert.strictEqual(said(some), '0, 1 started, 3 held up');
    some[0].end = 170;
    assert.strictEqual(said(some), '0, 3 started', 'the document was still arriving');
  });

test('a redirect comes before what it leads to', () => {
  const some = requests(
    { url: 'http://a.test/', start: 0, end: 30, status: 301 },
    { url: HTML, start: 30, end: 60 },
    { url: `${HTML}a.png`, start: 50, end: 90, initiator: HTML },
  );
  assert.strictEqual(said(some), '0, 1 redirected, 2 started');
});

test('without initiators, each follows what had ended last', () => {
  const some = requests({ start: 0, end: 10 }, { start: 1, end: 20 }, { start: 25, end: 40 },
    { start: 12, end: 13 });
  assert.strictEqual(said(some), '1, 2 ended just before');
});

test('an initiator that is the request itself, or came later, is none', () => {
  const some = requests({ url: HTML, start: 0, end: 10, initiator: HTML },
    { url: `${HTML}b`, start: 5, end: 20, initiator: `${HTML}c` },
    { url: `${HTML}c`, start: 6, end: 7, initiator: `${HTML}b` });
  assert.strictEqual(said(some), '1');
});

test('nothing that ended, no chain', () => {
  assert.strictEqual(said(requests({ start: 0 })), '');
  assert.strictEqual(said([]), '');
});

test('the times of a chain sum to its end, whatever the requests', () => {
  const random = randomFrom(testSeed);
  for (let round = 0; round < 500; round += 1) {
    const some = requests(...Array.from({ length: 1 + Math.floor(random() * 20) }, (_, i) => {
      const start = Math.floor(random() * 100);
      return {
        url: `${HTML}${i}`,
        start,
        firstByte : start + random() * 20,
        end: random() < 0.1 ? null : start + random() * 60,
        type: random() < 0.5 ? 'Script' : 'Image',
        status: random() < 0.1 ? 302 : 200,
        initiator: random() < 0.6 ? `${HTML}${Math.floor(random() * 20)}` : '',
      };
    }));
    const chain = criticalChain(some, random() < 0.5 ? 90 : null);
    if (chain.length === 0) continue;
    for (let i = 1; i < chain.length; i += 1) {
      assert.ok(chain[i - 1].until <= chain[i].from && chain[i - 1].from <= chain[i].from,
        JSON.stringify(some));
    }
    const end = chain.at(-1).until + 7;
    const total =
      Object.values(chainTimes(chain, end, phasesOf)).reduce((sum, each) => sum + each, 0);
    assert.ok(Math.abs(total - end) < 1e-6, `${total} is not ${end}: ${JSON.stringify(some)}`);
  }
});
