import assert from 'node:assert';
import test from 'node:test';

import { csvOf, listedCalls } from '../../../view/explain/calls.js';
import { testSeed } from '../../test_seed.mjs';
import { randomFrom } from '../request.mjs';

const call = (name, given) => ({ kind: 'server', name, detail: '', us: 0, percent: 0, chain_us: 0,
  count: 1, longest_us: 0, bytes: 0, ...given });
const CALLS = [
  call('https://a.test/One.js', { us: 30, kind: 'CDN', detail: 'Fastly' }),
  call('cart: SELECT', { us: 20, chain_us: 90 }),
  call('https://b.test/two', { us: 20, chain_us: 5, kind: 'ads' }),
  call('https://c.test/three', { us: 10, longest_us: 7 }),
];
const places = (how) => listedCalls(CALLS, how).map((each) => CALLS.indexOf(each)).join('');

test('calls are sorted by any column both ways, equal ones stay in order', () => {
  assert.strictEqual(places(), '0123');
  assert.strictEqual(places({ descending: false }), '3120');
  assert.strictEqual(places({ sort: 'chain_us' }), '1203');
  assert.strictEqual(places({ sort: 'longest_us' }), '3012');
  assert.strictEqual(places({ sort: 'kind', descending: false }), '0213');
  assert.strictEqual(places({ sort: 'name', descending: true }), '3201');
});

test('calls are found by all words in name, kind and detail, and filtered by kind', () => {
  assert.strictEqual(places({ text: 'ONE fastly' }), '0');
  assert.strictEqual(places({ text: 'server' }), '13');
  assert.strictEqual(places({ text: 'server three' }), '3');
  assert.strictEqual(places({ kind: 'server' }), '13');
  assert.strictEqual(places({ kind: 'ads', text: 'cart' }), '');
});

test('the file has the listed calls in their order', () => {
  assert.strictEqual(csvOf(listedCalls(CALLS, { text: 'test' }).slice(0, 2)),
    'kind,name,detail,us,percent,chain_us,count,longest_us,bytes\r\n'
      + 'CDN,https://a.test/One.js,Fastly,30,0,0,1,0,0\r\n'
      + 'ads,https://b.test/two,,20,0,5,1,0,0\r\n');
});

/** Reads RFC 4180, one character at a time. */
function readCsv(text) {
  const rows = [];
  let row = [];
  let cell = '';
  let isQuoted = false;
  for (let i = 0; i < text.length; i += 1) {
    if (isQuoted && text[i] === '"' && text[i + 1] === '"') cell += text[i += 1];
    else if (text[i] === '"') isQuoted = !isQuoted;
    else if (isQuoted || !',\r\n'.includes(text[i])) cell += text[i];
    else if (text[i] === ',' || text[i] === '\n') {
      row.push(cell);
      cell = '';
      if (text[i] === '\n') rows.push(row.splice(0));
    }
  }
  return rows;
}

test('a name of any characters is one cell, and never a formula', () => {
  const random = randomFrom(testSeed);
  const characters = [...'=+-@\t\r\n",a<\u202e\' '];
  for (let round = 0; round < 500; round += 1) {
    const text = Array.from({ length: Math.floor(random() * 8) },
      () => characters[Math.floor(random() * characters.length)]).join('');
    const [, row] = readCsv(csvOf([call(text)]));
    assert.strictEqual(row.length, 9);
    assert.strictEqual(row[1], /^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
    assert.ok(!/^[=+\-@\t\r]/.test(row[1]));
  }
});
