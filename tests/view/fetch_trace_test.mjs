// What the panel of tools/extension/ has the inspected page fetch.
import assert from 'node:assert';
import test from 'node:test';

import { fetchTrace } from '../../tools/extension/fetch_trace.js';

/** The inspected page is this process. */
const page = {
  eval(code, done) {
    let value;
    try {
      value = (0, eval)(code);
    } catch {
      done(undefined, { isException: true });
      return;
    }
    done(value, undefined);
  },
};

test('traces that are fetched at the same time are not mixed up, and none is kept', async (t) => {
  const { fetch, setTimeout } = globalThis;
  t.after(() => Object.assign(globalThis, { fetch, setTimeout }));
  const asked = [];
  globalThis.fetch = (url) => new Promise((answer) => { asked.push({ url, answer }); });
  const looks = [];
  globalThis.setTimeout = (look) => { looks.push(look); };

  const found = new Map();
  for (const url of ['http://shop.test/1', 'http://shop.test/2']) {
    fetchTrace(page, url, (...result) => { found.set(url, result); });
  }
  assert.strictEqual(asked.length, 2);
  for (const { url, answer } of asked.reverse()) {
    answer(new Response(`trace of ${url}`));
    while (!found.has(url)) {
      await new Promise(setImmediate);
      looks.splice(0).forEach((look) => look());
    }
  }
  for (const [url, result] of found) assert.deepStrictEqual(result, [`trace of ${url}`, null]);
  const kept = Object.getOwnPropertySymbols(globalThis).map(Symbol.keyFor);
  assert.deepStrictEqual(kept.filter((name) => name?.startsWith('reprise.')), []);
});
