import assert from 'node:assert';
import test from 'node:test';

import { changeText } from '../../../view/why/pairs.js';
import { readReport } from '../../../view/why/report.js';
import { report, request } from './reports.mjs';

test('how much later a request ends in B', () => {
  assert.strictEqual(changeText({ a: { end: 3000 }, b: { end: 3250 } }), '+250 ms');
  assert.strictEqual(changeText({ a: { end: 3000 }, b: { end: 3000.5 } }), '');
  assert.strictEqual(changeText({ a: { end: 3000 }, b: null }), '');
});

test('what never ended has not ended earlier', () => {
  assert.strictEqual(changeText({ a: { end: 3000 }, b: { end: null } }), '');
  assert.strictEqual(changeText({ a: { end: null }, b: { end: 3000 } }), '');
});

test('the time axis has the start of what never ended', () => {
  const never = request('https://a.test/poll', 'Fetch', 9_000, 0, 0, { end_ms: null });
  const { rows, end } = readReport(JSON.stringify({
    ...report({ causes: false }), rows: [{ a: null, b: never }], no_effect_shown: [] }));
  assert.strictEqual(rows[0].b.end, null);
  assert.ok(end > 9_000);
});
