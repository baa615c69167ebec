// The script of analysis/beacons/script/, minified, in pages made up here: what it sends, and that
// nothing that a page has done to its browser makes it throw.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';
import zlib from 'node:zlib';

import {testSeed} from '../../test_seed.mjs';

const script = readFileSync(process.env.BEACON_SCRIPT, 'utf8');
const LIMIT = 60000;

const navigation = {
  name: 'https://shop.test/?token=secret#top', entryType: 'navigation', initiatorType: 'navigation',
  startTime: 0, duration: 600, redirectStart: 0, redirectEnd: 0, domainLookupStart: 20.04,
  domainLookupEnd: 25, connectStart: 25, secureConnectionStart: 30, connectEnd: 40,
  requestStart: 41, responseStart: 60, finalResponseHeadersStart: 70.26, responseEnd: 80,
  transferSize: 5000, loadEventStart: 512.34,
};
const closed = {
  name: 'https://ads.test/ads.js?id=7', entryType: 'resource', initiatorType: 'script',
  startTime: 90, duration: 30.5, redirectStart: 0, redirectEnd: 0, domainLookupStart: 0,
  domainLookupEnd: 0, connectStart: 0, secureConnectionStart: 0, connectEnd: 0, requestStart: 0,
  responseStart: 0, responseEnd: 120.5, transferSize: 0,
};
const measure = {name: 'app', entryType: 'measure', startTime: 1, duration: 2};
const frame = {
  entryType: 'long-animation-frame', startTime: 100, duration: 90,
  scripts: [{sourceURL: 'https://ads.test/ads.js?id=7', startTime: 121, duration: 60}],
};

/// A page with these entries. `sent` has what it sent, `fire(type)` calls the script's listeners.
function pageWith(entries, attributes = [], change = () => {}) {
  const listeners = {};
  const listen = (type, listener) => (listeners[type] ??= []).push(listener);
  const sent = [];
  const globals = {
    document: {
      currentScript: {attributes: attributes.map(([name, value]) => ({name, value}))},
      visibilityState: 'visible',
      addEventListener: listen,
    },
    location: {href: 'https://shop.test/?token=secret#top'},
    performance: {
      timeOrigin: 1795000000000.4,
      getEntriesByType: (type) => entries.filter((entry) => entry.entryType === type),
      addEventListener: listen,
    },
    navigator: {
      connection: {effectiveType: '4g'},
      sendBeacon: (url, body) => sent.push({url, body}) > 0,
    },
    addEventListener: listen,
    Blob,
  };
  change(globals);
  const run = () => vm.runInNewContext(script, globals);
  const fire = (type) => (listeners[type] ?? []).forEach((listener) => listener({type}));
  const hide = () => {
    globals.document.visibilityState = 'hidden';
    fire('visibilitychange');
  };
  return {run, fire, hide, sent, globals};
}

function beaconOf(page) {
  page.run();
  page.hide();
  assert.equal(page.sent.length, 1);
  return JSON.parse(page.sent[0].body);
}

test('it is small', () => {
  assert.ok(zlib.gzipSync(script).length < 2048, `${zlib.gzipSync(script).length} bytes`);
  assert.match(script, /^[\x20-\x7e]*\n$/);
});

test('it sends the lean form', () => {
  const attributes = [['src', '/beacon.js'], ['data-beacon-url', '/b'], ['data-country', 'DE']];
  const page = pageWith([navigation, closed, measure, frame], attributes);
  assert.deepEqual(beaconOf(page), {
    beacon: 1,
    page: 'https://shop.test/',
    started: 1795000000000,
    load: 5123,
    tags: {network: '4g', country: 'DE'},
    requests: [
      ['https://shop.test/', 'navigation', 0, 800, 5000, 0, 0, 200, 250, 250, 300, 400, 410, 703],
      ['https://ads.test/ads.js', 'script', 900, 1205, 0],
    ],
    scripts: [['https://ads.test/ads.js', 1210, 1810]],
    measures: [['app', 10, 30]],
  });
  assert.equal(page.sent[0].url, '/b');
});

test('it sends once, and again only if the browser refused', () => {
  const page = pageWith([navigation]);
  page.run();
  page.fire('visibilitychange');
  assert.equal(page.sent.length, 0, 'still visible');
  const send = page.globals.navigator.sendBeacon;
  page.globals.navigator.sendBeacon = () => false;
  page.hide();
  page.globals.navigator.sendBeacon = send;
  page.fire('pagehide');
  page.fire('pagehide');
  page.hide();
  assert.equal(page.sent.length, 1);
});

