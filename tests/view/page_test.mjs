import assert from 'node:assert';
import test from 'node:test';

import { endText } from '../../view/page/details.js';
import { chosenFrames } from '../../view/page/filmstrip.js';
import { bytesText, hostOf, msText, nameOf, shown } from '../../view/page/format.js';
import { milestonesOf, readModel, requestsOf } from '../../view/page/model.js';
import { estimatedRate, firstPacket, inFlight, linkSeries } from '../../view/page/network.js';
import { listed, typesOf } from '../../view/page/order.js';
import { groupsOf, medianInterval, summaryOf } from '../../view/page/statistics.js';
import { totalsBy } from '../../view/page/tables.js';
import { barText } from '../../view/page/timeline.js';
import { reasonOf } from '../../view/page/verdict.js';
import { request, requests } from './request.mjs';

test('packed requests become objects by their columns', () => {
  const model = readModel(JSON.stringify({
    text_columns: ['url', 'mime_type'],
    number_columns: ['status', 'dns_start_ms'],
    metrics: [
      { key: 'load_event_ms', name: 'Load event', mark: 'Load' },
      { key: 'first_paint_ms', name: 'First paint', mark: 'FP' },
      { key: 'last_load_ms', name: 'Last load time', mark: 'LLT' },
      { key: 'request_count', name: 'Requests', mark: '' },
    ],
    texts: ['u', 'm'],
    inputs: [],
    loads: [{
      requests: [[0, 1, 200, null, 1]],
      traces: [[0, 'why']],
      metrics: { load_event_ms: 9, first_paint_ms: 4, last_load_ms: null, request_count: 1 }
    }],
  }));
  assert.deepStrictEqual(requestsOf(model, model.loads[0]),
    [{ index: 0, url: 'u', mimeType: 'm', status: 200, dnsStart: null, fromCache: true,
      trace: 'why', heads: null }]);
  assert.deepStrictEqual(milestonesOf(model, model.loads[0]).map(({ short, time }) => [short, time]),
    [['FP', 4], ['Load', 9]]);
});

test('heads that did not fit are not replaced by those of a recording', () => {
  const load = (more) => ({ requests: [[0, 1]], metrics: {}, ...more });
  const model = (second) => readModel(JSON.stringify({
    text_columns: ['url', 'method'], number_columns: [], metrics: [],
    texts: ['u', 'GET', 'GET / h2'], inputs: [{ kind: 'archive' }],
    loads: [load({ input: 0, heads: [[0, [2], [2]]] }), load({ input: 0, heads: [], ...second })],
  }));
  const headsIn = (read) => requestsOf(read, read.loads[1])[0].heads;
  assert.strictEqual(headsIn(model({ heads_left_out: 1 })), null);
  assert.strictEqual(headsIn(model({ heads_left_out: 0 })).recorded, true);
});

test('what cannot be seen is shown, the rest stays as it is', () => {
  assert.strictEqual(
    shown('a\u202egnp.\u2028\u0000</script>é漢'), 'a\\u202egnp.\\u2028\\u0000</script>é漢');
  assert.strictEqual(shown('a\nb'), 'a b');
  assert.strictEqual(shown(null), '');
});

test('names and hosts of URLs, also of strange ones', () => {
  assert.deepStrictEqual(
    [
      'https://a.test/x/y.js?v=1', 'https://a.test/', 'https://a.test/d/', 'https://a.test?q',
      'nonsense', ''
    ].map((url) => [hostOf(url), nameOf(url)]),
    [
      ['a.test', 'y.js?v=1'], ['a.test', '/'], ['a.test', 'd/'], ['a.test', '/?q'],
      ['', 'nonsense'], ['', '/']
    ]);
});

test('a page without values, or with many failed loads, is undecided for a reason', () => {
  assert.strictEqual(reasonOf({ metrics: [], few_count: false }),
    'no load has a value of what is compared');
  assert.match(reasonOf({ metrics: [{}], few_count: true }), /^so many loads failed/);
  assert.strictEqual(reasonOf({ metrics: [{}], few_count: false }), '');
});

test('numbers in words', () => {
  assert.deepStrictEqual([null, 0, 0.5, 99.94, 1234.5, 12_345].map(msText),
    ['–', '0 ms', '0.50 ms', '99.9 ms', '1,235 ms', '12.35 s']);
  assert.deepStrictEqual([null, 0, 999, 1500, 250_000, 12e6].map(bytesText),
    ['–', '0 B', '999 B', '1.5 kB', '250 kB', '12.0 MB']);
});

test('filters take all words, and sorts keep the order of starts among equals', () => {
  const some = requests(
    {
      url: 'https://a.test/one.js',
      type: 'Script',
      start: 5,
      end: 9,
      encodedBytes : 10,
      connection: '10'
    },
    {
      url: 'https://b.test/two.js',
      type: 'Script',
      start: 1,
      end: 20,
      encodedBytes : 30,
      status: 404,
      connection: '9'
    },
    {
      url: 'https://a.test/three.png',
      type: 'Image',
      start: 3,
      end: null,
      encodedBytes : 10,
      connection: '9'
    },
  );
  const indices = (how) => listed(some, how).map((each) => each.index).join('');
  assert.strictEqual(indices({}), '120');
  assert.strictEqual(indices({ text: ' JS a.TEST ' }), '0');
  assert.strictEqual(indices({ text: '404' }), '1');
  assert.strictEqual(indices({ type: 'Image' }), '2');
  assert.strictEqual(indices({ only: new Set([0]) }), '0');
  assert.strictEqual(indices({ sort: 'size' }), '120');
  assert.strictEqual(indices({ sort: 'end' }), '012');
  assert.strictEqual(indices({ sort: 'duration' }), '210');
  assert.strictEqual(indices({ sort: 'connection' }), '120');
  assert.strictEqual(indices({ sort: 'host' }), '201');
  assert.deepStrictEqual(typesOf(some), [['Script', 2], ['Image', 1]]);
});

