// A load as a file for other programs: CSV (RFC 4180) and HAR 1.2. Pure.
import { phasesOf } from './phases.js';

const COLUMNS = ['number', 'method', 'url', 'status', 'type', 'mimeType', 'protocol', 'address',
  'connection', 'priority', 'fromCache', 'encodedBytes', 'decodedBytes', 'start', 'dnsStart',
  'dnsEnd', 'connectStart', 'tlsStart', 'connectEnd', 'sendStart', 'sendEnd', 'firstByte', 'end',
  'initiator', 'failure'];

/** A spreadsheet must not take a text of the page for a formula. */
function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One line per request, times in milliseconds since the start of the load. */
export function csvOf(requests) {
  const rows = requests.map((request) => COLUMNS.map((name) => cell(request[name])));
  return [COLUMNS, ...rows].map((row) => `${row.join(',')}\r\n`).join('');
}

const took = (phases, name) => phases.filter((phase) => phase.name === name)
  .reduce((sum, { start, end }) => sum + end - start, 0);
const known = (value) => value ?? -1;

function timingsOf(request, end) {
  const phases = phasesOf(request, end);
  const has = (name) => phases.some((phase) => phase.name === name);
  const optional = (name) => (has(name) ? took(phases, name) : -1);
  const ssl = optional('tls');
  return {
    blocked: optional('queued'),
    dns: optional('dns'),
    connect: has('connect') || has('tls') ? took(phases, 'connect') + Math.max(ssl, 0) : -1,
    ssl,
    send: took(phases, 'send'),
    wait: took(phases, 'wait'),
    receive: took(phases, 'receive'),
  };
}

function pairs(fields) {
  return (fields ?? []).map(([name, value]) => ({ name, value }));
}

function queryOf(url) {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? '';
  return query.split('&').filter(Boolean).map((each) => {
    const [, name, value] = /^([^=]*)=?(.*)$/s.exec(each);
    return { name, value };
  });
}

function entryOf(request, startedMs, end) {
  const timings = timingsOf(request, end);
  const version = request.protocol || 'unknown';
  const { heads } = request;
  const reason = /^\S+ \d+ (.*)$/.exec(heads?.response.line ?? '')?.[1] ?? '';
  return {
    pageref: 'page_1',
    startedDateTime: new Date(startedMs + (request.start ?? 0)).toISOString(),
    time: Object.entries(timings)
      .reduce((sum, [name, ms]) => sum + (name === 'ssl' ? 0 : Math.max(ms, 0)), 0),
    request: {
      method: request.method,
      url: request.url,
      httpVersion: version,
      cookies: [],
      headers: pairs(heads?.request.fields),
      queryString: queryOf(request.url),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: request.status ?? 0,
      statusText: reason,
      httpVersion: version,
      cookies: [],
      headers: pairs(heads?.response.fields),
      content: { size: known(request.decodedBytes), mimeType: request.mimeType },
      redirectURL: heads?.response.fields
        .find(([name]) => name.toLowerCase() === 'location')?.[1] ?? '',
      headersSize: -1,
      bodySize: -1,
      _transferSize: known(request.encodedBytes),
      _error: request.failure || null,
    },
    cache: {},
    timings,
    serverIPAddress: request.address.replace(/:\d+$/, '').replace(/^\[|\]$/g, ''),
    connection: request.connection,
    _resourceType: request.type.toLowerCase(),
    _priority: request.priority || null,
    _fromCache: request.fromCache ? 'disk' : null,
  };
}

/** `load` as in the model, `shown` as load.js prepares it. Without bodies. */
export function harOf(load, shown, version) {
  const startedMs = load.started_unix_ms || Date.parse(load.started ?? '') || 0;
  return {
    log: {
      version: '1.2',
      creator: { name: 'reprise', version },
      pages: [{
        id: 'page_1',
        title: load.final_url || load.url || '',
        startedDateTime: new Date(startedMs).toISOString(),
        pageTimings: {
          onContentLoad: known(load.metrics?.dom_content_loaded_ms),
          onLoad: known(load.metrics?.load_event_ms),
        },
      }],
      entries: shown.requests.map((request) => entryOf(request, startedMs, shown.end)),
    },
  };
}
