import assert from 'node:assert';
import test from 'node:test';

import { readReport } from '../../../view/why/report.js';
import { effectText, headline, scope, stepName, valueText } from '../../../view/why/words.js';
import { report } from './reports.mjs';

const read = (options) => readReport(JSON.stringify(report(options)));

test('values have the unit of the metric, and changes a sign', () => {
  assert.strictEqual(valueText(300, 'ms'), '300 ms');
  assert.strictEqual(valueText(300, 'ms', true), '+300 ms');
  assert.strictEqual(valueText(-31, 'ms', true), '−31.0 ms');
  assert.strictEqual(valueText(0, 'ms', true), '0 ms');
  assert.strictEqual(valueText(12_345.6, 'bytes', true), '+12.3 kB');
  assert.strictEqual(valueText(0.25, 'score', true), '+0.250');
  assert.strictEqual(valueText(-2, 'count', true), '−2');
});

test('an effect has its interval, where it was measured', () => {
  assert.strictEqual(effectText({ estimate: 300, low: 280, high: 320 }, 'ms'),
    '+300 ms (+280 ms to +320 ms)');
  assert.strictEqual(effectText({ estimate: -3, low: null, high: null }, 'ms'), '−3.0 ms');
});

test('the headline names what costs most', () => {
  assert.strictEqual(headline(read()),
    'B is 582 ms slower than A (load event). Largest cause, 441 ms: think time of third.page.test: '
    + '500 ms instead of 10 ms for https://third.page.test/ad.js');
  assert.strictEqual(headline(read({ causes: false })),
    'B is 20.0 ms slower than A (load event): no cause could be shown');
  assert.match(headline(read({ measured: false })), /^B is 582 ms slower than A\. Largest cause, 441 ms: /);
  const made = read();
  made.total.estimate = -5;
  assert.match(headline(made), /^B is 5\.0 ms faster than A/);
});

test('the headline names no difference that the loads do not show', () => {
  const made = read();
  made.total = { estimate: 27.5, low: -16.7, high: 71.8 };
  assert.strictEqual(headline(made),
    'The loads do not show that B differs from A (load event): +27.5 ms (−16.7 ms to +71.8 ms)');
});

test('the headline names no cause of the other sign', () => {
  const made = read({ measured: false });
  made.causes = [{ ...made.causes[2], estimate: -20 }];
  made.total.estimate = 300;
  made.unexplained.estimate = 320;
  assert.strictEqual(headline(made), 'B is 300 ms slower than A: between requests');
  made.unexplained.estimate = -1;
  assert.strictEqual(headline(made), 'B is 300 ms slower than A: no cause could be shown');
  assert.strictEqual(headline({ ...made, isMeasured: true, unexplained: { estimate: 320 } }),
    'B is 300 ms slower than A (load event): no cause could be shown');
  made.total.estimate = -300;
  assert.match(headline(made), /^B is 300 ms faster than A\. Largest cause, 20\.0 ms: line 12/);
  made.causes = [{ ...made.causes[0], estimate: 5 }, made.causes[0]];
  assert.match(headline(made), /Largest cause, 20\.0 ms: line 12/);
  made.total.estimate = 0;
  assert.strictEqual(headline(made), 'B takes as long as A');
});

test('how it was found out', () => {
  assert.match(scope(read()), /measured by 42 loads of A, B and pages between them · made by/);
  assert.match(scope(read({ measured: false })), /critical chains of both timelines/);
  assert.match(scope(read({ interrupted: true })), /interrupted: more loads would tell more/);
});

test('steps that are no cause have names, too', () => {
  const made = read();
  assert.strictEqual(stepName({ kind: 'a' }, made), 'A: before.reprise');
  assert.strictEqual(stepName({ kind: 'unexplained' }, made), 'Unexplained');
  assert.strictEqual(stepName({ kind: 'others' }, made),
    '1 difference without an effect that could be shown');
  const timelines = read({ measured: false });
  assert.strictEqual(stepName({ kind: 'unexplained' }, timelines), 'Between requests');
  assert.strictEqual(stepName({ kind: 'others' }, timelines), '1 more with little change');
});
