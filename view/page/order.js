// Selects and sorts the listed requests. Pure.
import { hostOf } from './format.js';

export const SORTS = [
  { key: 'start', name: 'start' },
  { key: 'end', name: 'end' },
  { key: 'duration', name: 'duration' },
  { key: 'size', name: 'size' },
  { key: 'connection', name: 'connection' },
  { key: 'host', name: 'host' },
];

const last = (value) => (value === null ? Infinity : value);
const duration = (request) => (request.end ?? Infinity) - request.start;
const byText = (a, b) => (a < b ? -1 : Number(a > b));
const COMPARE = {
  start: () => 0,
  end: (a, b) => last(a.end) - last(b.end),
  duration: (a, b) => duration(b) - duration(a),
  size: (a, b) => (b.encodedBytes ?? -1) - (a.encodedBytes ?? -1),
  connection: (a, b) => a.connection.localeCompare(b.connection, 'en', { numeric: true }),
  host: (a, b) => byText(hostOf(a.url), hostOf(b.url)),
};

/** Whether a text contains every word of `wanted`, in capitals or not, as a function. */
export function wordsOf(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const small = text.toLowerCase();
    return words.every((word) => small.includes(word));
  };
}

/**
 * The requests whose URL, type, status or protocol contains every word of `text`, and whose type is
 * `type` (empty: any), sorted by `sort`; equal ones stay in the order of their start.
 */
export function listed(requests, { text = '', type = '', sort = 'start', only = null } = {}) {
  const hasWords = wordsOf(text);
  const fits = (request) => {
    if (type && request.type !== type) return false;
    if (only && !only.has(request.index)) return false;
    const { url, method, status, protocol } = request;
    return hasWords(`${url} ${method} ${request.type} ${status} ${protocol}`);
  };
  const compare = (a, b) => {
    const order = COMPARE[sort](a, b);
    return Number.isNaN(order) || order === 0 ? last(a.start) - last(b.start) || a.index - b.index
                                              : order;
  };
  return requests.filter(fits).sort(compare);
}

/** The types that occur, the most frequent first: [[type, count]]. */
export function typesOf(requests) {
  const counts = new Map();
  for (const { type } of requests) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || byText(a[0], b[0]));
}
