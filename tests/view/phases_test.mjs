import assert from 'node:assert';
import test from 'node:test';

import { phasesOf, roundTripsOf, waitPartsOf } from '../../view/page/phases.js';
import { testSeed } from '../test_seed.mjs';
import { randomFrom, request } from './request.mjs';

const spans = (given, until) => phasesOf(request(given), until)
  .map(({ name, start, end }) => `${name} ${start}-${end}`).join(', ');

test('all phases of a new connection, in order', () => {
  assert.strictEqual(
    spans({
      start : 1,
      dnsStart : 2,
      dnsEnd : 10,
      connectStart : 10,
      tlsStart : 30,
      connectEnd : 55,
      sendStart : 56,
      sendEnd : 57,
      firstByte : 90,
      end : 100,
    }),
    'queued 1-2, dns 2-10, connect 10-30, tls 30-55, queued 55-56, send 56-57, wait 57-90, receive 90-100',
  );
});

test('a used connection: queued, sent, waited for, received', () => {
  assert.strictEqual(spans({ start: 0, sendStart: 40, sendEnd: 41, firstByte: 60, end: 61 }),
    'queued 0-40, send 40-41, wait 41-60, receive 60-61');
});

test('an older result knows the head and the end alone', () => {
  assert.strictEqual(spans({ start: 5, firstByte: 20, end: 30 }), 'wait 5-20, receive 20-30');
});

test('without a head the whole time is a wait, until the load ends', () => {
  assert.strictEqual(spans({ start: 5 }, 50), 'wait 5-50');
  assert.strictEqual(spans({ start: 5, end: 9 }), 'wait 5-9');
});

test('a recorded exchange: its connection was there before the request came', () => {
  assert.strictEqual(spans({
    start : 0,
    dnsStart : 0,
    dnsEnd : 5,
    connectStart : 5,
    tlsStart : 8,
    connectEnd : 15,
    sendEnd : 20,
    firstByte : 30,
    end : 31,
  }),
    'dns 0-5, connect 5-8, tls 8-15, queued 15-20, wait 20-30, receive 30-31');
});

test('a recorded exchange on a connection that was idle has nothing of its making', () => {
  assert.strictEqual(spans({
    start : 0,
    dnsStart : -90,
    dnsEnd : -80,
    connectStart : -80,
    tlsStart : -70,
    connectEnd : -60,
    sendEnd : 20,
    firstByte : 30,
    end : 31,
  }),
    'wait 0-30, receive 30-31');
});

test('whatever the times are, phases follow each other within the request', () => {
  const random = randomFrom(testSeed);
  const time = () => (random() < 0.3 ? null : Math.floor(random() * 200) - 20);
  for (let i = 0; i < 5000; i += 1) {
    const start = Math.floor(random() * 100);
    const given = {
      start,
      dnsStart : time(),
      dnsEnd : time(),
      connectStart : time(),
      tlsStart : time(),
      connectEnd : time(),
      sendStart : time(),
      sendEnd : time(),
      firstByte : time(),
      end : time(),
    };
    const phases = phasesOf(request(given), 150);
    let now = start;
    for (const phase of phases) {
      assert.strictEqual(phase.start, now, JSON.stringify(given));
      assert.ok(phase.end > phase.start);
      now = phase.end;
    }
    assert.strictEqual(now, Math.max(start, given.end ?? 150), JSON.stringify(given));
  }
});

test('think time is the wait without the shortest handshake to that address', () => {
  const first = request({
    connectStart : 0,
    tlsStart : 30,
    connectEnd : 60,
    sendStart : 60,
    sendEnd : 60,
    firstByte : 190,
    end : 200
  });
  const second = request({ connectStart: 5, connectEnd: 25, start: 5 });
  const trips = roundTripsOf(
    [first, second, request({ address: 'other', connectStart: 0, connectEnd: 1 })]);
  assert.strictEqual(trips.get(first.address), 20);
  assert.deepStrictEqual(waitPartsOf(first, phasesOf(first), trips), { roundTrip: 20, think: 110 });
  assert.strictEqual(waitPartsOf({ ...first, address: 'unknown' }, phasesOf(first), trips), null);
  const quick = request({ sendStart: 0, sendEnd: 0, firstByte: 5, end: 6 });
  assert.deepStrictEqual(waitPartsOf(quick, phasesOf(quick), trips), { roundTrip: 5, think: 0 });
});

test('without addresses, as of Firefox, each host has its own round trip', () => {
  const to = (host, ms) => request({
    address : '',
    url : host && `https://${host}/`,
    connectStart : 0,
    connectEnd : ms,
    sendStart : ms,
    sendEnd : ms,
    firstByte : 200,
    end : 200
  });
  const some = [to('near.test', 10), to('far.test', 80), to('far.test', 90), to('', 1)];
  const trips = roundTripsOf(some);
  assert.deepStrictEqual([...trips], [['near.test', 10], ['far.test', 80]]);
  assert.deepStrictEqual(
    some.map((each) => waitPartsOf(each, phasesOf(each), trips)?.roundTrip ?? null),
    [10, 80, 80, null]);
});
