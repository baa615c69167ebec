import assert from 'node:assert';
import test from 'node:test';

import { fragmentOf, placeAt } from '../../view/page/place.js';

const loads = [0, 0, 1, 1].map((input, index) => ({ input, index }));
const model = { loads };

test('a place is a load of the page or of a file, and a request of it', () => {
  assert.deepStrictEqual(placeAt(model, '#load=3'), { load: loads[2], request: null });
  assert.deepStrictEqual(placeAt(model, '#input=2&load=2&request=7'),
    { load: loads[3], request: 6 });
  for (const none of ['', '#', '#load=0', '#load=5', '#input=2&load=3', '#load=1&request=x']) {
    assert.strictEqual(placeAt(model, none), null, none);
  }
});

test('a fragment leads to what it was made of', () => {
  for (const load of loads) {
    for (const request of [null, 0, 12]) {
      const of = request === null ? null : { index: request };
      assert.deepStrictEqual(placeAt(model, fragmentOf(load, of)), { load, request });
    }
  }
});
