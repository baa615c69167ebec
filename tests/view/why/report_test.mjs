import assert from 'node:assert';
import test from 'node:test';

import { differs, factsThatDiffer, readReport, stepsOf } from '../../../view/why/report.js';
import { report } from './reports.mjs';

const read = (options) => readReport(JSON.stringify(report(options)));

test('causes and rows know each other', () => {
  const made = read();
  assert.deepStrictEqual(made.causes.map(({ number }) => number), [1, 2, 3]);
  assert.deepStrictEqual(made.causes[0].rows.map(({ url }) => url),
    ['https://third.page.test/ad.js']);
  assert.deepStrictEqual(made.rows[1].causes, [made.causes[0]]);
  assert.deepStrictEqual(made.causes[1].others, ['h2 lost']);
  assert.deepStrictEqual(made.causes[1].differences.map(({ kind }) => kind),
    ['content', 'protocol']);
  assert.deepStrictEqual(made.all.at(-1).number, 4);
});

test('what is said of two causes comes with them', () => {
  assert.match(read().pairs[0], /^1 and 2 mask each other/);
  assert.deepStrictEqual(read({ measured: false }).pairs, []);
});

test('rows have the requests of both sides on one axis', () => {
  const { rows, end } = read();
  assert.strictEqual(rows[0].a.tlsStart, 38);
  assert.strictEqual(rows[4].b, null);
  assert.strictEqual(rows[5].a, null);
  assert.strictEqual(rows[5].start, 690);
  assert.strictEqual(rows[1].start, 125);
  assert.ok(end > 682 + 350);
});

test('the steps go from A to B without a gap', () => {
  for (const options of [{}, { causes: false }, { measured: false }]) {
    const made = read(options);
    const steps = stepsOf(made);
    assert.strictEqual(steps[0].to, 440);
    let now = 440;
    for (const { from, to } of steps.slice(1, -1)) {
      assert.strictEqual(from, now);
      now = to;
    }
    assert.ok(Math.abs(now - steps.at(-1).to) < 1e-9);
    assert.strictEqual(steps.at(-1).to, 440 + made.total.estimate);
  }
});

test('what is shown to differ has a shown cause, or no partner', () => {
  const made = read();
  assert.deepStrictEqual(made.rows.filter((row) => differs(row, made)).map(({ index }) => index),
    [1, 3, 4, 5]);
});

test('facts of a pair are those that differ', () => {
  const { rows } = read();
  const facts = [['Protocol', ({ protocol }) => protocol], ['Status', ({ status }) => status]];
  assert.deepStrictEqual(factsThatDiffer(rows[2], facts), [['Protocol', 'h2', 'http/1.1']]);
  assert.deepStrictEqual(factsThatDiffer(rows[0], facts), []);
  assert.deepStrictEqual(factsThatDiffer(rows[4], facts), []);
});

test('no requests at all', () => {
  const { end, rows } = readReport(JSON.stringify({ ...report({ causes: false }), rows: [],
    no_effect_shown: [] }));
  assert.deepStrictEqual(rows, []);
  assert.ok(end > 0);
});
