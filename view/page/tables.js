// Sums over the requests of a load, by host and by type, and the failed requests.
import { median, rollup, sum } from 'd3-array';

import { put, section, table } from './elements.js';
import { bytesText, countText, hostOf, msText } from './format.js';
import { phasesOf, waitPartsOf } from './phases.js';

/**
 * Pure: one row per value of `key`, the largest number of bytes first. Times are medians. Times and
 * the number of connections are null if unknown.
 */
export function totalsBy(requests, roundTrips, key) {
  const groups = rollup(requests, (some) => {
    const waits = [];
    const thinks = [];
    for (const request of some) {
      const phases = phasesOf(request, null);
      const wait = phases.find((phase) => phase.name === 'wait');
      if (wait && request.firstByte !== null) waits.push(wait.end - wait.start);
      const parts = waitPartsOf(request, phases, roundTrips);
      if (parts) thinks.push(parts.think);
    }
    return {
      requests: some.length,
      failed: some.filter((each) => each.failure !== '' || each.status >= 400).length,
      bytes: sum(some, (each) => each.encodedBytes ?? 0),
      connections: new Set(some.map((each) => each.connection).filter(Boolean)).size || null,
      protocols: [...new Set(some.map((each) => each.protocol).filter(Boolean))].sort(),
      wait: median(waits) ?? null,
      think: median(thinks) ?? null,
    };
  }, key);
  return [...groups]
    .map(([name, totals]) => ({ name, ...totals }))
    .sort((a, b) => b.bytes - a.bytes);
}

export function showTables(load, shown) {
  const part = section('tables', 'In numbers');
  const { requests, roundTrips } = shown;
  const columns = (name) => [
    { name, text: (row) => row.name || '–' },
    { name: 'Requests', text: (row) => countText(row.requests), number: true },
    { name: 'Failed', text: (row) => (row.failed > 0 ? countText(row.failed) : '–'), number: true },
    { name: 'On the wire', text: (row) => bytesText(row.bytes), number: true },
    { name: 'Connections', text: (row) => countText(row.connections), number: true },
    { name: 'Protocol', text: (row) => row.protocols.join(', ') },
    { name: 'Median wait', text: (row) => msText(row.wait), number: true },
    { name: 'Median think time', text: (row) => msText(row.think), number: true },
  ];
  table(
    part, 'By host', columns('Host'), totalsBy(requests, roundTrips, (each) => hostOf(each.url)));
  table(part, 'By type', columns('Type'), totalsBy(requests, roundTrips, (each) => each.type));
  if (roundTrips.size > 0) {
    put(part, 'p', 'hint',
      'Think time is the wait for the first byte minus one round trip, which is estimated ' +
        'by the shortest TCP handshake to the same address, or host if addresses are not known.');
  }
  showMessages(load);
}

function showMessages(load) {
  const lists = [
    ['Not in the archive', (load.misses ?? []).map((miss) => miss.join(' · '))],
    ['Console errors', load.console_errors ?? []],
    ['The link', load.link?.doubts ?? []],
    ['Remarks', load.remarks ?? []],
  ].filter(([, texts]) => texts.length > 0);
  const part = section('messages', 'Messages');
  part.attr('hidden', lists.length === 0 ? '' : null);
  for (const [title, texts] of lists) {
    put(part, 'h3', '', `${title} (${texts.length})`);
    const list = part.append('ul').attr('class', 'messages');
    for (const text of texts) put(list, 'li', '', text);
  }
}