test('the interval of a median is exact: ranks of the binomial distribution', () => {
  const ranks = (n) => medianInterval(Array.from({ length: n }, (_, i) => i + 1));
  // Ranks as tables of the sign test have them.
  assert.deepStrictEqual([5, 6, 10, 20, 30, 100].map(ranks),
    [null, [1, 6], [2, 9], [6, 15], [10, 21], [40, 61]]);
  assert.deepStrictEqual(ranks(1000), [469, 532]);
});

test('a summary leaves out loads without the metric', () => {
  const loads = [1, 3, null, 2].map((value) => ({ metrics: { load_event_ms: value } }));
  const { n, median, lowest, highest, cv, interval } = summaryOf(loads, 'load_event_ms');
  assert.deepStrictEqual({ n, median, lowest, highest, cv, interval },
    { n: 3, median: 2, lowest: 1, highest: 3, cv: 0.5, interval: null });
  assert.strictEqual(summaryOf(loads, 'misses'), null);
});

test('groups are named by what tells them apart, and count whole loads only', () => {
  const load = (protocol, more) => ({
    input: 0,
    outcome: 'loaded',
    configuration: { browser: 'chromium', protocol, link: 'none', cache: 'cold' },
    ...more
  });
  const groups = groupsOf(
    [
      load('h1', { warm_up: true }), load('h2'), load('h1'), load('h2', { outcome: 'timed-out' })
    ],
    [{ name: 'a.json' }]);
  assert.deepStrictEqual(
    groups.map(({ name, loads, measured }) => [name, loads.length, measured.length]),
    [['h1', 2, 1], ['h2', 2, 1]]);
  const two = groupsOf(
    [load('h1'), load('h1', { input: 1 })], [{ name: 'a.json' }, { name: 'b.json' }]);
  assert.deepStrictEqual(two.map((group) => group.name), ['a.json', 'b.json']);
  assert.strictEqual(groupsOf([load('h1')], [{ name: 'a.json' }])[0].name, 'all loads');
});

test('the estimated rate carries all bytes', () => {
  const some = requests({ firstByte: 10, end: 20, encodedBytes: 5000 },
    { firstByte: 15, end: 15, encodedBytes: 300 },
    { firstByte: 0, end: 99, fromCache: true });
  const points = estimatedRate(some, 100, 50);
  const bytes = points.reduce((sum, { value }) => sum + (value * 2) / 1000 / 8, 0);
  assert.ok(Math.abs(bytes - 5300) < 1e-6, bytes);
  assert.strictEqual(points[3].value, 0);
});

test('requests in flight go up and down to none', () => {
  const points = inFlight(
    requests({ start: 1, end: 5 }, { start: 3, end: 5 }, { start: 5, end: 6 }, { start: 4 }),
    10);
  assert.deepStrictEqual(
    points.map(({ time, value }) => `${time}:${value}`).join(' '), '0:0 1:1 3:2 4:3 5:2 6:1 10:0');
});

test('the record of a link is laid so that its first packet is the first of the load', () => {
  const timeline = {
    width_ms: 10,
    up: { packets: [0, 0, 3, 1] },
    down: { rate_bps: [0, 0, 5, 9] }
  };
  const first = firstPacket(requests({ start: 0, connectStart: 4 }, { start: 0, dnsStart: 2 }));
  assert.strictEqual(first, 2);
  assert.deepStrictEqual(linkSeries(timeline, 'down', 'rate_bps', first),
    [{ time: -8, value: 0 }, { time: 2, value: 5 }, { time: 12, value: 9 }]);
  assert.strictEqual(linkSeries(timeline, 'down', 'queue_bytes', first), null);
  assert.strictEqual(linkSeries(null, 'down', 'rate_bps', first), null);
});

test('totals by host', () => {
  const some = [
    request({ sendEnd: 0, sendStart: 0, firstByte: 10, end: 12 }),
    request({ status: 500, firstByte: 30, end: 31, encodedBytes: 5, connection: '2' }),
    request({ url: 'https://b.test/', encodedBytes: 9999, connection: '', protocol: '' })
  ];
  const totals = totalsBy(some, new Map(), (each) => hostOf(each.url));
  assert.deepStrictEqual(
    totals.map(({ name, requests: count, failed, bytes, connections, wait, think }) => [name,
                 count, failed, bytes, connections, wait, think]),
    [['b.test', 1, 0, 9999, null, null, null], ['a.test', 2, 1, 1005, 2, 20, null]]);
});

test('a request without an end has not ended in a load, and may have in an archive', () => {
  assert.strictEqual(barText(5, null), 'starts at 5.0 ms, never ended');
  assert.strictEqual(barText(5, null, true), 'starts at 5.0 ms, end not known');
  assert.strictEqual(barText(null, null, true), 'start not known, end not known');
  assert.strictEqual(barText(5, 9, true), 'starts at 5.0 ms, takes 4.0 ms');
  assert.deepStrictEqual([[9, false], [9, true], [null, false], [null, true]].map(
    ([end, isArchive]) => endText(request({ end }), isArchive)), ['9.0 ms', '9.0 ms', 'never', '']);
});

test('a filmstrip has the frames at which most changed', () => {
  const frames = [[0, 0], [10, 1], [20, 60], [30, 61], [40, 95], [50, 100], [60, 100]];
  assert.strictEqual(chosenFrames(frames, 7), frames);
  assert.deepStrictEqual(chosenFrames(frames, 4).map(([ms]) => ms), [0, 20, 40, 60]);
});