test('a tag of the page comes before the network that the browser names', () => {
  assert.equal(beaconOf(pageWith([navigation], [['data-network', 'lan']])).tags.network, 'lan');
  const without = pageWith([navigation], [], (globals) => delete globals.navigator.connection);
  assert.deepEqual(beaconOf(without).tags, {});
});

test('it cuts no character in two, and all that it sends is read', () => {
  const attributes = [['data-a', 'x' + '\u{1f600}'.repeat(60)], ['data-b', '\u8a9e'.repeat(120)]];
  const {tags, measures} = beaconOf(pageWith(
    [navigation, {...measure, name: 'x' + '\u{1f600}'.repeat(120)}], attributes));
  assert.equal(tags.a, 'x' + '\u{1f600}'.repeat(49));
  assert.equal(tags.b, '\u8a9e'.repeat(100));
  assert.ok(Buffer.byteLength(tags.b) <= 400, 'BeaconView::kTagBytesMax');
  assert.equal(measures[0][0], 'x' + '\u{1f600}'.repeat(99));
});

test('it says when the list of entries was full', () => {
  const page = pageWith([navigation]);
  page.run();
  page.fire('resourcetimingbufferfull');
  page.hide();
  assert.equal(JSON.parse(page.sent[0].body).full, 1);
});

for (const name of ['x'.repeat(300), '\u{1f600}\u00e9"\\\n'.repeat(60), '\ud800'.repeat(200)]) {
  test(`it cuts and counts what is beyond 60 KB: ${JSON.stringify(name.slice(0, 5))}`, () => {
    const measures = Array.from({length: 3000}, (_, i) => ({...measure, name: i + name}));
    const page = pageWith([navigation, closed, ...measures]);
    const beacon = beaconOf(page);
    const size = Buffer.byteLength(page.sent[0].body);
    assert.ok(size <= LIMIT && size > LIMIT * .9, `${size} bytes`);
    assert.equal(beacon.requests.length, 2);
    assert.equal(beacon.cut + beacon.measures.length, 3000);
  });
}

test('nothing that a page does makes it throw', () => {
  let state = testSeed;
  const below = (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) % limit;
  };
  const thrower = () => {
    throw new Error('from the page');
  };
  const hostile = [
    undefined, null, 0, NaN, -1e300, '', 'x', [], {}, thrower, () => undefined, () => 7,
    Symbol('s'), 10n, new Proxy({}, {get: thrower, has: thrower}),
    Object.freeze({getEntriesByType: null, attributes: 5, length: 1e9}),
    {toString: thrower, valueOf: thrower, toJSON: thrower},
  ];
  const paths = [
    ['document'], ['document', 'currentScript'], ['document', 'currentScript', 'attributes'],
    ['document', 'addEventListener'], ['document', 'visibilityState'], ['location'],
    ['location', 'href'], ['performance'], ['performance', 'timeOrigin'],
    ['performance', 'getEntriesByType'], ['performance', 'addEventListener'], ['navigator'],
    ['navigator', 'connection'], ['navigator', 'connection', 'effectiveType'],
    ['navigator', 'sendBeacon'], ['addEventListener'], ['Blob'], ['JSON'], ['Math'], ['String'],
  ];
  let sent = 0;
  const rounds = 100;
  for (let round = 0; round < rounds; ++round) {
    const entries = [navigation, closed, measure, frame].map((entry) => ({...entry}));
    for (let i = below(4); i > 0; --i) {
      const entry = entries[below(entries.length)];
      const names = Object.keys(entry).filter((name) => name !== 'entryType');
      entry[names[below(names.length)]] = hostile[below(hostile.length)];
    }
    const page = pageWith(entries, [['data-beacon-url', 'x']], (globals) => {
      if (below(4) === 0) Object.freeze(globals.performance);
      for (let i = below(3); i > 0; --i) {
        const path = paths[below(paths.length)];
        const last = path[path.length - 1];
        const value = hostile[below(hostile.length)];
        try {
          const object = path.slice(0, -1).reduce((inner, name) => inner[name], globals);
          if (below(2)) object[last] = value;
          else Object.defineProperty(object, last, {get: thrower, configurable: true});
        } catch {
          // It is frozen, or hostile already.
        }
      }
    });
    const trace = `round ${round}, REPRISE_TEST_SEED=${testSeed}`;
    assert.doesNotThrow(page.run, trace);
    for (const type of ['visibilitychange', 'resourcetimingbufferfull', 'pagehide']) {
      assert.doesNotThrow(() => page.fire(type), trace);
    }
    sent += page.sent.length;
  }
  assert.ok(sent > rounds / 10, `${sent} of ${rounds} pages sent a beacon all the same`);
});
